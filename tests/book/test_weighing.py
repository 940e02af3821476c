"""What a team's remote holds that is too much to look into: left out by name, and everything else comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.pins import pins
from lessonbook.book.pulling import pull
from lessonbook.book.pushing import push
from lessonbook.book.rejecting import reject
from lessonbook.book.remembered import rejected
from lessonbook.book.weighing import DEPTH_MOST, FILE_MOST, FILES_MOST, TEXT_MOST

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"


class Team:
    """A bare repository, into which a test puts what no git of ours would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)

    def git(self, *args: str, data: bytes = b"") -> str:
        words = ["git", "--git-dir", str(self.folder), "-c", "user.name=Ana", "-c", "user.email=a@example.org", *args]
        return subprocess.run(words, input=data, capture_output=True, check=True).stdout.decode().strip()

    def blob(self, data: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", data=data)

    def tree(self, rows: dict[str, str]) -> str:
        """A tree of names and objects; a name that ends with a slash is a folder's."""
        kinds = (("040000 tree", name[:-1], oid) if name.endswith("/") else ("100644 blob", name, oid)
                 for name, oid in rows.items())  # fmt: skip
        return self.git("mktree", data="".join(f"{kind} {oid}\t{name}\n" for kind, name, oid in kinds).encode())

    def commit(self, tree: str, message: bytes = b"Lesson from a replay: x\n") -> str:
        return self.git("commit-tree", tree, "-p", "main", data=message)

    def put(self, ref: str, oid: str) -> None:
        path = self.folder / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{oid}\n")

    def refs(self) -> dict[str, str]:
        return dict(
            row.split(" ") for row in self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        )


@pytest.fixture
def team(repo: Any, tmp_path: Path) -> Team:
    """What one person shared: a candidate, and the rejection of another."""
    made = Team(tmp_path / "team.git")
    repo.propose(A, {"skills/a/SKILL.md": "a\n"})
    repo.propose(C, {"skills/c/SKILL.md": "c\n"})
    assert reject(repo.folder, C, NOW, "no")["ok"] and push(repo.folder, str(made.folder))["ok"]
    return made


@pytest.fixture
def mate(repo: Any, tmp_path: Path) -> Any:
    (tmp_path / "mate").mkdir()
    return type(repo)(tmp_path / "mate" / "learned")


def nested(team: Team, levels: int, width: int) -> str:
    """A tree of ``width`` times the same folder, ``levels`` deep: that many files to the power of that."""
    tree = team.tree({"x.md": team.blob(b"x\n")})
    for _ in range(levels):
        tree = team.tree({f"d{number}/": tree for number in range(width)})
    return tree


def skills(team: Team, tree: str) -> str:
    return team.tree({"AGENTS.md": team.git("rev-parse", "main:AGENTS.md"), "skills/": team.tree({"x/": tree})})


def many(team: Team, number: int) -> str:
    blob = team.blob(b"x\n")
    return skills(team, team.tree({f"f{at}.md": blob for at in range(number)}))


def rules(team: Team, data: bytes) -> str:
    return team.tree({"AGENTS.md": team.blob(data)})


HEAVY: dict[str, Callable[[Team], str]] = {
    "a bomb": lambda team: team.commit(skills(team, nested(team, 9, 10))),
    "too deep": lambda team: team.commit(skills(team, nested(team, DEPTH_MOST, 1))),
    "too many files": lambda team: team.commit(many(team, FILES_MOST)),
    "a large file": lambda team: team.commit(skills(team, team.tree({"a.md": team.blob(b"x" * (FILE_MOST + 1))}))),
    "a large AGENTS.md": lambda team: team.commit(rules(team, b"x" * (TEXT_MOST + 1))),
    "a large message": lambda team: team.commit(rules(team, b"y\n"), b"x" * TEXT_MOST),
    "above a bomb": lambda team: team.git(
        "commit-tree", rules(team, b"y\n"), "-p", team.commit(skills(team, nested(team, 9, 10))), "-m", "x"
    ),
}


@pytest.mark.parametrize("what", HEAVY)
@pytest.mark.parametrize("ref", [f"refs/heads/pending/{B}", f"refs/lessonbook/rejected/{B}"])
def test_what_is_too_much_is_left_out_and_the_rest_comes(mate: Any, team: Team, what: str, ref: str) -> None:
    team.put(ref, HEAVY[what](team))
    started = time.monotonic()
    told = pull(mate.folder, str(team.folder), NOW)
    assert told["ok"] and (told["new"], told["skipped"]) == ([A], [ref]), told
    assert [row["id"] for row in queue.pending(mate.folder)] == [A]
    assert [row.id for row in rejected(mate.folder)] == [C]
    again = pull(mate.folder, str(team.folder), NOW)
    assert again["ok"] and (again["new"], again["skipped"], again["commit"]) == ([], [ref], None)
    assert queue.accept(mate.folder, A, NOW)["ok"]
    told = push(mate.folder, str(team.folder))
    assert told["ok"] and told["gone"] == [A] and ref in team.refs()
    assert time.monotonic() - started < 300


def test_what_is_just_not_too_much_comes(mate: Any, team: Team) -> None:
    team.put(f"refs/heads/pending/{B}", team.commit(many(team, FILES_MOST - 1)))
    text = b"x" * 60 + b"\n"
    files = {"a.md": team.blob(text * (FILE_MOST // len(text))), "b.md": team.blob(b"b\n")}
    other = "20270301-090000-0000bc"
    team.put(f"refs/heads/pending/{other}", team.commit(skills(team, team.tree(files))))
    long = "20270301-090000-0000bd"
    team.put(f"refs/heads/pending/{long}", team.commit(rules(team, text * (TEXT_MOST // len(text)))))
    told = pull(mate.folder, str(team.folder), NOW)
    assert told["ok"] and told["new"] == [A, B, other, long] and "skipped" not in told
    assert [row["over"] for row in queue.pending(mate.folder)] == [None, None, None, TEXT_MOST // 61 * 61]


def test_a_book_that_is_a_bomb_is_refused_and_one_with_a_large_file_is_not(mate: Any, team: Team) -> None:
    large = team.tree({"SKILL.md": team.blob(b"x" * (FILE_MOST + 1))})
    team.put("refs/heads/main", team.commit(skills(team, large), b"By hand\n"))
    assert pull(mate.folder, str(team.folder), NOW)["new"] == [A]
    team.put("refs/heads/main", team.commit(skills(team, nested(team, 9, 10)), b"By hand\n"))
    before = mate.state()
    told = pull(mate.folder, str(team.folder), NOW)
    assert told["ok"] is False and "more than 20,000 files" in told["error"] and mate.state() == before


def test_a_pin_that_is_a_large_file_is_left_out(mate: Any, team: Team) -> None:
    ref = f"refs/lessonbook/pins/{'ab' * 16}"
    team.put(ref, team.blob(b"paragraph\n" + b"x" * TEXT_MOST))
    assert pull(mate.folder, str(team.folder), NOW)["skipped"] == [ref] and pins(mate.folder) == []


@pytest.mark.parametrize("start", ["rejected", "accepted-with"])
def test_refs_of_odd_names_are_not_taken_over_and_stand_in_nobodys_way(mate: Any, team: Team, start: str) -> None:
    head, base = team.git("rev-parse", "main"), f"refs/lessonbook/{start}"
    for name in (f"{A}/{B}", f"x/{B}", f"{B}.x", f"{B}.", f"{B}-1"):
        if not (team.folder / base / name).exists():
            team.put(f"{base}/{name}", head)
    (mate.folder).mkdir()
    mate.git("init", "-q", "-b", "main")
    told = pull(mate.folder, str(team.folder), NOW)
    assert told["ok"] and told["new"] == [A], told
    assert reject(mate.folder, A, NOW)["ok"] and pull(mate.folder, str(team.folder), NOW)["ok"]
    names = mate.git("for-each-ref", "--format=%(refname)", f"{base}/").splitlines()
    assert all(name.count("/") == 3 for name in names), names


def test_a_thousand_branches_and_every_odd_one_among_them(repo: Any, mate: Any, team: Team) -> None:
    head, tree = team.git("rev-parse", "main"), team.git("rev-parse", "main^{tree}")
    rows = [f"create refs/heads/other/{n} {head}\n" for n in range(1000)]
    made = [f"20270401-{n // 3600:02d}{n // 60 % 60:02d}{n % 60:02d}-{n:06x}" for n in range(1000)]
    stream = []
    for n, id in enumerate(made):
        text = f"Lesson from a replay: {n}\n"
        who = "committer D <d@example.org> 1700000000 +0000"
        stream.append(f"commit refs/heads/pending/{id}\n{who}\ndata {len(text)}\n{text}\nfrom {head}\n")
        stream.append(f"M 100644 inline skills/s{n}/SKILL.md\ndata 2\nx\n\n")
    team.git("fast-import", "--quiet", data="".join(stream).encode())
    team.git("update-ref", "--stdin", data="".join(rows).encode())
    odd = "refs/heads/pending"
    for name, oid in ((B, "1" * 40), ("20270301-090001-0000bb", team.blob(b"x")), ("20270301-090002-0000bb", tree),
                      ("20270301-090003-0000bb", "no object"), ("20270301-090004-0000bb/x", head), ("é", head),
                      ("-rf", head), ("20270301-090005-0000bb\u202e", head), ("A" * 200, head)):  # fmt: skip
        team.put(f"{odd}/{name}", oid)
    team.put(f"{odd}/20270301-090006-0000bb", "ref: refs/heads/nowhere")
    told = pull(mate.folder, str(team.folder), NOW)
    assert told["ok"] and told["new"] == [A, *made] and f"{odd}/{B}" in told["skipped"], told
    assert len(queue.pending(mate.folder)) == 1001 and mate.git("fsck", "--no-dangling", "--strict") == ""
    assert mate.git("for-each-ref", "refs/theirs", "refs/ours", "refs/send") == ""
    refs = set(mate.git("for-each-ref", "--format=%(refname)").splitlines())
    assert refs == {"refs/heads/main", f"refs/lessonbook/rejected/{C}", *(f"{odd}/{id}" for id in (A, *made))}


def test_a_remote_that_lacks_objects_loses_nobodys_candidate(repo: Any, mate: Any, team: Team) -> None:
    """git refuses to move a ref there, and would remove others of the same push all the same."""
    assert pull(mate.folder, str(team.folder), NOW)["ok"] and queue.accept(mate.folder, A, NOW)["ok"]
    before = team.refs()
    team.put(f"refs/heads/pending/{B}", "1" * 40)
    told = push(mate.folder, str(team.folder))
    assert told["ok"] is False and "bad object" in told["error"] and "pull first" not in told["error"], told
    (team.folder / f"refs/heads/pending/{B}").unlink()
    assert team.refs() == before
    told = push(mate.folder, str(team.folder))
    assert told["ok"] and told["gone"] == [A] and f"refs/heads/pending/{A}" not in team.refs()


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book.pushing import push
from lessonbook.system import faults
faults.arm(sys.argv[3])
push(Path(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.parametrize("point", ["push.sent", "push.removed"])
def test_a_kill_between_what_goes_there_and_what_leaves_is_made_good(mate: Any, team: Team, point: str) -> None:
    assert pull(mate.folder, str(team.folder), NOW)["ok"] and queue.accept(mate.folder, A, NOW)["ok"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(team.folder.parent)}
    words = [sys.executable, "-c", _KILLED, str(mate.folder), str(team.folder), point]
    assert subprocess.run(words, env=env, check=False).returncode == -signal.SIGKILL
    assert team.git("rev-parse", "main") == mate.git("rev-parse", "HEAD")
    told = push(mate.folder, str(team.folder))
    assert told["ok"] and told["gone"] == ([A] if point == "push.sent" else []) and told["commit"] is None
    assert f"refs/heads/pending/{A}" not in team.refs()


def test_a_lock_that_is_left_there_is_said(mate: Any, team: Team) -> None:
    assert pull(mate.folder, str(team.folder), NOW)["ok"]
    mate.commit({"AGENTS.md": "New.\n"})
    lock = team.folder / "refs/heads/main.lock"
    lock.touch()
    before = team.refs()
    told = push(mate.folder, str(team.folder))
    assert told["ok"] is False and "in the way there" in told["error"] and "refs/heads/main" in told["error"], told
    assert team.refs() == before and lock.exists()
    lock.unlink()
    assert push(mate.folder, str(team.folder))["ok"]
