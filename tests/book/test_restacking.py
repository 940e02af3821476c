"""Restacking by itself: killed at each of its steps, no candidate is lost and nothing of the book's own has moved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.system import faults

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"
_KILLED = """
import sys
from pathlib import Path
from lessonbook.book import queue
from lessonbook.system import faults
faults.arm(sys.argv[2])
queue.restack(Path(sys.argv[1]), 1800000000)
"""
POINTS = ["restack.written", "files.before-rename", "files.after-rename", "branches.intended", "branches.moved"]
POINTS += ["restack.moved"]


@pytest.fixture
def behind(repo: Any) -> Any:
    """A book whose HEAD went on by hand, beside an edit that is not committed: two candidates can follow, one not."""
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    repo.propose(B, {"AGENTS.md": "Another first line.\n"})
    repo.propose(C, {"skills/c/SKILL.md": "c\n"})
    repo.commit({"AGENTS.md": f"Run the linter twice.\n{BASE}"})
    repo.write({"notes.txt": "mine\n", "AGENTS.md": f"{repo.text()}\nAn edit of mine.\n"})
    return repo


def told(repo: Any) -> dict[str, str]:
    """What each candidate says: author, date, message and what it changes; and the book's own state."""
    rows = {row["id"]: repo.git("log", "-1", "--format=%an %ad%n%B", "-p", f"pending/{row['id']}", "--") for row in
            queue.pending(repo.folder)}  # fmt: skip
    drop = ("index ", "@@ ")
    rows = {id: "\n".join(li for li in text.splitlines() if not li.startswith(drop)) for id, text in rows.items()}
    return rows | {key: value for key, value in repo.state().items() if key not in ("refs", "extra")}


def test_the_points_are_all_that_are_passed(behind: Any) -> None:
    passed = faults.record()
    assert queue.restack(behind.folder, NOW) == ([A, C], [B])
    faults._log = None
    assert passed == POINTS


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_step_loses_no_candidate(behind: Any, point: str) -> None:
    head, old = behind.git("rev-parse", "HEAD"), {id: behind.git("rev-parse", f"pending/{id}") for id in (A, B, C)}
    before = told(behind)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(behind.folder), point], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    assert [row["id"] for row in queue.pending(behind.folder) if not row["stale"]] == [A, C]
    after = {id: behind.git("rev-parse", f"pending/{id}") for id in (A, B, C)}
    moved = point in ("branches.moved", "restack.moved")
    assert {id: oid != old[id] for id, oid in after.items()} == {A: moved, B: False, C: moved}
    assert told(behind).keys() == before.keys() and behind.git("rev-parse", "HEAD") == head
    assert {k: v for k, v in told(behind).items() if k not in (A, C)} == {
        k: v for k, v in before.items() if k not in (A, C)
    }
    assert queue.restack(behind.folder, NOW) == ([] if moved else [A, C], [B])
    assert queue.restack(behind.folder, NOW) == ([], [B])
    for id in (A, C):
        assert behind.git("rev-parse", f"pending/{id}^") == head
    git = behind.folder / ".git"
    assert [path.name for path in git.iterdir() if "lock" in path.name or "less" in path.name] == []
    assert behind.git("fsck", "--no-dangling", "--strict") == ""
    behind.git("checkout", "-q", "AGENTS.md")
    assert queue.accept(behind.folder, A, NOW)["ok"] and queue.accept(behind.folder, C, NOW)["ok"]
    assert behind.text() == f"Run the linter twice.\n{BASE}\nRule a.\n" and behind.text("notes.txt") == "mine\n"
