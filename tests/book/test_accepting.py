"""Accepting while things go wrong: killed at every step, run by many at once, and never one process more for more
candidates."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.book import queue
from lessonbook.book.sentences import STALE
from lessonbook.system import faults

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
_KILLED = """
import sys
from pathlib import Path
from lessonbook.book import queue
from lessonbook.system import faults
faults.arm(sys.argv[2])
queue.accept(Path(sys.argv[1]), sys.argv[3], 1800000000)
"""
POINTS = [
    "accept.index-ready",
    "branches.intended",
    "branches.moved",
    "accept.moved",
    "accept.file-written",
    "accept.index-replaced",
]
POINTS += ["accept.finished", "files.before-rename", "files.after-rename"]


def kill_at(repo: Any, point: str, id: str) -> None:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(repo.folder), point, id], env=env, check=False)
    assert done.returncode == -signal.SIGKILL


def set_up(repo: Any) -> None:
    repo.commit({"skills/old/SKILL.md": "old\n"})
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n", "skills/old/SKILL.md": None})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})


def test_the_points_are_all_that_are_passed(repo: Any) -> None:
    set_up(repo)
    passed = faults.record()
    assert queue.accept(repo.folder, A, NOW)["ok"]
    faults._log = None
    assert set(passed) == set(POINTS)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("next_call", ["pending", "accept"])
def test_a_kill_at_any_step_is_finished_by_the_next_call(repo: Any, point: str, next_call: str) -> None:
    set_up(repo)
    before = repo.state()
    kill_at(repo, point, A)
    moved = repo.git("log", "-1", "--format=%s") != "By hand"
    rows = [row["id"] for row in queue.pending(repo.folder)]
    assert rows == ([B] if moved else [A, B])
    if next_call == "accept":
        assert queue.accept(repo.folder, B, NOW)["ok"]
        assert repo.text("skills/b/SKILL.md") == "b\n"
    elif not moved:
        assert {key: value for key, value in repo.state().items() if key != "extra"} == {
            key: value for key, value in before.items() if key != "extra"
        }
    if not moved:
        assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.text() == "New.\n" and not (repo.folder / "skills/old").exists()
    assert repo.git("status", "--porcelain") == ""
    assert [path.name for path in (repo.folder / ".git").iterdir() if "lock" in path.name or "less" in path.name] == []


def test_what_a_person_changed_after_the_crash_stays(repo: Any) -> None:
    set_up(repo)
    kill_at(repo, "accept.moved", A)
    repo.write({"AGENTS.md": "written after the crash\n"})
    assert queue.pending(repo.folder)[0]["id"] == B
    assert repo.text() == "written after the crash\n" and repo.text("skills/x/SKILL.md") == "x\n"
    assert repo.git("status", "--porcelain").split() == ["M", "AGENTS.md"]


def test_a_damaged_intent_is_dropped(repo: Any) -> None:
    set_up(repo)
    for junk in (b"", b"\xff\x00", b"{}", b'[1, ["zz", null, null]]', b'[["41", [1], {}]]'):
        (repo.folder / ".git/lessonbook-intent").write_bytes(junk)
        assert len(queue.pending(repo.folder)) == 2
        assert not (repo.folder / ".git/lessonbook-intent").exists()
    assert queue.accept(repo.folder, A, NOW)["ok"]


def test_many_people_accept_at_once_and_each_candidate_counts_once(repo: Any) -> None:
    ids = [f"20270301-0800{n:02d}-00000a" for n in range(8)]
    for n, id in enumerate(ids):
        repo.propose(id, {"AGENTS.md": f"Run the linter first.\n\nRule {n}.\n"})

    def insist(id: str) -> dict[str, Any]:
        while True:
            told = queue.accept(repo.folder, id, NOW)
            if told["ok"] or "batch is running" not in told["error"]:
                return told

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(insist, ids))
    assert all(answer["ok"] for answer in told), told
    assert repo.git("rev-list", "--count", "HEAD") == "9"
    assert len(repo.text().split("\n\n")) == 9 and repo.git("status", "--porcelain") == ""


def test_the_number_of_processes_never_grows_with_the_queue(make_repo: Any, counted: Path) -> None:
    def starts(act: Any, *args: Any) -> int:
        counted.write_text("")
        told = act(*args)
        assert told is not None and (not isinstance(told, dict) or told["ok"]), told
        return len(counted.read_text().split())

    seen = []
    for count in (5, 60):
        repo = make_repo(f"book{count}", {"AGENTS.md": "Base.\n"})
        ids = [f"20270301-08{n:04d}-00000a" for n in range(count)]
        for n, id in enumerate(ids):
            files = {f"skills/s{n}/SKILL.md": "x\n"} if n % 2 else {"AGENTS.md": f"Base.\n\nRule {n}.\n"}
            repo.propose(id, files)
        numbers = [starts(queue.pending, repo.folder), starts(queue.accept, repo.folder, ids[0], NOW)]
        repo.commit({"notes.txt": "x\n"})
        numbers += [starts(queue.pending, repo.folder), starts(queue.restack, repo.folder, NOW)]
        numbers += [starts(queue.diff, repo.folder, ids[1]), starts(queue.reject, repo.folder, ids[1])]
        seen.append(numbers)
    assert seen[0] == seen[1] and max(seen[0]) <= 14, seen


def test_an_edit_in_the_second_of_the_last_commit_is_not_lost_from_sight(repo: Any) -> None:
    """git sees such an edit only by reading the file; the index we write must not claim to know better."""
    repo.commit({"notes.txt": "aaaa\n"})
    repo.write({"notes.txt": "bbbb\n"})
    repo.propose(A, {"AGENTS.md": "New.\n"})
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert repo.git("status", "--porcelain").split() == ["M", "notes.txt"]


def test_a_branch_that_moves_meanwhile_stops_everything(repo: Any) -> None:
    """Another git command holds one of the branches: nothing moves, nothing is left over."""
    set_up(repo)
    (repo.folder / ".git/refs/heads/pending" / f"{B}.lock").touch()
    before = repo.state()
    told = queue.accept(repo.folder, A, NOW)
    assert told["ok"] is False and "nothing was done" in told["error"]
    assert repo.state() == before


def test_working_files_that_cannot_follow_are_said_and_brought_along_later(repo: Any) -> None:
    """A limit on file sizes stands for a full disk: git packs the text small, the working file does not fit."""
    text = "x" * 200_000 + "\n"
    repo.propose(A, {"skills/x/SKILL.md": text})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        told = queue.accept(repo.folder, A, NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert told["ok"] is False and f"accepted as {repo.git('rev-parse', 'HEAD')[:7]}" in told["error"]
    assert not list(repo.folder.rglob("*.tmp"))
    assert queue.pending(repo.folder) == []
    assert repo.text("skills/x/SKILL.md") == text and repo.git("status", "--porcelain") == ""


def test_a_planted_intent_writes_nothing_outside_and_through_no_link(repo: Any, tmp_path: Path) -> None:
    blob = repo.git("hash-object", "-w", "--stdin", data=b"planted\n")
    inner = repo.git("mktree", data=f"100644 blob {blob}\tSKILL.md\n".encode())
    skills = repo.git("mktree", data=f"040000 tree {inner}\tx\n".encode())
    raw = b"100644 AGENTS.md\0" + bytes.fromhex(blob) + b"40000 ..\0" + bytes.fromhex(inner)
    raw += b"40000 skills\0" + bytes.fromhex(skills)
    tree = repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=raw)
    repo.git("update-ref", "HEAD", repo.git("commit-tree", tree, "-m", "planted"))
    (tmp_path / "elsewhere").mkdir()
    (repo.folder / "skills").symlink_to(tmp_path / "elsewhere")
    for path in ("../SKILL.md", "skills/x/SKILL.md"):
        intent = json.dumps([[path.encode().hex(), None, ["100644", blob]]])
        (repo.folder / ".git/lessonbook-intent").write_text(intent)
        queue.pending(repo.folder)
        assert not (tmp_path / "SKILL.md").exists() and not any((tmp_path / "elsewhere").iterdir())
        assert not (repo.folder / ".git/lessonbook-intent").exists()


def test_half_written_files_of_a_killed_process_go(repo: Any) -> None:
    set_up(repo)
    kill_at(repo, "accept.moved", A)
    for name in (".AGENTS.md.x1y2z3ab.tmp", ".git/.lessonbook-index.x1y2z3ab.tmp"):
        (repo.folder / name).write_text("half")
    assert queue.pending(repo.folder)[0]["id"] == B
    assert repo.git("status", "--porcelain") == "" and not list(repo.folder.rglob("*.tmp"))


@pytest.mark.parametrize("how", ["merge", "rebase"])
def test_nothing_is_accepted_into_an_unfinished_merge_or_rebase(repo: Any, how: str) -> None:
    repo.propose(A, {"skills/x/SKILL.md": "x\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit({"AGENTS.md": "Side.\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"AGENTS.md": "Main.\n"})
    repo.git(how, "side", ok=False)
    before = repo.state()
    assert "not finished" in queue.accept(repo.folder, A, NOW)["error"] and repo.state() == before
    repo.git(how, "--abort")
    assert queue.accept(repo.folder, A, NOW)["ok"]


def test_a_book_in_a_linked_worktree_works(repo: Any, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "book", str(tmp_path / "linked"))
    linked = type(repo)(tmp_path / "linked")
    repo.propose(A, {"AGENTS.md": "New.\n"})
    assert queue.accept(linked.folder, A, NOW)["ok"]
    assert (linked.text(), linked.git("status", "--porcelain")) == ("New.\n", "")
    assert (repo.text(), repo.git("status", "--porcelain")) == ("Run the linter first.\n", "")


class TestAnyOrder:
    """Whatever people decide in whatever order, nothing is lost, half done or left behind."""

    @given(
        kinds=st.lists(st.sampled_from(["rule", "skill", "rewrite", "drop", "day"]), min_size=1, max_size=6),
        verbs=st.lists(st.tuples(st.sampled_from(["accept", "reject", "restack", "commit"]), st.integers(0, 5))),
    )
    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_decisions(self, make_repo: Any, kinds: list[str], verbs: list[tuple[str, int]]) -> None:
        repo = make_repo(f"book-{uuid.uuid4().hex}", {"AGENTS.md": "Base.\n", "skills/old/SKILL.md": "old\n"})
        ids = [f"20270301-08000{n}-00000a" for n in range(len(kinds))]
        for n, (id, kind) in enumerate(zip(ids, kinds, strict=True)):
            files: dict[str, dict[str, str | None]] = {
                "rule": {"AGENTS.md": f"Base.\n\nRule {n}.\n"},
                "skill": {f"skills/s{n}/SKILL.md": f"{n}\n"},
                "rewrite": {"AGENTS.md": f"Rewritten {n}.\n"},
                "drop": {"skills/old/SKILL.md": None},
                "day": {"dhrona-2027-03-01.md": f"- {n}\n"},
            }
            repo.propose(id, files[kind])
        messages = {id: repo.git("log", "-1", "--format=%an %ad %B", f"pending/{id}") for id in ids}
        waiting = set(ids)
        for verb, n in verbs:
            id, head = ids[n % len(ids)], repo.git("rev-parse", "HEAD")
            if verb == "accept":
                told = queue.accept(repo.folder, id, NOW)
                assert told["ok"] or (id not in waiting) or told["error"] == STALE, told
                moved = repo.git("rev-parse", "HEAD") != head
                assert moved == bool(told["ok"] and told["commit"])
                signed = f"{messages[id].rstrip()}\n\nAccepted-by: lessonbook <lessonbook@localhost>\nAccepted-id: {id}"
                assert not moved or repo.git("log", "-1", "--format=%an %ad %B").rstrip() == signed
                waiting -= {id} if told["ok"] else set()
            elif verb == "reject":
                assert queue.reject(repo.folder, id)["ok"] is (id in waiting)
                waiting.discard(id)
            elif verb == "restack":
                queue.restack(repo.folder, NOW)
            else:
                repo.commit({"notes.txt": uuid.uuid4().hex})
            assert [row["id"] for row in queue.pending(repo.folder)] == sorted(waiting)
            assert repo.git("status", "--porcelain") == "" and "<<<<" not in repo.text()
        for id in waiting:
            assert repo.git("log", "-1", "--format=%an %ad %B", f"pending/{id}") == messages[id]
        assert repo.git("fsck", "--no-dangling", "--strict") == ""
