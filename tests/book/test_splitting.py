"""Splitting a candidate: the parts are signed like the whole, stand in its place, and come to the same files."""

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
from lessonbook.book.splitting import _ids_after, split
from lessonbook.core.reviewer import Reviewer
from lessonbook.system import faults

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
RULE = "Run the linter first.\n"
SECRET = "ghp_" + "a1B2" * 9


def accept_all(repo: Any, ids: list[str]) -> None:
    for id in ids:
        told = queue.accept(repo.folder, id, NOW)
        assert told["ok"], told


def test_by_file_each_part_is_signed_like_the_whole(repo: Any) -> None:
    repo.commit({"skills/old/SKILL.md": "old\n"})
    message = "Lesson from a replay: three\nthings\n\nWhy.\n\nEvidence-key: k\n"
    files = {"AGENTS.md": "New.\n", "skills/old/SKILL.md": None, "skills/x/SKILL.md": "x\n"}
    repo.propose(A, files, message=message)
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    told = split(repo.folder, A, "file", NOW, Reviewer("Ana", "a@x"))
    ids = [A[:-1] + digit for digit in "bcd"]
    names = ["AGENTS.md", "skills/old/SKILL.md", "skills/x/SKILL.md"]
    assert told == {
        "ok": True,
        "id": A,
        "parts": [
            {"id": id, "files": [name], "commit": repo.git("rev-parse", f"pending/{id}")}
            for id, name in zip(ids, names, strict=True)
        ],
    }
    rows = queue.candidates(repo.folder)
    assert [(row.id, row.stale, row.at) for row in rows] == [(id, None, 1772352000) for id in [*ids, B]]
    assert rows[1].subject == "Lesson from a replay: three things (2 of 3)"
    assert rows[1].trailers == (("Evidence-key", "k"), ("Split-from", A))
    assert repo.git("log", "-1", "--format=%B", f"pending/{ids[0]}") == (
        f"Lesson from a replay: three\nthings (1 of 3)\n\nWhy.\n\nEvidence-key: k\nSplit-from: {A}"
    )
    assert repo.git("log", "-1", "--format=%an %cn", f"pending/{ids[0]}") == "Dhrona Ana"
    assert queue.reject(repo.folder, ids[1])["ok"]
    accept_all(repo, [ids[2], ids[0]])
    assert repo.git("ls-files").split() == names and repo.text() == "New.\n"


def test_by_paragraph_cuts_rules_and_keeps_other_files_together(repo: Any) -> None:
    fence = "Do:\n\n```sh\nmake\n\nmake test\n```\n"
    repo.propose(A, {"AGENTS.md": f"{RULE}\nOne.\n\n{fence}\nTwo.\n", "skills/x/SKILL.md": "x\n", "skills/x/b": "b\n"})
    told = split(repo.folder, A, "paragraph", NOW)
    files = [part["files"] for part in told["parts"]]
    assert files == [["AGENTS.md"]] * 4 + [["skills/x/SKILL.md", "skills/x/b"]]
    ids = [part["id"] for part in told["parts"]]
    shown = repo.git("show", f"pending/{ids[2]}:AGENTS.md")
    assert shown == f"{RULE}\n" + "```sh\nmake\n\nmake test\n```"
    accept_all(repo, ids)
    assert repo.text() == f"{RULE}\nOne.\n\n{fence}\nTwo.\n"
    assert repo.git("status", "--porcelain") == ""


def test_a_lengthened_list_is_cut_by_item(make_repo: Any) -> None:
    repo = make_repo(files={"AGENTS.md": "# Rules\n\n- one\n"})
    repo.propose(A, {"AGENTS.md": "# Rules\n\n- one\n- two\n  more of two\n- three\n"})
    told = split(repo.folder, A, "paragraph", NOW)
    ids = [part["id"] for part in told["parts"]]
    assert repo.git("show", f"pending/{ids[0]}:AGENTS.md") == "# Rules\n\n- one\n- two\n  more of two"
    assert queue.reject(repo.folder, ids[0])["ok"]
    accept_all(repo, ids[1:])
    assert repo.text() == "# Rules\n\n- one\n- three\n"


def test_a_split_stands_on_head(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"{RULE}\nA.\n\nB.\n"})
    repo.commit({"AGENTS.md": f"{RULE}\nBy hand.\n"})
    told = split(repo.folder, A, "paragraph", NOW)
    accept_all(repo, [part["id"] for part in told["parts"]])
    assert repo.text() == f"{RULE}\nBy hand.\n\nA.\n\nB.\n"


@pytest.mark.parametrize(
    ("files", "way", "why"),
    [
        ({"AGENTS.md": RULE + "\nA.\n\nB.\n"}, "file", "nothing to split by file"),
        ({"AGENTS.md": RULE + "\nA.\n"}, "paragraph", "nothing to split by paragraph"),
        ({"AGENTS.md": RULE + "\nA.\n\nB.\n"}, "line", "by file or paragraph"),
        ({"AGENTS.md": RULE}, "file", "nothing to split"),
        ({"skills/x/a": ("120000", "/etc/passwd"), "skills/x/b": "b\n"}, "file", "symbolic link"),
        ({"skills/x/a": SECRET, "skills/x/b": "b\n"}, "file", "secret"),
    ],
)
def test_what_cannot_be_split_stays_whole(repo: Any, files: Any, way: str, why: str) -> None:
    repo.propose(A, files)
    before = repo.state()
    told = split(repo.folder, A, way, NOW)
    assert told["ok"] is False and why in told["error"] and repo.state() == before


def test_refusals_are_those_of_accept(repo: Any, tmp_path: Path) -> None:
    files = {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n"}
    repo.propose(A, files)
    repo.propose(B, files, message="Compact learned AGENTS.md\n\nIncludes: 20270301-080000-0000aa\n")
    repo.propose(C, files)
    assert "compaction" in split(repo.folder, B, "file", NOW)["error"]
    assert "not the id" in split(repo.folder, "-x", "file", NOW)["error"]
    with queue.book_locked(repo.folder):
        assert "batch is running" in split(repo.folder, A, "file", NOW)["error"]
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), f"pending/{C}")
    assert "checked out" in split(repo.folder, C, "file", NOW)["error"]
    repo.commit({"AGENTS.md": "Other.\n"})
    assert "no longer applies" in split(repo.folder, A, "file", NOW)["error"]


def test_ids_follow_the_old_one_in_order() -> None:
    stamp = A[:16]
    assert _ids_after(A, 2, {A}) == [f"{stamp}0000ab", f"{stamp}0000ac"]
    assert _ids_after(A, 2, {A, f"{stamp}0000ac"}) == [f"{stamp}0000ab", f"{stamp}0000ad"]
    assert _ids_after(f"{stamp}ffffff", 2, set()) == ["20270301-080001-000000", "20270301-080001-000001"]
    assert _ids_after(f"{stamp}fffffe", 1, {f"{stamp}ffffff"}) == ["20270301-080001-000000"]


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book import splitting
from lessonbook.system import faults
faults.arm(sys.argv[2])
splitting.split(Path(sys.argv[1]), sys.argv[3], "file", 1800000000)
"""
POINTS = ["split.written", "files.before-rename", "files.after-rename", "branches.intended", "branches.moved"]
POINTS += ["split.moved"]


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_leaves_the_whole_or_all_parts(repo: Any, point: str) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n"})
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(repo.folder), point, A], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    ids = [row.id for row in queue.candidates(repo.folder)]
    assert len(ids) == (2 if point in ("branches.moved", "split.moved") else 1)
    accept_all(repo, ids)
    assert (repo.text(), repo.text("skills/x/SKILL.md")) == ("New.\n", "x\n")
    assert repo.git("fsck", "--no-dangling", "--strict") == ""


def test_the_points_are_all_that_are_passed(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n"})
    passed = faults.record()
    assert split(repo.folder, A, "file", NOW)["ok"]
    faults._log = None
    assert passed == POINTS


BLOCK = st.sampled_from(
    ["One.\n", "- a\n- b\n", "# H\n", "```\nx\n\ny\n```\n", "Two\nlines.\n", "\n", "~~~\nopen\n", "-\n"]
)
TEXT = st.lists(BLOCK, max_size=6).map("\n".join)


@given(head=TEXT, new=TEXT, crlf=st.booleans(), whole=st.booleans(), skill=st.booleans())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_sum_of_the_parts_is_the_whole(
    make_repo: Any, head: str, new: str, crlf: bool, whole: bool, skill: bool
) -> None:
    new = new if whole else head + "\n" + new
    if crlf:
        head, new = head.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    repo = make_repo(f"book-{uuid.uuid4().hex}", {"AGENTS.md": head})
    repo.propose(A, {"AGENTS.md": new, **({"skills/x/SKILL.md": "x\n"} if skill else {})})
    told = split(repo.folder, A, "paragraph", NOW)
    ids = [part["id"] for part in told["parts"]] if told["ok"] else [A]
    assert told["ok"] or "nothing to split" in told["error"], told
    accept_all(repo, ids)
    assert repo.text() == new and repo.git("status", "--porcelain") == ""
