"""Expiry on real repositories: what leaves, what stays, and what happens to everything around it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.book import pins, queue
from lessonbook.book.blame import hands, written
from lessonbook.book.compacting import compact
from lessonbook.book.expiring import expire
from lessonbook.book.repository import open_book
from lessonbook.book.undoing import undo
from lessonbook.book.verifying import verified
from lessonbook.core.compaction_reply import line_key
from lessonbook.core.expiry import DAY, day_of, paragraph_key, skill_key
from lessonbook.core.paragraphs import split
from lessonbook.system import faults

A, B, C, D, E = (f"20270301-0{n}0000-0000{n}{n}" for n in range(1, 6))
NOW = 1_804_000_000
OLD, YOUNG = NOW - 40 * DAY, NOW - 10 * DAY
LESSON = "Lesson from a replay: x"
COMPACTION = "Compact learned AGENTS.md (9 to 8 characters)"
HAND = "Run the linter first."


def commit(repo: Any, files: dict[str, str | bytes | None], subject: str, at: int) -> str:
    """One commit on HEAD's branch at ``at``; ``None`` removes a file."""
    branch, head, message = repo.git("symbolic-ref", "HEAD"), repo.git("rev-parse", "HEAD"), subject.encode()
    stream = f"commit {branch}\ncommitter Ana <ana@example.org> {at} +0000\ndata {len(message)}\n".encode()
    stream += message + f"\nfrom {head}\n".encode()
    for name, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        stream += f"D {name}\n".encode() if data is None else b"M 100644 inline %s\ndata %d\n%s\n" % (
            name.encode(), len(data), data
        )  # fmt: skip
    repo.git("fast-import", "--quiet", data=stream)
    repo.git("reset", "-q", "--hard")
    return str(repo.git("rev-parse", "HEAD"))


def went(told: dict[str, Any]) -> list[str]:
    assert told["ok"], told
    return [row["text"] for row in told["expired"]]


def kept(told: dict[str, Any]) -> dict[str, str]:
    return {row["text"]: row["why"] for row in told["kept"]}


@pytest.fixture
def old(repo: Any) -> Any:
    """A person's rule, a learned paragraph, a learned skill and a dated file, all long unused."""
    files = {"AGENTS.md": f"{HAND}\n\nUse rg.\n", "skills/sizes/SKILL.md": "sizes\n", "skills/sizes/a/b.txt": "b\n"}
    commit(repo, {**files, "dhrona-2026-01-01.md": "# Day\n"}, LESSON, OLD)
    return repo


def test_what_nothing_used_leaves_in_one_commit(old: Any) -> None:
    before = old.git("rev-parse", "HEAD")
    told = expire(old.folder, NOW)
    assert went(told) == ["Use rg.", "sizes", "dhrona-2026-01-01.md"]
    assert told["expired"][0] == {
        "kind": "paragraph", "path": "AGENTS.md", "line": 3, "text": "Use rg.",
        "why": "nothing used it for 30 days", "since": OLD,
    }  # fmt: skip
    assert kept(told) == {HAND: "a person wrote it, or a part of it"} and (told["moved"], told["stale"]) == ([], [])
    assert old.git("rev-parse", "HEAD^") == before and old.git("rev-parse", "--short=7", "HEAD") == told["commit"]
    assert old.text() == f"{HAND}\n" and old.git("ls-files").split() == ["AGENTS.md"]
    assert old.git("status", "--porcelain") == "" and not (old.folder / "skills").exists()
    assert old.git("log", "-1", "--format=%an %ct %s") == f"lessonbook {NOW} Expire what nothing used"
    day = day_of(OLD)
    assert old.git("log", "-1", "--format=%(trailers:key=Expired,valueonly)").split("\n")[:3] == [
        f"paragraph {paragraph_key('Use rg.')} {day}", f"skill sizes {day}", f"dated dhrona-2026-01-01.md {day}",
    ]  # fmt: skip
    assert expire(old.folder, NOW)["commit"] is None
    assert old.git("show", "HEAD^:AGENTS.md").endswith("Use rg.")


def test_a_dry_run_and_no_book_at_all_change_nothing(old: Any, tmp_path: Path) -> None:
    state = old.state()
    with queue.book_locked(old.folder):
        told = expire(old.folder, NOW, dry_run=True)
    assert len(went(told)) == 3 and told["commit"] is None and old.state() == state
    nothing = {"ok": True, "expired": [], "kept": [], "commit": None, "moved": [], "stale": []}
    assert expire(tmp_path / "none", NOW) == nothing and not (tmp_path / "none").exists()
    old.git("init", "-q", str(tmp_path / "empty"))
    assert expire(tmp_path / "empty", NOW) == nothing
    for days in (0, -1, 10**9, 10**400):
        assert "one day at least" in expire(old.folder, NOW, days=days)["error"]


def test_what_was_used_written_lately_or_pinned_stays(old: Any) -> None:
    commit(old, {"AGENTS.md": f"{old.text()}\nNew.\n", "skills/new/SKILL.md": "new\n"}, LESSON, YOUNG)
    assert pins.pin(old.folder, "use RG")["ok"]
    told = expire(old.folder, NOW, used={skill_key("sizes"): YOUNG})
    assert went(told) == ["dhrona-2026-01-01.md"]
    assert kept(told) | {HAND: ""} == {
        HAND: "", "Use rg.": "it is pinned", "New.": "it was written less than 30 days ago",
        "sizes": "it was used less than 30 days ago", "new": "it was written less than 30 days ago",
    }  # fmt: skip
    assert pins.unpin(old.folder, "use rg")["ok"]
    assert went(expire(old.folder, NOW, days=5)) == ["Use rg.", "New.", "new", "sizes"]


def test_where_nobody_worked_only_dated_files_leave(old: Any) -> None:
    assert went(expire(old.folder, NOW, worked=False)) == ["dhrona-2026-01-01.md"]


@pytest.mark.parametrize(
    "touch",
    [
        {"skills/sizes/SKILL.md": "sizes and words of mine\n"},
        {"skills/sizes/SKILL.md": ""},
        {"skills/sizes/mine.txt": "mine\n"},
    ],
)
def test_a_skill_a_person_touched_is_theirs_even_when_the_proposer_rewrites_it(old: Any, touch: Any) -> None:
    commit(old, touch, "By hand", OLD + 1)
    commit(old, {"skills/sizes/SKILL.md": "all new\n"}, LESSON, OLD + 2)
    assert "sizes" not in went(expire(old.folder, NOW))


def test_a_paragraph_or_dated_file_a_person_touched_is_theirs(old: Any) -> None:
    files = {"AGENTS.md": f"{HAND}\n\nUse rg.\nNot grep.\n", "dhrona-2026-01-01.md": "# Day\n\nMine.\n"}
    commit(old, files, "By hand", OLD + 1)
    assert went(expire(old.folder, NOW)) == ["sizes"]
    assert old.text("dhrona-2026-01-01.md") == "# Day\n\nMine.\n"


def test_what_a_person_edited_before_accepting_is_theirs(old: Any) -> None:
    files = {"AGENTS.md": f"{old.text()}\nTheir words.\n", "skills/theirs/SKILL.md": "x\n"}
    commit(old, files, f"{LESSON}\n\nEvidence-key: k\nEdited-by: Ana <ana@example.org>\n", OLD)
    assert went(expire(old.folder, NOW)) == ["Use rg.", "sizes", "dhrona-2026-01-01.md"]


def test_what_a_person_removed_and_the_proposer_brought_again_expires(old: Any) -> None:
    commit(old, {"skills/sizes/SKILL.md": "by hand\n"}, "By hand", OLD)
    commit(old, {"skills/sizes/SKILL.md": None, "skills/sizes/a/b.txt": None}, "By hand", OLD)
    commit(old, {"skills/sizes/SKILL.md": "again\n"}, LESSON, OLD)
    assert "sizes" in went(expire(old.folder, NOW))


def test_a_merge_a_rename_and_what_a_shallow_clone_does_not_know_are_a_persons(old: Any, tmp_path: Path) -> None:
    old.git("checkout", "-q", "-b", "side")
    commit(old, {"skills/side/SKILL.md": "side\n"}, LESSON, OLD)
    old.git("checkout", "-q", "main")
    old.git("merge", "-q", "--no-ff", "-m", LESSON, "side")
    old.git("mv", "skills/sizes", "skills/renamed")
    old.git("commit", "-q", "-m", "Better name")
    commit(old, {"skills/new/SKILL.md": "new\n"}, LESSON, OLD)
    clone = type(old)(tmp_path / "clone")
    old.git("clone", "-q", "--depth", "1", f"file://{old.folder}", str(clone.folder))
    assert went(expire(clone.folder, NOW)) == []
    assert went(expire(old.folder, NOW)) == ["Use rg.", "new", "dhrona-2026-01-01.md"]


def test_files_that_are_not_committed_or_not_regular_keep_a_skill(old: Any) -> None:
    old.write({"skills/sizes/notes.txt": "mine\n"})
    told = expire(old.folder, NOW)
    assert kept(told)["sizes"] == "it holds skills/sizes/notes.txt, which is not committed" and told["commit"]
    (old.folder / "skills/sizes/notes.txt").unlink()
    (old.folder / "skills/sizes/link").symlink_to("/etc/hostname")
    old.git("add", "-A")
    old.git("commit", "-q", "-m", LESSON)
    assert "symbolic link" in kept(expire(old.folder, NOW + 99 * DAY))["sizes"]


def test_a_dated_file_goes_by_its_day_or_its_acceptance_and_never_by_a_day_that_never_was(repo: Any) -> None:
    names = [f"dhrona-{day_of(NOW - days * DAY)}.md" for days in (30, 31)]
    commit(repo, dict.fromkeys([*names, "dhrona-2026-02-31.md", "other-2026-01-01.md"], "# Day\n"), LESSON, OLD)
    commit(repo, {"dhrona-2026-01-02.md": "# Accepted late\n"}, LESSON, YOUNG)
    assert went(expire(repo.folder, NOW)) == [names[1], "other-2026-01-01.md"]


def test_through_a_compaction_by_the_age_of_its_sources(repo: Any) -> None:
    commit(repo, {"AGENTS.md": f"{HAND}\n\n{'Long and old. ' * 9}\n\n{'Long and new. ' * 9}\n"}, LESSON, OLD)
    times = json.dumps({line_key("Old."): OLD, line_key("New."): YOUNG})
    commit(repo, {"AGENTS.md": f"{HAND}\n\nOld.\n\nNew.\n"}, f"{COMPACTION}\n\nLesson-times: {times}\n", YOUNG)
    assert went(expire(repo.folder, NOW)) == ["Old."]
    assert repo.text() == f"{HAND}\n\nNew.\n"


def test_what_a_person_proposed_stays_theirs_after_a_compaction_folded_it_in(repo: Any) -> None:
    commit(repo, {"AGENTS.md": f"{HAND}\n\n{'Use rg, not grep. ' * 9}\n"}, LESSON, OLD)
    repo.propose(A, {"AGENTS.md": f"{repo.text()}\nMy own words.\n"}, message="Something I want\n")
    made = compact(repo.folder, A, lambda _: "[kept 1]\n\nUse rg.\n\n[kept 2]", OLD, lambda: "abcdef")
    assert queue.accept(repo.folder, made["id"], OLD)["ok"] and "My own words." in repo.text()
    assert went(expire(repo.folder, NOW)) == ["Use rg."]
    assert repo.text() == f"{HAND}\n\nMy own words.\n"


def test_a_compaction_keeps_pinned_paragraphs_word_for_word(repo: Any) -> None:
    commit(repo, {"AGENTS.md": f"{HAND}\n\nPin  this.\n\n{'Use rg, not grep. ' * 9}\n"}, LESSON, OLD)
    assert pins.pin(repo.folder, "pin this")["ok"]
    asked: list[str] = []
    reply = "[kept 1]\n\n[kept 2]\n\nUse rg."
    made = compact(repo.folder, None, lambda prompt: asked.append(prompt) or reply, OLD, lambda: "abcdef")
    assert "[kept 2]\nPin this." in asked[0] or "[kept 2]\nPin  this." in asked[0]
    assert queue.accept(repo.folder, made["id"], OLD)["ok"]
    assert repo.text() == f"{HAND}\n\nPin  this.\n\nUse rg.\n"
    assert went(expire(repo.folder, NOW)) == ["Use rg."]
    assert pins.unpin(repo.folder, "pin this")["ok"] and went(expire(repo.folder, NOW)) == ["Pin this."]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_and_a_byte_order_mark_stay(repo: Any, mark: str, end: str) -> None:
    commit(repo, {"AGENTS.md": mark + end.join([HAND, ""])}, "By hand", OLD)
    commit(repo, {"AGENTS.md": mark + end.join([HAND, "", "Use rg.", "Not grep.", "", "Mine.", ""])}, LESSON, OLD)
    commit(repo, {"AGENTS.md": mark + end.join([HAND, "", "Use rg.", "Not grep.", "", "Mine!", ""])}, "Hand", OLD)
    assert went(expire(repo.folder, NOW)) == ["Use rg. Not grep."]
    assert repo.text() == mark + end.join([HAND, "", "Mine!", ""])
    assert repo.git("status", "--porcelain") == ""


def test_a_working_file_kept_with_crlf_stays_so(old: Any) -> None:
    (old.folder / "AGENTS.md").write_bytes(old.text().replace("\n", "\r\n").encode())
    assert "Use rg." in went(expire(old.folder, NOW))
    assert old.text() == f"{HAND}\r\n" and old.git("show", "HEAD:AGENTS.md") == HAND


def test_a_book_that_is_all_learned_becomes_empty_and_what_waits_still_applies(make_repo: Any) -> None:
    repo = make_repo(files={"AGENTS.md": ""})
    commit(repo, {"AGENTS.md": "Use rg.\n"}, LESSON, OLD)
    repo.propose(A, {"AGENTS.md": "Use rg.\n\nNew.\n"})
    told = expire(repo.folder, NOW)
    assert (went(told), told["moved"], told["stale"]) == (["Use rg."], [A], [])
    assert repo.text() == "" and queue.accept(repo.folder, A, NOW)["ok"] and repo.text().strip() == "New."


def test_candidates_move_along_but_those_that_edit_what_left(old: Any) -> None:
    commit(old, {"AGENTS.md": f"First.\n\n{old.text()}"}, "By hand", OLD)
    old.propose(A, {"AGENTS.md": f"{old.text()}\nAdded.\n"})
    old.propose(B, {"AGENTS.md": f"First.\n\n{HAND}\n\nUse rg, never grep.\n"})
    old.propose(C, {"skills/sizes/SKILL.md": "better\n"})
    old.propose(D, {"skills/other/SKILL.md": "other\n"})
    old.propose(E, {"AGENTS.md": f"First of all.\n\n{HAND}\n\nUse rg.\n"})
    told = expire(old.folder, NOW)
    assert (told["moved"], told["stale"]) == ([A, D, E], [B, C])
    assert {row["id"]: bool(row["stale"]) for row in queue.pending(old.folder)} == {
        A: False, B: True, C: True, D: False, E: False,
    }  # fmt: skip
    assert all(old.git("rev-parse", f"pending/{id}^") == old.git("rev-parse", "HEAD") for id in (A, D, E))
    assert queue.accept(old.folder, A, NOW)["ok"] and old.text() == f"First.\n\n{HAND}\n\nAdded.\n"


def test_the_clock_of_what_waited_starts_when_it_is_accepted(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"{HAND}\n\nWaited.\n"}, author=f"Dhrona <d@example.org> {OLD} +0000")
    assert queue.accept(repo.folder, A, YOUNG)["ok"]
    assert went(expire(repo.folder, NOW)) == [] and went(expire(repo.folder, YOUNG + 31 * DAY)) == ["Waited."]


def test_what_stayed_expires_in_its_turn_and_what_came_back_by_a_revert_never_does(old: Any) -> None:
    text = f"Use a.\n\nUse b.\n\n{old.text()}\nUse b.\nUse c.\n"
    commit(old, {"AGENTS.md": text}, LESSON, YOUNG)
    assert went(expire(old.folder, NOW)) == ["Use rg.", "sizes", "dhrona-2026-01-01.md"]
    assert went(expire(old.folder, NOW + 30 * DAY)) == ["Use a.", "Use b.", "Use b. Use c."]
    old.git("revert", "--no-edit", "HEAD", "HEAD~1")
    assert old.text() == text and old.text("skills/sizes/SKILL.md") == "sizes\n"
    assert went(expire(old.folder, NOW + 999 * DAY)) == []


def test_a_batch_that_holds_the_lock_may_expire(old: Any) -> None:
    with queue.book_locked(old.folder):
        assert len(went(expire(old.folder, NOW, held=True))) == 3


def test_names_that_are_not_utf_8_are_shown_and_stay(old: Any) -> None:
    name = os.fsdecode(b"\xff")
    (old.folder / "skills" / name).mkdir()
    (old.folder / "skills" / name / "SKILL.md").write_text("x\n")
    old.git("add", "-A")
    old.git("commit", "-q", "-m", LESSON)
    told = expire(old.folder, NOW + 99 * DAY)
    assert "not a file a book holds" in kept(told)["\\xff"] and "sizes" in went(told)


@pytest.mark.parametrize("name", ["AGENTS.md", "skills/sizes/a/b.txt", "dhrona-2026-01-01.md"])
def test_uncommitted_changes_refuse_it_by_name(old: Any, name: str) -> None:
    old.write({name: "being written\n"})
    state = old.state()
    told = expire(old.folder, NOW)
    assert not told["ok"] and name in told["error"] and "uncommitted" in told["error"] and old.state() == state


def test_a_batch_a_left_index_lock_and_an_unfinished_merge_refuse_it(old: Any) -> None:
    state = old.state()
    with queue.book_locked(old.folder):
        assert "batch is running" in expire(old.folder, NOW)["error"]
    (old.folder / ".git/index.lock").touch()
    assert "index.lock" in expire(old.folder, NOW)["error"]
    (old.folder / ".git/index.lock").unlink()
    (old.folder / ".git/MERGE_HEAD").touch()
    assert "not finished" in expire(old.folder, NOW)["error"]
    (old.folder / ".git/MERGE_HEAD").unlink()
    assert old.state() == state and len(went(expire(old.folder, NOW))) == 3


def test_a_book_of_the_originals(make_repo: Any) -> None:
    repo = make_repo(files={"AGENTS.md": f"{HAND}\n"})
    subject = "Lesson from a replay: how large is it\n\n- less calls\n\nRoute cost: base 3; candidate 2.\n"
    commit(repo, {"dhrona-2026-12-01.md": "# Dhrona lessons 2026-12-01\n\n## how large\n\nls\n"}, subject, OLD)
    commit(repo, {"AGENTS.md": f"{HAND}\n\nRead sizes with ls.\n"}, subject, OLD)
    commit(repo, {"AGENTS.md": f"{HAND}\n\nSizes: ls.\n"}, f"{COMPACTION}\n\nLesson-times: {{}}\n", OLD)
    assert went(expire(repo.folder, NOW)) == ["Sizes: ls.", "dhrona-2026-12-01.md"]


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book.expiring import expire
from lessonbook.system import faults
faults.arm(sys.argv[2])
expire(Path(sys.argv[1]), int(sys.argv[3]))
"""
POINTS = [
    "expire.written",
    "accept.index-ready",
    "branches.intended",
    "branches.moved",
    "accept.moved",
    "accept.file-written",
]
POINTS += ["accept.index-replaced", "accept.finished", "files.before-rename", "files.after-rename"]


def test_the_points_are_all_that_are_passed(old: Any) -> None:
    passed = faults.record()
    assert expire(old.folder, NOW)["commit"]
    faults._log = None
    assert set(passed) == set(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_step_leaves_the_old_state_or_the_new(old: Any, point: str) -> None:
    old.propose(A, {"AGENTS.md": f"{old.text()}\nAdded.\n"})
    before = old.state()
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(old.folder), point, str(NOW)], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [row["stale"] for row in queue.pending(old.folder)] == [None]
    if old.git("log", "-1", "--format=%s") == LESSON:
        assert old.state() | {"extra": ""} == before | {"extra": ""}
        assert len(went(expire(old.folder, NOW))) == 3
    assert old.text() == f"{HAND}\n" and old.git("ls-files") == "AGENTS.md" and old.git("status", "--porcelain") == ""
    assert old.git("rev-parse", f"pending/{A}^") == old.git("rev-parse", "HEAD")
    assert [path.name for path in (old.folder / ".git").iterdir() if "lock" in path.name or "less" in path.name] == []


_STEP = st.tuples(
    st.sampled_from(["By hand", LESSON, COMPACTION, "Lesson of mine", f"{LESSON}\n\nEdited-by: Ana <a@b.c>"]),
    st.sampled_from(["AGENTS.md", "skills/x/SKILL.md", "skills/x/more.md", "dhrona-2026-01-01.md"]),
    st.integers(0, 6),
    st.integers(0, 3),
    st.integers(0, 2),
    st.booleans(),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(_STEP, min_size=2, max_size=9))
def test_no_line_of_a_person_ever_goes_whatever_the_history(make_repo: Any, steps: Any) -> None:
    """Each line a person writes is its own words, so that where it stands at the end says whose it is."""
    repo = make_repo(uuid.uuid4().hex, files={"AGENTS.md": "Person first.\n"})
    texts: dict[str, list[str]] = {"AGENTS.md": ["Person first."]}
    for count, (subject, name, at, cut, add, crlf) in enumerate(steps):
        who = "Proposed" if subject in (LESSON, COMPACTION) else "Person"
        lines = texts.setdefault(name, [])
        at = min(at, len(lines))
        lines[at : at + cut] = [f"{who} {count}.{n}." if n % 2 == 0 else "" for n in range(add + 1)]
        commit(repo, {name: ("\r\n" if crlf else "\n").join(lines)}, subject, OLD + count)
    _check_that_a_persons_lines_stay(repo)
    assert repo.git("status", "--porcelain") == ""
    _nothing_old_of_the_proposers_is_left(repo)


@pytest.mark.parametrize("seed", range(4))
def test_nor_where_side_branches_are_merged(repo: Any, seed: int) -> None:
    rng = random.Random(seed)
    commit(repo, {"AGENTS.md": "Person first.\n\nPerson second.\n\nPerson third.\n"}, "By hand", OLD)
    for count in range(5):
        start = repo.git("rev-parse", f"HEAD~{rng.randrange(2)}")
        for where in ("main", "side"):
            if where == "side":
                repo.git("checkout", "-q", "-B", "side", start)
            subject = rng.choice(["By hand", LESSON, LESSON])
            who = "Proposed" if subject == LESSON else "Person"
            name = rng.choice(["AGENTS.md", "AGENTS.md", "skills/x/SKILL.md", "dhrona-2026-01-01.md"])
            lines = repo.text(name).split("\n") if (repo.folder / name).exists() else []
            at = rng.randrange(len(lines) + 1)
            lines[at : at + rng.randrange(3)] = [f"{who} {count} on {where}.", ""]
            commit(repo, {name: "\n".join(lines)}, subject, OLD + count)
        repo.git("checkout", "-q", "main")
        repo.git("merge", "-q", "--no-edit", "-X", rng.choice(["ours", "theirs"]), "side", ok=False)
        if repo.git("ls-files", "-u"):
            repo.git("merge", "--abort")
    _check_that_a_persons_lines_stay(repo)


def _check_that_a_persons_lines_stay(repo: Any) -> None:
    before = {name: repo.text(name) for name in repo.git("ls-files").split()}
    told = expire(repo.folder, NOW)
    assert told["ok"], told
    for name, text in before.items():
        left = repo.text(name) if (repo.folder / name).exists() else ""
        theirs = [p.text.strip() for p in split(text) if "Person" in p.text]
        assert [p.text.strip() for p in split(left) if "Person" in p.text] == theirs
    if any("Person" in text for name, text in before.items() if name.startswith("skills/x/")):
        assert all((repo.folder / name).exists() for name in before if name.startswith("skills/x/"))


def _nothing_old_of_the_proposers_is_left(repo: Any) -> None:
    book = open_book(repo.folder)
    assert book and book.head
    text = repo.text()
    parts = written(text, hands(book, book.head, text))
    assert not any(part.proposed and part.paragraph.text for part in parts)


@pytest.mark.parametrize("files", [{"skills/sizes/SKILL.md": "other\n"}, {"skills/sizes/SKILL.md": None}])
def test_a_skill_that_an_undo_brought_back_is_as_old_as_it_was(old: Any, files: Any) -> None:
    old.propose(A, files)
    assert queue.accept(old.folder, A, YOUNG)["ok"] and undo(old.folder, A, NOW)["ok"]
    assert old.text("skills/sizes/SKILL.md") == "sizes\n"
    assert went(expire(old.folder, NOW, dry_run=True)) == ["Use rg.", "sizes", "dhrona-2026-01-01.md"]
    (old.folder / "skills/sizes/SKILL.md").write_text("sizes of mine\n")
    old.git("commit", "-q", "--amend", "-a", "--no-edit")
    assert kept(expire(old.folder, NOW, dry_run=True))["sizes"].startswith("a person wrote it")


def test_an_expiry_came_through_the_queue_and_the_same_words_by_hand_did_not(make_repo: Any) -> None:
    book = make_repo(files={"AGENTS.md": ""})
    commit(book, {"AGENTS.md": "Use rg.\n"}, LESSON, OLD)
    assert expire(book.folder, NOW)["commit"] and verified(book.folder)["ok"]
    commit(book, {"AGENTS.md": "Use rg.\n"}, book.git("log", "-1", "--format=%B"), NOW)
    assert [change["subject"] for change in verified(book.folder)["changes"]] == ["Expire what nothing used"]
