from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.known import known
from lessonbook.book.rejecting import REASON_MAX, reject, unreject
from lessonbook.book.remembered import rejected
from lessonbook.system import faults

A, B = "20270301-080000-0000aa", "20270301-090000-0000bb"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"


def test_a_reason_is_remembered_and_listed(repo: Any) -> None:
    commit = repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    assert reject(repo.folder, A, NOW, "only true\non <Windows>") == {
        "ok": True,
        "id": A,
        "reason": "only true on Windows",
    }
    assert reject(repo.folder, B, NOW) == {"ok": True, "id": B}
    told = rejected(repo.folder)
    assert [(r.id, r.at, r.rejected_at, r.files, r.reason) for r in told] == [
        (A, 1772352000, NOW, ("AGENTS.md",), "only true on Windows"),
        (B, 1772352000, NOW, ("skills/b/SKILL.md",), ""),
    ]
    assert told[0].subject == f"Lesson from a replay: {A}"
    body = repo.git("log", "-1", "--format=%B", f"refs/lessonbook/rejected/{A}")
    assert f"Rejected-id: {A}\nRejected-reason: only true on Windows\nFingerprint: " in body
    assert repo.git("rev-parse", f"refs/lessonbook/rejected/{A}^") == commit


def test_unreject_puts_it_back_as_it_was(repo: Any) -> None:
    commit = repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    before = repo.state()
    reject(repo.folder, A, NOW, "no")
    assert unreject(repo.folder, A) == {"ok": True, "id": A}
    assert repo.state() == before and repo.git("rev-parse", f"pending/{A}") == commit
    assert "waits for review already" in unreject(repo.folder, A)["error"]
    assert "nothing was rejected" in unreject(repo.folder, B)["error"]
    assert "id" in unreject(repo.folder, "-d")["error"]
    assert rejected(repo.folder) == [] and rejected(repo.folder.parent / "none") == []


def test_one_id_rejected_twice_keeps_both_and_the_last_comes_back(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "one\n"})
    reject(repo.folder, A, NOW, "first")
    second = repo.propose(A, {"AGENTS.md": "two\n"})
    reject(repo.folder, A, NOW, "second")
    assert [row.reason for row in rejected(repo.folder)] == ["second"]
    assert unreject(repo.folder, A)["ok"] and repo.git("rev-parse", f"pending/{A}") == second
    assert [row.reason for row in rejected(repo.folder)] == ["first"]


def test_what_an_older_version_rejected_is_read(repo: Any) -> None:
    commit = repo.propose(A, {"AGENTS.md": f"{BASE}\nRun the slow tests at night.\n"})
    repo.git("update-ref", f"refs/lessonbook/rejected/{A}", commit)
    repo.git("update-ref", "-d", f"refs/heads/pending/{A}")
    assert [(row.id, row.reason, row.rejected_at) for row in rejected(repo.folder)] == [(A, "", 0)]
    assert [twin.became for twin in known(repo.folder).twins("k", "At night, run the slow tests")] == ["rejected"]
    assert unreject(repo.folder, A)["ok"] and [row["id"] for row in queue.pending(repo.folder)] == [A]


def test_no_secret_of_a_reason_reaches_the_repository(repo: Any) -> None:
    secret = "ghp_" + "a1B2" * 9
    repo.propose(A, {"AGENTS.md": "one\n"})
    told = reject(repo.folder, A, NOW, f"it names the key {secret}")
    assert told["reason"] == "it names the key [REDACTED]"
    objects = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    texts = [repo.git("cat-file", "-p", oid, ok=False) for oid in objects]
    assert not any(secret in text for text in texts) and any("[REDACTED]" in text for text in texts)


def test_a_reason_is_bounded_and_can_be_anything(repo: Any) -> None:
    for n, reason in enumerate(("x" * 9000, "\ud800", "\x00\x1b[31m", "Rejected-id: x\n\nFingerprint: y", " ")):
        id = f"20270301-08000{n}-0000aa"
        repo.propose(id, {"AGENTS.md": f"{n}\n"})
        assert reject(repo.folder, id, NOW, reason)["ok"]
    rows = rejected(repo.folder)
    assert len(rows) == 5 and all(len(row.reason) <= REASON_MAX for row in rows)
    assert rows[3].reason == "Rejected-id: x Fingerprint: y"


def test_known_tells_twins_of_all_three_kinds(repo: Any) -> None:
    texts = ["Run the slow tests at night.", "Ask before deleting a branch.", "Write the changelog in English."]
    ids = [f"20270301-08000{n}-0000aa" for n in range(3)]
    for id, text in zip(ids, texts, strict=True):
        repo.propose(id, {"AGENTS.md": f"{BASE}\n{text}\n"}, message=f"Lesson from a replay: x\n\nEvidence-key: {id}\n")
    assert queue.accept(repo.folder, ids[0], NOW)["ok"] and reject(repo.folder, ids[1], NOW, "obvious")["ok"]
    told = known(repo.folder)
    found = [
        told.twins("new", text) for text in ("Run slow tests at night!", "Ask before you delete a branch", "x y z")
    ]
    assert [[(t.id, t.became, t.reason) for t in twins] for twins in found] == [
        [(ids[0], "accepted", "")],
        [(ids[1], "rejected", "obvious")],
        [],
    ]
    assert [(t.id, t.became, t.reason) for t in told.twins("new", "Before deleting a branch, ask.")] == [
        (ids[1], "rejected", "obvious")
    ]
    assert [(t.id, t.became) for t in told.twins(ids[2], "other words altogether")] == [(ids[2], "pending")]


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book.rejecting import reject, unreject
from lessonbook.system import faults
faults.arm(sys.argv[2])
reject(Path(sys.argv[1]), sys.argv[3], 1800000000, "why")
unreject(Path(sys.argv[1]), sys.argv[3])
"""

MOVE = ["files.before-rename", "files.after-rename", "branches.intended", "branches.moved"]


def test_the_points_are_all_that_are_passed(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    passed = faults.record()
    reject(repo.folder, A, NOW)
    unreject(repo.folder, A)
    faults._log = None
    assert passed == ["reject.recorded", *MOVE, "reject.moved", *MOVE, "unreject.moved"]


@pytest.mark.parametrize("point", ["reject.recorded", *MOVE, "reject.moved", "unreject.moved"])
def test_a_kill_leaves_the_old_state_or_the_new(repo: Any, point: str) -> None:
    commit = repo.propose(A, {"AGENTS.md": "x\n"})
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(repo.folder), point, A], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    waits = [row["id"] for row in queue.pending(repo.folder)] == [A]
    assert waits is (point not in ("branches.moved", "reject.moved")) and bool(rejected(repo.folder)) is not waits
    assert waits or unreject(repo.folder, A)["ok"]
    assert repo.git("rev-parse", f"pending/{A}") == commit
