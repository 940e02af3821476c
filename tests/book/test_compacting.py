"""Compaction from end to end, on real repositories, with a model that answers what the test wants."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lessonbook.learned as learned
from lessonbook.book.blame import hands, written
from lessonbook.book.compacting import compact
from lessonbook.book.queue import accept, book_locked, candidates, pending, reject
from lessonbook.book.repository import open_book
from lessonbook.book.reviewing import reviewed
from lessonbook.book.undoing import undo
from lessonbook.core.compaction_reply import line_key
from lessonbook.core.errors import SetupError
from lessonbook.core.ports import Reply
from lessonbook.system.faults import record

A, B, C, D = (f"20270301-0{n}0000-0000{n}{n}" for n in range(1, 5))
NOW = 1_804_000_000
KEY = "ghp_" + "a1B2" * 9
HAND = "Run the linter first."
SIZES = "Read sizes with ls, not by opening files. " * 30
TESTS = "Run the quick tests before each commit. " * 30
SHORT = "[kept 1]\n\nRead sizes with ls."


class Model:
    """Answers the same each time, and remembers what it was asked."""

    def __init__(self, reply: Any = SHORT) -> None:
        self.reply = reply
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> Any:
        self.asked.append(prompt)
        return self.reply


def ask(repo: Any, id: str | None = None, reply: Any = SHORT, now: int = NOW) -> dict[str, Any]:
    return compact(repo.folder, id, Model(reply), now, lambda: os.urandom(3).hex())


@pytest.fixture
def learnt(repo: Any) -> Any:
    """A rule a person wrote, and a long one that was proposed and accepted."""
    repo.propose(A, {"AGENTS.md": f"{HAND}\n\n{SIZES}\n"})
    assert accept(repo.folder, A, NOW - 100)["ok"]
    return repo


def test_a_shorter_file_waits_for_review_like_any_other(learnt: Any) -> None:
    told = learned.compact(learnt.folder, chat=lambda prompt: SHORT)
    assert sorted(told) == ["after", "before", "id", "ok"] and told["ok"]
    assert told["before"] == len(f"{HAND}\n\n{SIZES}\n") > told["after"] == len(f"{HAND}\n\nRead sizes with ls.\n")
    assert told["id"] in learned.learned_command(learnt.folder)
    assert learnt.git("show", f"pending/{told['id']}:AGENTS.md") == f"{HAND}\n\nRead sizes with ls."
    assert learnt.text() == f"{HAND}\n\n{SIZES}\n" and learnt.git("status", "--porcelain") == ""
    assert "already pending" in learned.learned_command(learnt.folder, "compact")
    row = pending(learnt.folder)[0]
    assert row["subject"] == f"Compact learned AGENTS.md ({told['before']:,} to {told['after']:,} characters)"
    assert abs(row["at"] - time.time()) < 60 and row["stale"] is None
    assert learned.accept(learnt.folder, told["id"])["ok"] and learned.pending(learnt.folder) == []
    assert learnt.text() == f"{HAND}\n\nRead sizes with ls.\n"


def test_what_is_too_long_to_accept_is_folded_in(learnt: Any) -> None:
    text = learnt.text()
    learnt.propose(B, {"AGENTS.md": f"{text}\n{TESTS}\n", "skills/quick/SKILL.md": "quick\n"})
    learnt.propose(C, {"skills/rg/SKILL.md": "use rg\n"})
    learnt.propose(D, {"AGENTS.md": text.replace("Read sizes", "Read file sizes", 1)})
    told = accept(learnt.folder, B, NOW)
    assert told["length"] > learned.LEARNED_MAX and f"/learned compact {B}" in told["error"]
    assert ask(learnt, "20990101-000000-abcdef")["error"] == "nothing is pending as 20990101-000000-abcdef"
    made = ask(learnt, B, f"{SHORT}\n\nRun the quick tests before a commit.")
    assert made["ok"] and made["before"] == told["length"] and made["after"] < learned.LEARNED_MAX
    row = next(row for row in candidates(learnt.folder) if row.id == made["id"])
    assert row.includes == (B,) and f"with {B}" in row.subject and row.files == ("AGENTS.md", "skills/quick/SKILL.md")
    told = accept(learnt.folder, made["id"], NOW)
    assert (told["ok"], told["moved"], told["stale"]) == (True, [C], [D])
    assert learnt.text() == f"{HAND}\n\nRead sizes with ls.\n\nRun the quick tests before a commit.\n"
    assert learnt.text("skills/quick/SKILL.md") == "quick\n"
    assert [(row["id"], row["stale"]) for row in pending(learnt.folder)] == [(C, None), (D, learned.STALE)]
    assert learnt.git("rev-parse", f"pending/{C}^") == learnt.git("rev-parse", "HEAD")


def test_lines_of_a_compaction_are_as_old_as_their_sources(learnt: Any) -> None:
    learnt.propose(B, {"AGENTS.md": f"{learnt.text()}\n{TESTS}\n"})
    made = ask(learnt, B, f"{SHORT}\n\nRun the quick tests.", now=NOW)
    times = json.loads(dict(candidates(learnt.folder)[1].trailers)["Lesson-times"])
    assert times == {line_key("Read sizes with ls."): NOW - 100, line_key("Run the quick tests."): NOW}
    assert accept(learnt.folder, made["id"], NOW + 5000)["ok"]
    again = ask(learnt, None, "[kept 1]\n\nSizes: ls.\n\nRun quick tests.", now=NOW + 6000)
    assert accept(learnt.folder, again["id"], NOW + 7000)["ok"]
    book = open_book(learnt.folder)
    assert book and book.head
    found = [(part.proposed, part.at) for part in written(learnt.text(), hands(book, book.head, learnt.text()))]
    assert [proposed for proposed, _ in found] == [False, True, True]
    assert [at for _, at in found[1:]] == [NOW - 100, NOW]


def test_what_a_person_put_into_a_candidate_is_kept_too(learnt: Any) -> None:
    learnt.propose(B, {"AGENTS.md": f"{learnt.text()}\nMy own words.\n"}, message="Something I want\n")
    model = Model("[kept 1]\n\nls.\n\n[kept 2]")
    told = compact(learnt.folder, B, model, NOW, lambda: "abcdef")
    assert told["ok"] and "[kept 2]\nMy own words.\n</kept>" in model.asked[0]
    assert learnt.git("show", f"pending/{told['id']}:AGENTS.md") == f"{HAND}\n\nls.\n\nMy own words."


def test_a_reply_with_its_counts_is_as_good_as_a_text(learnt: Any) -> None:
    assert ask(learnt, None, Reply(SHORT, 10, 20, 0.5))["ok"]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("Read sizes.", "drops [kept 1]"),
        (f"[kept 1]\n\n{SIZES}", "no shorter"),
        (None, "answered with NoneType, not with text"),
        (b"[kept 1]", "answered with bytes"),
    ],
)
def test_a_refused_reply_changes_nothing(learnt: Any, reply: Any, why: str) -> None:
    before = learnt.state()
    told = ask(learnt, None, reply)
    assert sorted(told) == ["error", "ok"] and told["ok"] is False and why in told["error"]
    assert learnt.state() == before


def test_a_model_that_fails_is_a_sentence_without_secrets(learnt: Any) -> None:
    def fails(error: Exception) -> Callable[[str], str]:
        def chat(prompt: str) -> str:
            raise error

        return chat

    before = learnt.state()
    assert learned.compact(learnt.folder, chat=fails(SetupError("set it up"))) == {"ok": False, "error": "set it up"}
    told = learned.compact(learnt.folder, chat=fails(ValueError(f"bad key\n{KEY}")))
    assert "could not be asked: bad key" in told["error"] and KEY not in told["error"] and "\n" not in told["error"]
    assert "could not be asked: KeyError" in learned.compact(learnt.folder, chat=fails(KeyError()))["error"]
    assert learnt.state() == before


def test_nothing_is_asked_where_nothing_can_come_of_it(learnt: Any, make_repo: Any, tmp_path: Path) -> None:
    model = Model()

    def error(repo: Any, id: str | None = None) -> str:
        told = compact(getattr(repo, "folder", repo), id, model, NOW, lambda: "abcdef")
        assert told["ok"] is False
        return str(told["error"])

    assert "no committed AGENTS.md" in error(tmp_path / "none") and not (tmp_path / ".none.lock").exists()
    assert "nothing is pending as" in error(tmp_path / "none", A)
    assert "no committed AGENTS.md" in error(make_repo("bare", {"skills/x/SKILL.md": "x\n"}))
    assert "nothing that was proposed" in error(make_repo("hand"))
    assert "is not the id of a candidate" in error(learnt, "--force") and "is not the id" in error(learnt, "")
    moved = make_repo("moved")
    moved.propose(B, {"AGENTS.md": "Other.\n"})
    moved.commit({"AGENTS.md": "Third.\n"}, "Lesson from a replay: third")
    assert error(moved, B) == learned.STALE
    learnt.propose(B, {"AGENTS.md": ("120000", "/etc/passwd")})
    assert "symbolic link" in error(learnt, B)
    learnt.propose(B, {"AGENTS.md": None})
    assert "no committed AGENTS.md" in error(learnt, B)
    learnt.propose(B, {"skills/x/SKILL.md": f"key {KEY}\n"})
    assert "looks like a secret" in error(learnt, B)
    learnt.propose(C, {"AGENTS.md": "Short.\n"}, message="Compact learned AGENTS.md\n")
    assert error(learnt) == error(learnt, B) == f"a compaction is already pending as {C}; accept or reject it first"
    assert model.asked == []


def test_a_link_in_head_is_not_compacted(learnt: Any) -> None:
    (learnt.folder / "AGENTS.md").unlink()
    (learnt.folder / "AGENTS.md").symlink_to("elsewhere")
    learnt.git("commit", "-qam", "Lesson from a replay: link")
    assert "not a regular file" in ask(learnt)["error"]


def test_while_a_batch_runs_it_refuses_and_while_it_runs_others_do(learnt: Any) -> None:
    with book_locked(learnt.folder):
        assert "batch is running" in ask(learnt)["error"]
    learnt.propose(B, {"skills/x/SKILL.md": "x\n"})
    told: list[Any] = []

    def chat(prompt: str) -> str:
        told.append(accept(learnt.folder, B, NOW))
        told.append(pending(learnt.folder))
        return SHORT

    assert learned.compact(learnt.folder, chat=chat)["ok"]
    assert "batch is running" in told[0]["error"] and [row["id"] for row in told[1]] == [B]


def test_a_commit_by_hand_while_the_model_answers_is_safe(learnt: Any) -> None:
    def chat(prompt: str) -> str:
        learnt.commit({"AGENTS.md": learnt.text() + "\nAdded meanwhile.\n"})
        return SHORT

    told = learned.compact(learnt.folder, chat=chat)
    assert told["ok"] and pending(learnt.folder)[0]["stale"] is None
    assert learned.accept(learnt.folder, told["id"])["ok"]
    assert learnt.text() == f"{HAND}\n\nRead sizes with ls.\n\nAdded meanwhile.\n"


def test_secrets_and_identity_reach_no_model_and_no_object_we_write(repo: Any) -> None:
    kept = f"Mail ana@example.org, token {KEY}, see /home/ana/work."
    repo.commit({"AGENTS.md": f"{kept}\n"})
    lesson = f"Log in with ssh ana@build7 and {KEY}. " + "Read sizes with ls. " * 30
    repo.commit({"AGENTS.md": f"{kept}\n\n{lesson}\n"}, "Lesson from a replay: by an older tool")
    before = set(repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())
    model = Model(f"[kept 1]\n\nLog in first, {KEY} is it.")
    told = compact(repo.folder, None, model, NOW, lambda: "abcdef")
    assert told["ok"]
    assert not [word for word in (KEY, "ana@", "example.org", "/home/ana", "build7") if word in model.asked[0]]
    assert repo.git("show", f"pending/{told['id']}:AGENTS.md") == f"{kept}\n\nLog in first, [REDACTED] is it."
    new = set(repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()) - before
    texts = [repo.git("cat-file", "-p", oid) for oid in new]
    assert all(text.count(KEY) <= text.count(kept) for text in texts)
    assert accept(repo.folder, told["id"], NOW)["ok"]


def test_line_ends_byte_order_mark_and_hash_are_the_books_own(tmp_path: Path, make_repo: Any) -> None:
    repo = make_repo(files={"AGENTS.md": f"\ufeff{HAND}\r\n"})
    repo.commit({"AGENTS.md": f"\ufeff{HAND}\r\n\r\n{SIZES}\r\n"}, "Lesson from a replay: sizes")
    told = ask(repo)
    assert told["before"] == len(repo.text()) and told["ok"]
    assert accept(repo.folder, told["id"], NOW)["ok"]
    assert repo.text() == f"\ufeff{HAND}\r\n\r\nRead sizes with ls.\r\n" and len(repo.text()) == told["after"]


def test_the_id_is_new_and_sorts_last(learnt: Any) -> None:
    told = ask(learnt, now=NOW)
    assert told["id"] > A and learned.reject(learnt.folder, told["id"])["ok"]
    again = ask(learnt, now=NOW)
    assert again["ok"] and again["id"][:15] > told["id"][:15]


MOVE = ["files.before-rename", "files.after-rename", "branches.intended", "branches.moved"]


def test_every_step_has_a_point_to_be_killed_at(learnt: Any) -> None:
    log = record()
    ask(learnt)
    assert log == ["compact.answered", "compact.written", *MOVE]


def test_a_kill_at_any_step_leaves_the_book_as_it_was_or_with_the_candidate(learnt: Any) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from lessonbook.system import faults; "
        "from lessonbook.book.compacting import compact; faults.arm(sys.argv[2]); "
        f"compact(Path(sys.argv[1]), None, lambda p: {SHORT!r}, {NOW}, lambda: 'abcdef')"
    )
    before, text = learnt.state(), learnt.text()
    for name in ("compact.answered", "compact.written", *MOVE[:-1]):
        done = subprocess.run([sys.executable, "-c", code, str(learnt.folder), name], check=False)
        assert done.returncode == -9 and learnt.state() | {"extra": ""} == before | {"extra": ""}
    done = subprocess.run([sys.executable, "-c", code, str(learnt.folder), MOVE[-1]], check=False)
    [row] = pending(learnt.folder)
    assert done.returncode == -9 and row["stale"] is None and learnt.text() == text
    assert reject(learnt.folder, row["id"], NOW)["ok"] and not (learnt.folder / ".git/lessonbook-intent").exists()
    assert ask(learnt)["ok"]


def test_an_accepted_compaction_is_taken_back_with_what_it_folded_in(learnt: Any) -> None:
    before = learnt.text()
    learnt.propose(B, {"AGENTS.md": f"{before}\n{TESTS}\n"})
    told = ask(learnt, B, "[kept 1]\n\nRead sizes with ls.\n\nTest before each commit.")
    assert accept(learnt.folder, told["id"], NOW)["ok"] and pending(learnt.folder) == []
    back = undo(learnt.folder, told["id"], NOW + 5)
    assert back["ok"] and back["pending"] == [told["id"], B] and learnt.text() == before
    text = learnt.text()
    book = open_book(learnt.folder)
    assert book and book.head
    parts = written(text, hands(book, book.head, text))
    assert [(part.proposed, part.at) for part in parts][1:] == [(True, NOW - 100)]
    again = accept(learnt.folder, told["id"], NOW + 9)
    assert again["ok"] and pending(learnt.folder) == []


def test_a_compaction_is_no_twin_of_what_it_says_again(learnt: Any) -> None:
    rule = "Read sizes with `ls`, not by opening files."
    learnt.propose(B, {"AGENTS.md": f"{learnt.text()}\n{rule}\n"})
    told = ask(learnt, None, f"[kept 1]\n\n{rule}")
    rows = {row.id: row.twins for row in reviewed(learnt.folder)}
    assert rows == {B: (), told["id"]: ()}
    assert reject(learnt.folder, told["id"], NOW)["ok"]
    assert [row.twins for row in reviewed(learnt.folder)] == [()]
