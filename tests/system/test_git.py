from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lessonbook.core.errors import SetupError, StoreError
from lessonbook.system import git
from lessonbook.system.gitbatch import (
    Change,
    Entry,
    NewCommit,
    RefMove,
    Write,
    blob_id,
    compare,
    move_refs,
    read_objects,
    read_tree,
    write_commits,
)
from lessonbook.system.gitindex import CONFLICT, edit_index, read_index

AUTHOR = "Zoë <z@example.org> 1700000000 -0330".encode()
NOW = 1_800_000_000


@pytest.fixture(params=["sha1", "sha256"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made = tmp_path / "repo"
    git.run(tmp_path, "init", "-q", "--template=", "-b", "main", f"--object-format={request.param}", str(made))
    return made


def root(folder: Path, files: dict[bytes, bytes]) -> str:
    writes = tuple(Write(path, data) for path, data in files.items())
    commit = write_commits(folder, [NewCommit(None, AUTHOR, b"root\n", writes)], NOW)[0]
    assert move_refs(folder, [RefMove("refs/heads/main", None, commit)], "test")
    return commit


def test_run_says_what_git_said_and_attempt_does_not_raise(folder: Path) -> None:
    with pytest.raises(StoreError, match="git rev-parse failed in"):
        git.run(folder, "rev-parse", "--verify", "nothing")
    assert git.attempt(folder, "rev-parse", "--verify", "-q", "nothing").returncode == 1
    assert git.run(folder, "rev-parse", "--verify", "-q", "nothing", ok=(0, 1)) == b""


def test_without_git_a_sentence_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SetupError, match="git is not installed"):
        git.run(folder, "status")


def test_the_environment_holds_nothing_of_the_persons_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_CEILING_DIRECTORIES"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    env = git.sealed_environment()
    assert "x" not in {value for key, value in env.items() if key.startswith("GIT_")}
    assert env["HOME"] == "/nonexistent" and env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] == "1"


def test_commits_come_out_as_they_were_put_in(folder: Path) -> None:
    names = [b"a", b'"q".md', b"a b/c.md", b"x\ny", b"bad\xff", b"-rf", b"back\\slash"]
    first = root(folder, {name: b"text of " + name for name in names})
    tree = read_tree(folder, first)
    assert tree == {name: Entry("100644", blob_id(b"text of " + name, first)) for name in names}
    latin = NewCommit(first, AUTHOR, b"caf\xe9\n", (Write(b"a"), Write(b"n", oid=tree[b"-rf"].oid)), b"ISO-8859-1")
    second, third = write_commits(folder, [latin, NewCommit(0, AUTHOR, b"", (Write(b"z", b""),))], NOW)
    found = read_objects(folder, [second, third, "0" * len(first), second])
    assert set(found) == {second, third}
    head, _, message = found[second].data.partition(b"\n\n")
    assert message == b"caf\xe9\n" and b"author " + AUTHOR in head and b"encoding ISO-8859-1" in head
    assert b"committer lessonbook <lessonbook@localhost> 1800000000 +0000" in head
    assert f"parent {second}".encode() in found[third].data
    changes = compare(folder, [(second, first), (third, second), (first, None), (first, first)])
    assert changes[second] == (Change(b"a", tree[b"a"], None), Change(b"n", None, tree[b"-rf"]))
    assert [change.path for change in changes[third]] == [b"z"]
    refs = subprocess.run(["git", "-C", str(folder), "for-each-ref"], capture_output=True, check=True).stdout
    assert refs.count(b"\n") == 1  # only main: nothing else was made


def test_comparing_with_nothing_and_with_itself(folder: Path) -> None:
    first = root(folder, {b"a": b"1"})
    assert [change.old for change in compare(folder, [(first, None)])[first]] == [None]
    assert compare(folder, [(first, first)]) == {first: ()} and compare(folder, []) == {}
    assert read_objects(folder, []) == {} and write_commits(folder, [], NOW) == []


def test_refs_move_together_or_not_at_all(folder: Path) -> None:
    first = root(folder, {b"a": b"1"})
    second = write_commits(folder, [NewCommit(first, AUTHOR, b"2\n", (Write(b"a", b"2"),))], NOW)[0]
    wrong = [RefMove("refs/heads/main", first, second), RefMove("refs/heads/x", second, None)]
    assert not move_refs(folder, wrong, "test")
    assert not move_refs(folder, [RefMove("refs/heads/main", None, second)], "test")
    assert git.run(folder, "rev-parse", "main").decode().strip() == first
    assert move_refs(folder, [RefMove("refs/heads/main", first, second), RefMove("refs/x/y", None, first)], "why")
    assert git.run(folder, "rev-parse", "main").decode().strip() == second
    with pytest.raises(StoreError, match="could not move"):
        move_refs(folder, [RefMove("refs/heads/bad..name", None, first)], "test")


def test_the_index_is_edited_without_a_look_at_the_files(folder: Path) -> None:
    first = root(folder, {b"a": b"1", b"b/c": b"2"})
    tree = read_tree(folder, first)
    index = folder / ".git" / "index"
    edit_index(folder / ".git", index, tree, first)
    assert read_index(folder) == tree
    edit_index(folder / ".git", index, {b"b/c": None, b"b": tree[b"a"]}, first)
    assert read_index(folder) == {b"a": tree[b"a"], b"b": tree[b"a"]}
    edit_index(folder / ".git", index, {b"b": None}, first)
    stages = b"".join(b"100644 %s %d\tb\0" % (tree[b"a"].oid.encode(), stage) for stage in (1, 2, 3))
    git.run(folder, "update-index", "-z", "--index-info", data=stages)
    assert read_index(folder)[b"b"] == CONFLICT


def test_a_filter_never_runs_for_files_of_the_same_second(folder: Path, tmp_path: Path) -> None:
    first = root(folder, {b"a": b"1"})
    (folder / "a").write_text("1")
    plain = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    subprocess.run(["git", "-C", str(folder), "add", "a"], check=True, env=plain)
    (folder / ".gitattributes").write_text("a filter=x\n")
    git.run(folder, "config", "filter.x.clean", f"touch {tmp_path / 'ran'}; cat")
    index = folder / ".git" / "index"
    index.write_bytes(index.read_bytes())
    edit_index(folder / ".git", index, {b"n": read_tree(folder, first)[b"a"]}, first)
    assert not (tmp_path / "ran").exists()


def test_more_than_a_pipe_holds_goes_both_ways(folder: Path) -> None:
    names = [f"{number:040x}" for number in range(20_000)]
    out = git.Started(folder, "cat-file", "--batch").answer("".join(f"{name}\n" for name in names).encode())
    assert out.decode().split("\n")[:-1] == [f"{name} missing" for name in names]


def test_a_command_that_does_not_read_its_input_just_ends(folder: Path) -> None:
    done = git.attempt(folder, "rev-parse", "--git-dir", data=b"x" * 1_000_000)
    assert (done.returncode, done.stdout) == (0, b".git\n")


def test_a_command_that_is_never_asked_leaves_nothing_behind(folder: Path) -> None:
    before = sum(1 for _ in Path("/dev/fd").iterdir())
    with git.Started(folder, "cat-file", "--batch") as started:
        pid = started.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid or 0, 0)
    assert started.pid is None and sum(1 for _ in Path("/dev/fd").iterdir()) == before


def test_without_git_nothing_is_left_open(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from lessonbook.core.errors import SetupError\n"
        "from lessonbook.system import git; before = os.listdir('/dev/fd')\n"
        "try:\n    git.Started(Path('/'), 'version')\n"
        "except SetupError as error:\n    print(error, len(os.listdir('/dev/fd')) - len(before))\n"
    )
    env = {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("git is not installed") and done.stdout.endswith(" 0\n"), done.stderr


def test_where_children_leave_no_trace_git_is_still_asked(folder: Path) -> None:
    script = (
        "import signal, sys; from pathlib import Path; from lessonbook.system import git\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "print(git.run(Path(sys.argv[1]), 'rev-parse', '--git-dir'))\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "b'.git\\n'\n", done.stderr
