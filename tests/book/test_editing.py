"""Editing a candidate: the proposer stays its author, the edit stands on HEAD, and a refusal changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.book import queue
from lessonbook.book.editing import drafts, edit
from lessonbook.core.reviewer import Reviewer
from lessonbook.system import faults

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
ANA = Reviewer("Ana Lee", "ana@example.org")
RULE = "Run the linter first.\n"
SECRET = "ghp_" + "a1B2" * 9
MESSAGE = "Lesson from a replay: tests\n\nProposer: repeats\nEvidence-key: k\n"


def commit_of(repo: Any, id: str) -> str:
    return str(repo.git("cat-file", "commit", f"pending/{id}"))


def test_the_proposer_stays_author_and_the_reviewer_commits(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": RULE + "\nTest.\n"}, message=MESSAGE)
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    told = edit(repo.folder, A, {"AGENTS.md": RULE + "\nTest twice.\n"}, NOW, ANA)
    commit = repo.git("rev-parse", f"pending/{A}")
    assert told == {
        "ok": True, "id": A, "files": ["AGENTS.md"], "redacted": 0, "changed": True, "commit": commit,
    }  # fmt: skip
    asked = "--format=%an|%ad|%cn|%ce|%ct|%B"
    assert repo.git("log", "-1", asked, "--date=raw", f"pending/{A}") == (
        f"Dhrona|1772352000 +0100|Ana Lee|ana@example.org|{NOW}|{MESSAGE}Edited-by: Ana Lee <ana@example.org>"
    )
    rows = queue.candidates(repo.folder)
    assert [(row.id, row.at, row.stale) for row in rows] == [(A, 1772352000, None), (B, 1772352000, None)]
    assert ("Evidence-key", "k") in rows[0].trailers and repo.text() == RULE
    assert queue.accept(repo.folder, A, NOW, ANA)["moved"] == [B]
    assert repo.text() == RULE + "\nTest twice.\n" and repo.git("log", "-1", "--format=%an %cn") == "Dhrona Ana Lee"
    assert repo.git("log", "-1", "--format=%(trailers:only,key=Accepted-by,valueonly)") == "Ana Lee <ana@example.org>"


def test_an_equal_edit_is_no_change_and_a_second_one_signs_once(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": RULE + "\nTest.\n"}, message=MESSAGE)
    before = repo.state()
    assert edit(repo.folder, A, {"AGENTS.md": RULE + "\nTest.\n"}, NOW, ANA)["changed"] is False
    assert repo.state() == before
    for text in ("Twice.\n", "Thrice.\n"):
        assert edit(repo.folder, A, {"AGENTS.md": text}, NOW, ANA)["changed"] is True
    assert commit_of(repo, A).count("Edited-by: ") == 1
    assert repo.git("rev-list", "--count", f"main..pending/{A}") == "1"


def test_what_is_not_edited_stays_as_proposed_and_files_come_and_go(repo: Any) -> None:
    repo.commit({"skills/old/SKILL.md": "old\n"})
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n", "skills/old/SKILL.md": None})
    told = edit(repo.folder, A, {"skills/x/SKILL.md": None, "skills/y/SKILL.md": "y\n"}, NOW)
    assert told["files"] == ["AGENTS.md", "skills/old/SKILL.md", "skills/y/SKILL.md"]
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.git("ls-files").split() == ["AGENTS.md", "skills/y/SKILL.md"] and repo.text() == "New.\n"


def test_an_edit_is_the_way_out_of_staleness(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "Run the linter last.\n", "skills/x/SKILL.md": "x\n"})
    repo.commit({"AGENTS.md": "Run the linter twice.\n"})
    assert queue.candidates(repo.folder)[0].stale
    shown = drafts(repo.folder, A)
    assert shown["conflicts"] == ["AGENTS.md"] and shown["files"]["skills/x/SKILL.md"] == b"x\n"
    text = shown["files"]["AGENTS.md"].decode()
    assert text.split("\n")[0] == "<<<<<<< accepted" and "twice" in text and "last" in text
    before = repo.state()
    assert "conflict markers" in edit(repo.folder, A, {"AGENTS.md": text}, NOW)["error"]
    assert "AGENTS.md no longer applies" in edit(repo.folder, A, {"skills/x/SKILL.md": "y\n"}, NOW)["error"]
    assert repo.state() == before
    assert edit(repo.folder, A, {"AGENTS.md": "Run the linter first and last.\n"}, NOW)["ok"]
    assert queue.candidates(repo.folder)[0].stale is None and queue.accept(repo.folder, A, NOW)["ok"]
    assert (repo.text(), repo.text("skills/x/SKILL.md")) == ("Run the linter first and last.\n", "x\n")


def test_drafts_are_what_accepting_would_make(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": RULE + "\nA.\n", "skills/x/logo.png": "\0png"})
    repo.propose(B, {"AGENTS.md": RULE + "\nB.\n"})
    assert queue.accept(repo.folder, B, NOW)["ok"]
    assert drafts(repo.folder, A) == {
        "ok": True,
        "id": A,
        "files": {"AGENTS.md": f"{RULE}\nB.\n\nA.\n".encode()},
        "conflicts": [],
        "commit": repo.git("rev-parse", f"pending/{A}"),
    }
    assert drafts(repo.folder, "x")["ok"] is False and "nothing is pending" in drafts(repo.folder, C)["error"]


def test_a_secret_never_enters_the_repository(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    told = edit(repo.folder, A, {"AGENTS.md": f"Use {SECRET} here.\u202e\n", "skills/x/a.md": SECRET}, NOW)
    assert (told["redacted"], told["ok"]) == (2, True)
    assert "secret" in edit(repo.folder, A, {"skills/x/b.bin": b"\0" + SECRET.encode()}, NOW)["error"]
    assert "secret" in edit(repo.folder, A, {"skills/x/b.bin": b"\xff " + SECRET.encode()}, NOW)["error"]
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.text() == "Use [REDACTED] here.\n"
    listed = repo.git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert SECRET not in listed and "REDACTED" in listed
    files = [path for path in repo.folder.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_a_candidate_with_a_secret_is_saved_by_an_edit(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"Key {SECRET}\n", "skills/x/SKILL.md": "x\n"})
    assert "secret" in queue.accept(repo.folder, A, NOW)["error"]
    assert "secret" in edit(repo.folder, A, {"skills/x/SKILL.md": "y\n"}, NOW)["error"]
    assert edit(repo.folder, A, {"AGENTS.md": "Key from the vault\n"}, NOW)["ok"]
    assert queue.accept(repo.folder, A, NOW)["ok"]


def test_a_secret_in_the_message_goes_with_the_edit(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"}, message=f"Lesson from a replay: {SECRET}\n\nEvidence-key: k\n")
    assert "its commit message" in queue.accept(repo.folder, A, NOW)["error"]
    told = edit(repo.folder, A, {"AGENTS.md": "New.\n"}, NOW)
    assert (told["ok"], told["redacted"], told["changed"]) == (True, 1, True)
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.git("log", "-1", "--format=%s") == "Lesson from a replay: [REDACTED]"
    repo.propose(B, {"AGENTS.md": "Newer.\n"}, author=f"{SECRET} <a@x> 1 +0000")
    assert "its author" in edit(repo.folder, B, {"AGENTS.md": "N.\n"}, NOW)["error"]


def test_lines_nobody_edited_keep_their_bytes(make_repo: Any) -> None:
    head = "One \u200b.\r\n\r\nTwo.\r\n"
    repo = make_repo(files={"AGENTS.md": head})
    repo.propose(A, {"AGENTS.md": head + "\r\nThree.\r\n"})
    assert edit(repo.folder, A, {"AGENTS.md": head + "\r\nFo\x1bur.\r\n"}, NOW)["ok"]
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.text() == head + "\r\nFo ur.\r\n"


BAD: list[tuple[Any, str]] = [
    ({"notes.txt": "x"}, "not a file a book holds"),
    ({"../x": "x"}, "not a file a book holds"),
    ({"skills/x/a\0b": "x"}, "not a file a book holds"),
    ({".git/config": "x"}, "not a file a book holds"),
    ({}, "at least one file"),
    ("AGENTS.md", "at least one file"),
    ({"AGENTS.md": 3}, "maps file names to text"),
    ({3: "x"}, "maps file names to text"),
    ({"\ud800": "x"}, "name of a file"),
    ({"AGENTS.md": RULE, "skills/x/SKILL.md": None}, "would change nothing"),
    ({"skills/x": "x", "skills/x/SKILL.md": None}, "not a file a book holds"),
    ({"skills/x/SKILL.md/y": "x"}, "a file and a folder"),
]


@pytest.mark.parametrize(("files", "why"), BAD)
def test_a_bad_edit_is_refused_and_changes_nothing(repo: Any, files: Any, why: str) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n"})
    before = repo.state()
    told = edit(repo.folder, A, files, NOW)
    assert told["ok"] is False and told["id"] == A and why in told["error"], told
    assert repo.state() == before


def test_refusals_are_those_of_accept(repo: Any, tmp_path: Path) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    assert "not the id" in edit(repo.folder, "--force", {"AGENTS.md": "x"}, NOW)["error"]
    assert "nothing is pending" in edit(repo.folder, B, {"AGENTS.md": "x"}, NOW)["error"]
    assert "holds nothing" in edit(tmp_path / "none", A, {"AGENTS.md": "x"}, NOW)["error"]
    with queue.book_locked(repo.folder):
        assert "batch is running" in edit(repo.folder, A, {"AGENTS.md": "x"}, NOW)["error"]
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), f"pending/{A}")
    before = repo.state()
    assert "checked out" in edit(repo.folder, A, {"AGENTS.md": "x"}, NOW)["error"]
    assert repo.state() == before


def test_uncommitted_work_and_a_running_git_command_are_no_obstacle(repo: Any) -> None:
    """An edit touches the candidate's branch alone: no working file, no index."""
    repo.propose(A, {"AGENTS.md": "New.\n"})
    repo.write({"AGENTS.md": "by hand\n"})
    (repo.folder / ".git/index.lock").write_text("someone else's")
    assert edit(repo.folder, A, {"AGENTS.md": "Newer.\n"}, NOW)["ok"]
    assert repo.text() == "by hand\n"


def test_a_link_or_an_executable_can_be_edited_away(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/run": ("120000", "/etc/passwd"), "evil.sh": ("100755", "x")})
    assert "evil.sh" in str(edit(repo.folder, A, {"AGENTS.md": "N.\n"}, NOW)["error"])
    assert edit(repo.folder, A, {"skills/x/run": None, "evil.sh": None}, NOW)["files"] == ["AGENTS.md"]
    assert queue.accept(repo.folder, A, NOW)["ok"]


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book import editing
from lessonbook.system import faults
faults.arm(sys.argv[2])
editing.edit(Path(sys.argv[1]), sys.argv[3], {"AGENTS.md": "Edited.\\n"}, 1800000000)
"""
POINTS = ["edit.written", "files.before-rename", "files.after-rename", "branches.intended", "branches.moved"]
POINTS += ["edit.moved"]


def test_the_points_are_all_that_are_passed(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    passed = faults.record()
    assert edit(repo.folder, A, {"AGENTS.md": "Edited.\n"}, NOW)["ok"]
    faults._log = None
    assert passed == POINTS


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_leaves_the_old_candidate_or_the_new_one(repo: Any, point: str) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(repo.folder), point, A], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    text = "Edited.\n" if point in ("branches.moved", "edit.moved") else "New.\n"
    assert [row.stale for row in queue.candidates(repo.folder)] == [None]
    assert drafts(repo.folder, A)["files"]["AGENTS.md"].decode() == text
    assert queue.accept(repo.folder, A, NOW)["ok"] and repo.text() == text
    assert repo.git("status", "--porcelain") == "" and repo.git("fsck", "--no-dangling", "--strict") == ""


PARAGRAPH = st.text("abc .-#`", max_size=12).map(str.strip)
TEXT = st.lists(PARAGRAPH, max_size=4).map(lambda rows: "\n\n".join(filter(None, rows)) + "\n")


@given(head=TEXT, proposed=TEXT, moved=st.none() | TEXT, wanted=TEXT)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_edit_then_accept_equals_writing_the_file(
    make_repo: Any, head: str, proposed: str, moved: str | None, wanted: str
) -> None:
    repo = make_repo(f"book-{uuid.uuid4().hex}", {"AGENTS.md": head})
    repo.propose(A, {"AGENTS.md": proposed})
    if moved is not None:
        repo.commit({"AGENTS.md": moved})
    told = edit(repo.folder, A, {"AGENTS.md": wanted}, NOW)
    assert told["ok"] or (wanted == repo.text() and "would change nothing" in told["error"]), told
    if told["ok"]:
        assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.text() == wanted and repo.git("status", "--porcelain") == ""
