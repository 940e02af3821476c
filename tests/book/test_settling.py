"""What a git that was killed leaves: branches of which some have moved, and its locks. The next call makes it good."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import intent, queue
from lessonbook.book.offer import Offer, offer
from lessonbook.book.rejecting import reject
from lessonbook.book.repository import open_book
from lessonbook.core.errors import BusyError
from lessonbook.system.gitbatch import RefMove

A, B, C, D = (
    f"20270301-{hour}0000-0000{end}" for hour, end in (("08", "aa"), ("09", "bb"), ("10", "cc"), ("11", "dd"))
)
NOW = 1_800_000_000
BASE = "Run the linter first.\n"
# Does one verb and dies right before git moves the branches.
_CUT = """
import sys
from pathlib import Path
from lessonbook.book import expiring, offer, queue, rejecting, splitting, undoing
from lessonbook.system import faults
folder, verb, a, d, now = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], 1800000000
faults.arm("branches.intended")
offers = [offer.Offer("t", "Another rule."), offer.Offer("u", files={"skills/u/SKILL.md": "u\\n"})]
hexes = iter(["0000e1", "0000e2"])
print({
    "accept": lambda: queue.accept(folder, a, now),
    "reject": lambda: queue.reject(folder, a, now, "no"),
    "restack": lambda: queue.restack(folder, now),
    "split": lambda: splitting.split(folder, a, "file", now),
    "undo": lambda: undoing.undo(folder, d, now),
    "offer": lambda: offer.offer(folder, offers, now, lambda: next(hexes)),
}[verb]())
"""
VERBS = ["accept", "reject", "restack", "split", "undo", "offer"]


def cut(repo: Any, verb: str) -> list[RefMove]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _CUT, str(repo.folder), verb, A, D], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    book = open_book(repo.folder)
    assert book
    meant = intent.read(book)
    assert meant and meant.moves
    return list(meant.moves)


def die(repo: Any, moves: list[RefMove], done: int, age: float = 10.0) -> None:
    """Leave what git leaves that was killed after ``done`` of the moves: each under a lock of its own before the first
    is made, removals of packed refs first, under the lock of those."""
    git_dir = repo.folder / ".git"
    for move in moves[:done]:
        repo.git("update-ref", "--no-deref", *([move.ref, move.new] if move.new else ["-d", move.ref]))
    locks = {git_dir / "HEAD.lock": ""} if any(move.ref == "refs/heads/main" for move in moves) else {}
    locks |= {git_dir / f"{m.ref}.lock": f"{m.new}\n" if m.new else "" for m in moves[done:]}
    if any(move.new is None for move in moves):
        locks |= {git_dir / "packed-refs.lock": "", git_dir / "packed-refs.new": "# pack-refs with: peeled\n"}
    for lock, text in locks.items():
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text(text)
    grow_old(git_dir, age)


def grow_old(git_dir: Path, age: float = 10.0) -> None:
    """Let what was left have been left some seconds ago."""
    left = [path for path in git_dir.rglob("*") if path.suffix in (".lock", ".new") and path.name != "index.lock"]
    for path in (*left, git_dir / "lessonbook-intent"):
        if path.exists():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))


def set_up(repo: Any, verb: str) -> None:
    repo.propose(D, {"AGENTS.md": f"{BASE}\nRule d.\n"})
    assert queue.accept(repo.folder, D, NOW)["ok"]
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule d.\n\nRule a.\n", "skills/a/SKILL.md": "a\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    repo.propose(C, {"skills/c/SKILL.md": "c\n"})
    repo.git("pack-refs", "--all")
    if verb == "restack":
        repo.commit({"notes.txt": "mine\n"})


def seen(repo: Any) -> dict[str, str]:
    """Every ref with the tree it leads to, and the files."""
    refs = repo.git("for-each-ref", "--format=%(refname) %(tree)").splitlines()
    return dict(row.split(" ") for row in refs) | {k: v for k, v in repo.state().items() if k.endswith(".md")}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("part", ["none", "first", "all but one", "all"])
def test_the_next_call_finishes_the_move_or_takes_it_back(make_repo: Any, verb: str, part: str) -> None:
    repo = make_repo()
    set_up(repo, verb)
    before = seen(repo)
    moves = cut(repo, verb)
    assert len(moves) > 1
    number = {"none": 0, "first": 1, "all but one": len(moves) - 1, "all": len(moves)}[part]
    die(repo, moves, number)
    rows = queue.pending(repo.folder)
    refs = {row.split(" ")[1]: row.split(" ")[0] for row in repo.git("show-ref").splitlines()}
    assert {move.ref: refs.get(move.ref) for move in moves} == {
        move.ref: move.new if number else move.old for move in moves
    }
    assert number or seen(repo) == before
    assert repo.git("status", "--porcelain") == "" and not [row for row in rows if row["stale"]]
    left = [path for path in (repo.folder / ".git").rglob("*") if path.suffix in (".lock", ".new")]
    assert left == [] and not (repo.folder / ".git/lessonbook-intent").exists()
    assert repo.git("fsck", "--no-dangling", "--strict") == ""
    assert queue.accept(repo.folder, B, NOW)["ok"] and reject(repo.folder, C, NOW)["ok"]


def test_where_head_stayed_what_moved_goes_back(repo: Any) -> None:
    """HEAD is what was accepted: had git moved it last, the candidates would wait for an acceptance that never was."""
    set_up(repo, "accept")
    before = seen(repo)
    moves = cut(repo, "accept")
    die(repo, sorted(moves, key=lambda move: move.ref == "refs/heads/main"), len(moves) - 1)
    assert len(queue.pending(repo.folder)) == 3 and seen(repo) == before
    assert queue.accept(repo.folder, A, NOW)["ok"] and "Rule a." in repo.text()


def test_where_a_person_went_on_it_goes_on(repo: Any) -> None:
    """The locks were removed by hand, as git says, and something was committed: the acceptance is part of HEAD."""
    set_up(repo, "accept")
    moves = cut(repo, "accept")
    die(repo, moves, 1)
    for lock in (repo.folder / ".git").rglob("*.lock"):
        lock.unlink()
    mine = repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "By hand")
    repo.git("update-ref", "HEAD", mine)
    assert [row["id"] for row in queue.pending(repo.folder)] == [B, C]
    assert repo.text("skills/a/SKILL.md") == "a\n" and repo.git("rev-parse", "HEAD") == mine


def test_what_a_person_moved_since_stays(repo: Any) -> None:
    set_up(repo, "restack")
    moves = cut(repo, "restack")
    die(repo, moves, 1)
    (repo.folder / f".git/{moves[1].ref}.lock").unlink()
    mine = repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Lesson from a replay: mine")
    repo.git("update-ref", moves[1].ref, mine)
    queue.pending(repo.folder)
    assert repo.git("rev-parse", moves[1].ref) == mine
    assert [repo.git("rev-parse", move.ref) for move in moves[2:]] == [move.new for move in moves[2:]]


@pytest.mark.parametrize("age", [0.0, 10.0])
@pytest.mark.parametrize("whose", ["ours", "another"])
def test_a_lock_that_may_be_a_living_gits_is_waited_for(repo: Any, whose: str, age: float) -> None:
    """One that holds what another git writes is never removed, an empty one only when no living git has it so long."""
    set_up(repo, "reject")
    moves = cut(repo, "reject")
    die(repo, moves, 0, age)
    lock = repo.folder / ".git" / f"{moves[0].ref}.lock"
    if whose == "another":
        times = (lock.stat().st_atime, lock.stat().st_mtime)
        lock.write_text("f" * 40 + "\n")
        os.utime(lock, times)
    started = time.monotonic()
    assert len(queue.pending(repo.folder)) == 3 and time.monotonic() - started < 2
    told = queue.accept(repo.folder, A, NOW)
    assert told["ok"] is (whose == "ours"), told
    if whose == "another":
        assert f"git's own lock {lock} is held" in told["error"] and lock.read_text() == "f" * 40 + "\n"
        lock.unlink()
        assert queue.accept(repo.folder, A, NOW)["ok"]


def test_a_lock_that_was_there_before_is_not_ours(repo: Any) -> None:
    set_up(repo, "reject")
    moves = cut(repo, "reject")
    die(repo, moves, 0)
    lock = repo.folder / ".git" / f"{moves[0].ref}.lock"
    os.utime(lock, (time.time() - 60,) * 2)
    assert f"{lock} is held" in queue.reject(repo.folder, A, NOW)["error"] and lock.exists()


def test_another_gits_lock_is_said_and_stays(repo: Any) -> None:
    set_up(repo, "")
    lock = repo.folder / f".git/refs/heads/pending/{B}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    before = repo.state()
    for told in (queue.accept(repo.folder, A, NOW), queue.reject(repo.folder, B, NOW)):
        assert told["ok"] is False and f"git's own lock {lock} is held" in told["error"], told
    assert repo.state() == before and lock.exists()


@pytest.mark.parametrize("ref", ["../../outside", "refs/heads/../../../outside", "refs/tags/x", "refs/heads/a b", ""])
def test_a_planted_intent_removes_no_file_and_moves_no_other_ref(repo: Any, tmp_path: Path, ref: str) -> None:
    head = repo.git("rev-parse", "HEAD")
    for path in (tmp_path / "outside.lock", repo.folder / ".git/outside.lock", repo.folder / "outside.lock"):
        path.write_text(f"{head}\n")
    moves = [[ref, None, head], [f"refs/heads/pending/{A}", None, head]]
    (repo.folder / ".git/lessonbook-intent").write_text(json.dumps({"refs": moves, "files": []}))
    before = repo.git("show-ref")
    queue.pending(repo.folder)
    assert len(list(tmp_path.rglob("outside.lock"))) == 3 and repo.git("show-ref") == before
    assert not (repo.folder / ".git/lessonbook-intent").exists()


@pytest.mark.parametrize(
    "junk", [b"[]", b"{}", b'{"refs": 1, "files": []}', b'{"refs": [["HEAD", 1, 2]], "files": []}']
)
def test_a_damaged_intent_is_dropped(repo: Any, junk: bytes) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    (repo.folder / ".git/lessonbook-intent").write_bytes(junk)
    assert queue.accept(repo.folder, A, NOW)["ok"] and not (repo.folder / ".git/lessonbook-intent").exists()


@pytest.mark.parametrize("name", ["lessonbook-index.lock", "lessonbook-index"])
def test_what_a_git_left_that_died_at_the_index_stops_nobody(repo: Any, name: str) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    (repo.folder / ".git" / name).write_bytes(b"half")
    assert queue.accept(repo.folder, A, NOW)["ok"] and repo.git("status", "--porcelain") == ""
    assert not (repo.folder / ".git" / name).exists()


# a git that is killed for real

_GIT = """#!{python}
import os, signal, subprocess, sys, time
words = ["{git}", *sys.argv[1:]]
if "update-ref" not in sys.argv or os.environ.get("KILL") is None:
    os.execv(words[0], words)
git = subprocess.Popen(words)
time.sleep(float(os.environ["KILL"]))
git.kill()
git.wait()
if os.environ["WHOM"] == "all":
    os.kill(os.getppid(), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``git`` first on PATH that is killed while it moves branches, where ``KILL`` says after how many seconds."""
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(_GIT.format(python=sys.executable, git=shutil.which("git")))
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    return wrapper


_ACCEPT = """
import json, sys
from pathlib import Path
from lessonbook.book import queue
print(json.dumps(queue.accept(Path(sys.argv[1]), sys.argv[2], 1800000000)))
"""


@pytest.mark.parametrize("whom", ["git", "all"])
def test_git_killed_at_any_moment_leaves_the_old_state_or_the_new(
    repo: Any, killing: Path, whom: str, make_repo: Callable[..., Any]
) -> None:
    number, pick = 120, random.Random(7)
    hexes = (f"{n:06x}" for n in range(number))
    offers = [Offer(f"t{n}", files={f"skills/s{n}/SKILL.md": f"{n}\n"}) for n in range(number)]
    ids = offer(repo.folder, offers, NOW, hexes.__next__)
    ends = set()
    for turn in range(5):
        id, head = ids[turn], repo.git("rev-parse", "HEAD")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        env |= {"KILL": f"{pick.random() * 0.05:.3f}", "WHOM": whom}
        words = [sys.executable, "-c", _ACCEPT, str(repo.folder), id]
        done = subprocess.run(words, env=env, capture_output=True, check=False, start_new_session=True)
        assert done.returncode == (-signal.SIGKILL if whom == "all" else 0), done.stderr.decode()
        grow_old(repo.folder / ".git")
        waits = [row["id"] for row in queue.pending(repo.folder)]
        moved = repo.git("rev-parse", "HEAD") != head
        assert moved is (id not in waits) and len(waits) == number - turn - moved
        tips = repo.git("for-each-ref", "--format=%(parent)", "refs/heads/pending/").splitlines()
        assert set(tips) == {repo.git("rev-parse", "HEAD")}, "some moved, some not"
        assert repo.git("status", "--porcelain") == "" and not list((repo.folder / ".git").rglob("*.lock"))
        if not moved:
            assert queue.accept(repo.folder, id, NOW)["ok"]
        if whom == "git":
            # Where git was killed under the settling too, the answer is an error and the next call settles it.
            assert moved or not json.loads(done.stdout)["ok"], done.stdout
        ends.add(moved)
    assert repo.git("fsck", "--no-dangling", "--strict") == "" and ends


def test_while_a_git_works_on_that_a_dead_process_started_nobody_takes_its_lock(
    repo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    slow = f'case "$*" in *update-ref*) touch {tmp_path}/works; sleep 3;; esac'
    wrapper.write_text(f'#!/bin/sh\n{slow}\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    process = subprocess.Popen([sys.executable, "-c", _ACCEPT, str(repo.folder), A], env=env)
    deadline = time.monotonic() + 60
    while not (tmp_path / "works").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert "a batch is running" in queue.accept(repo.folder, A, NOW)["error"]
    with pytest.raises(BusyError):
        offer(repo.folder, [Offer("t", "Another.")], NOW, lambda: "0000e1", wait=0.1)
    time.sleep(4)
    waits = [row["id"] for row in queue.pending(repo.folder)]
    assert repo.text() == (BASE if waits else "New.\n") and repo.git("status", "--porcelain") == ""
    assert not waits or queue.accept(repo.folder, A, NOW)["ok"]
