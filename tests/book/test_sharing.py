"""A team's book over real git remotes: a bare folder, and ssh and https as far as a test can go without a network."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.fetching import SKIPPED_MOST
from lessonbook.book.offer import Offer, offer
from lessonbook.book.pins import pin, pins, unpin
from lessonbook.book.pulling import pull
from lessonbook.book.pushing import push
from lessonbook.book.rejecting import reject
from lessonbook.book.remembered import rejected
from lessonbook.book.undoing import undo
from lessonbook.system import faults

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder)], check=True)
    return folder


@pytest.fixture
def mate(repo: Any, tmp_path: Path) -> Any:
    """Another person's book, not there yet."""
    (tmp_path / "mate").mkdir()
    return type(repo)(tmp_path / "mate" / "learned")


def ids(repo: Any) -> list[str]:
    return [row["id"] for row in queue.pending(repo.folder)]


def refs(folder: Path) -> str:
    return subprocess.run(["git", "-C", str(folder), "for-each-ref"], capture_output=True, check=True, text=True).stdout


def ok(told: dict[str, Any]) -> dict[str, Any]:
    assert told["ok"], told
    return told


def test_a_book_goes_to_the_team_and_comes_to_the_next_person(repo: Any, mate: Any, team: Path) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    repo.propose(C, {"AGENTS.md": f"{BASE}\nRule c.\n"})
    ok(queue.accept(repo.folder, A, NOW))
    ok(reject(repo.folder, C, NOW, "no"))
    told = push(repo.folder, str(team))
    head = repo.git("rev-parse", "HEAD")
    nothing = {"ok": True, "remote": str(team), "commit": None, "new": [], "gone": [], "withheld": []}
    assert told == nothing | {"commit": head[:7], "new": [B]}
    assert push(repo.folder, str(team)) == nothing

    told = pull(mate.folder, str(team), NOW)
    assert told == {
        "ok": True, "remote": str(team), "commit": head[:7], "new": [B], "gone": [], "moved": [], "stale": [],
    }  # fmt: skip
    assert mate.text() == f"{BASE}\nRule a.\n" and mate.git("status", "--porcelain") == "" and ids(mate) == [B]
    assert [(row.id, row.reason) for row in rejected(mate.folder)] == [(C, "no")]
    assert mate.git("remote") == "" and mate.git("fsck", "--no-dangling", "--strict") == ""
    ok(undo(mate.folder, A, NOW))
    ok(queue.accept(mate.folder, B, NOW))


def test_decisions_meet(repo: Any, mate: Any, team: Path) -> None:
    """What one accepts or rejects leaves the other's queue, and everybody's at the remote."""
    for id, name in ((A, "a"), (B, "b"), (C, "c")):
        repo.propose(id, {f"skills/{name}/SKILL.md": f"{name}\n"})
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    ok(queue.accept(mate.folder, A, NOW))
    ok(reject(mate.folder, B, NOW, "mine is better"))
    told = ok(push(mate.folder, str(team)))
    assert told["gone"] == [A, B] and "pending/" + C in refs(team) and "pending/" + A not in refs(team)
    repo.propose("20270301-110000-0000dd", {"AGENTS.md": f"{BASE}\nMine.\n"})
    told = ok(pull(repo.folder, str(team), NOW))
    assert told["gone"] == [A, B] and ids(repo) == [C, "20270301-110000-0000dd"]
    assert told["moved"] == [C, "20270301-110000-0000dd"] and repo.text("skills/a/SKILL.md") == "a\n"
    assert repo.git("status", "--porcelain") == ""
    assert [row.reason for row in rejected(repo.folder)] == ["mine is better"]


def test_a_candidate_that_conflicts_with_the_teams_book_is_stale(repo: Any, mate: Any, team: Path) -> None:
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    repo.propose(A, {"AGENTS.md": "One way.\n"})
    ok(queue.accept(repo.folder, A, NOW))
    ok(push(repo.folder, str(team)))
    mate.propose(B, {"AGENTS.md": "Another way.\n"})
    assert ok(pull(mate.folder, str(team), NOW))["stale"] == [B] and mate.text() == "One way.\n"
    assert queue.pending(mate.folder)[0]["stale"]


def test_what_went_different_ways_is_never_forced(repo: Any, mate: Any, team: Path) -> None:
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    repo.commit({"AGENTS.md": "One.\n"})
    ok(push(repo.folder, str(team)))
    mate.commit({"AGENTS.md": "Two.\n"})
    before, there = mate.state(), refs(team)
    assert "pull first" in push(mate.folder, str(team))["error"]
    assert "different ways" in pull(mate.folder, str(team), NOW)["error"]
    assert mate.state() == before and refs(team) == there


def test_a_bare_repository_whose_head_names_another_branch_is_shared_over(repo: Any, mate: Any, team: Path) -> None:
    (team / "HEAD").write_text("ref: refs/heads/master\n")
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    ok(push(repo.folder, str(team)))
    assert ok(pull(mate.folder, str(team), NOW))["new"] == [A] and mate.text() == BASE
    ok(queue.accept(mate.folder, A, NOW))
    assert ok(push(mate.folder, str(team)))["gone"] == [A]
    assert ok(pull(repo.folder, str(team), NOW))["commit"] and repo.text() == mate.text()


def test_whoever_pushes_second_is_told_to_pull_first(repo: Any, team: Path, tmp_path: Path) -> None:
    ok(push(repo.folder, str(team)))
    others = [type(repo)(tmp_path / f"mate{n}" / "learned") for n in range(3)]
    for n, other in enumerate(others):
        other.folder.parent.mkdir()
        ok(pull(other.folder, str(team), NOW))
        other.commit({"AGENTS.md": f"{BASE}\nBy {n}.\n"})
    with ThreadPoolExecutor(3) as pool:
        told = list(pool.map(lambda other: push(other.folder, str(team)), others))
    assert sorted(one["ok"] for one in told) == [False, False, True], told
    assert all(one["ok"] or "pull first" in one["error"] for one in told), told


@pytest.mark.parametrize("kind", ["tree", "blob", "tag"])
def test_a_pending_branch_of_the_team_that_is_no_commit_hides_no_other(
    repo: Any, mate: Any, team: Path, kind: str
) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    ok(push(repo.folder, str(team)))
    repo.git("tag", "-m", "x", "x")
    repo.git("push", "-q", str(team), "refs/tags/x")
    oid = repo.git("rev-parse", {"tree": "HEAD^{tree}", "blob": "HEAD:AGENTS.md", "tag": "x"}[kind])
    (team / "refs/heads/pending" / B).write_text(f"{oid}\n")
    assert ok(pull(mate.folder, str(team), NOW))["new"] == [A]
    (team / "refs/heads/main").write_text(f"{oid}\n")
    assert "holds no book to pull" in pull(mate.folder, str(team), NOW)["error"]


def test_a_person_who_already_has_candidates_joins(mate: Any, repo: Any, team: Path) -> None:
    ok(push(repo.folder, str(team)))
    [id] = offer(mate.folder, [Offer("mine", "My rule.")], NOW, lambda: "0000aa")
    told = ok(pull(mate.folder, str(team), NOW))
    assert told["moved"] == [id] and mate.text() == BASE and ids(mate) == [id]
    ok(queue.accept(mate.folder, id, NOW))
    assert mate.text() == f"{BASE}\nMy rule.\n"
    ok(push(mate.folder, str(team)))


def test_uncommitted_edits_are_kept(repo: Any, mate: Any, team: Path) -> None:
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    repo.commit({"AGENTS.md": "One.\n"})
    ok(push(repo.folder, str(team)))
    mate.write({"AGENTS.md": "an edit of mine\n"})
    before = mate.state()
    assert "uncommitted changes to AGENTS.md" in pull(mate.folder, str(team), NOW)["error"] and mate.state() == before


def test_what_a_book_does_not_hold_is_not_taken_over(repo: Any, mate: Any, team: Path) -> None:
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    (repo.folder / "skills").symlink_to("/etc")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "link")
    ok(push(repo.folder, str(team)))
    before = mate.state()
    assert "skills is a symbolic link" in pull(mate.folder, str(team), NOW)["error"] and mate.state() == before


def test_secrets_stay_here(repo: Any, mate: Any, team: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    repo.propose(A, {"AGENTS.md": f"{BASE}\nToken {secret}\n"})
    repo.propose(B, {"AGENTS.md": f"{BASE}\nRule b.\n"})
    repo.propose(C, {"AGENTS.md": f"{BASE}\nKey {secret}\n"})
    ok(reject(repo.folder, C, NOW))
    told = ok(push(repo.folder, str(team)))
    assert (told["new"], told["withheld"]) == ([B], [A]) and C not in refs(team)
    repo.commit({"AGENTS.md": f"{secret}\n"})
    repo.commit({"AGENTS.md": "Gone again.\n"})
    before = refs(team)
    assert "secret" in push(repo.folder, str(team))["error"] and refs(team) == before
    objects = subprocess.run(
        ["git", "-C", str(team), "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
    )
    assert secret.encode() not in objects.stdout


def test_a_book_somebody_works_in_is_not_pushed_to(repo: Any, make_repo: Callable[..., Any]) -> None:
    other = make_repo("other")
    repo.git("fetch", "-q", str(other.folder), "main")
    repo.git("reset", "-q", "--hard", "FETCH_HEAD")
    repo.commit({"AGENTS.md": "New.\n"})
    before = other.state()
    assert "--bare" in push(repo.folder, str(other.folder))["error"] and other.state() == before


@pytest.mark.parametrize("where", ["ext::sh -c touch% x", "--upload-pack=touch x", "http://h/x", "nowhere", "/no", ""])
def test_bad_remotes_are_refused_with_nothing_changed(repo: Any, mate: Any, where: str) -> None:
    before = repo.state()
    for told in (pull(repo.folder, where, NOW), push(repo.folder, where), pull(mate.folder, where, NOW)):
        assert told["ok"] is False and told["error"]
    assert repo.state() == before and not mate.folder.exists()


def test_a_remote_by_name_is_only_an_address(repo: Any, team: Path, tmp_path: Path) -> None:
    repo.git("remote", "add", "team", str(team))
    ok(push(repo.folder, "team"))
    repo.git("config", "remote.team.url", f"ext::touch {tmp_path}/ran")
    assert push(repo.folder, "team")["ok"] is False and not (tmp_path / "ran").exists()


def test_no_program_of_either_repository_runs(repo: Any, mate: Any, team: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\nexit 0\n")
    program.chmod(0o755)
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    for git_dir in (team, repo.folder / ".git"):
        (git_dir / "hooks").mkdir(exist_ok=True)
        names = "pre-receive update post-receive post-update reference-transaction pre-push proc-receive"
        for name in names.split():
            (git_dir / "hooks" / name).unlink(missing_ok=True)
            (git_dir / "hooks" / name).symlink_to(program)
        keys = "core.sshCommand core.fsmonitor core.gitProxy credential.helper uploadpack.packObjectsHook"
        for key in [*keys.split(), "core.alternateRefsCommand", "core.askPass", "gpg.program", "core.pager"]:
            subprocess.run(["git", "--git-dir", str(git_dir), "config", key, str(program)], check=True)
    repo.git("config", f"url.ext::{program} .insteadOf", str(team))
    marker.unlink(missing_ok=True)  # what planting it started
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    ok(pull(repo.folder, str(team), NOW))
    for address in ("ssh://127.0.0.1:1/x", "git@127.0.0.1.invalid:x", "https://127.0.0.1:1/x"):
        assert push(repo.folder, address)["ok"] is False
    assert not marker.exists()


def test_ssh_is_the_one_on_path_and_is_never_asked_to_prompt(
    repo: Any, mate: Any, team: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for ssh that runs the command here, as the other end would: the whole way of an ssh address."""
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\necho "$HOME $*" >> {tmp_path}/asked\n'
        'while [ "${1#-}" != "$1" ]; do [ "$1" = -o ] || [ "$1" = -p ] && shift; shift; done\nshift\nexec sh -c "$*"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    repo.git("config", "core.sshCommand", "false")
    told = push(repo.folder, f"ana@books.example:{team}")
    assert told["ok"], told
    assert ok(pull(mate.folder, f"ssh://ana@books.example:2222{team}", NOW))["commit"] and mate.text() == BASE
    asked = (tmp_path / "asked").read_text().splitlines()
    assert all("BatchMode=yes" in line and line.startswith(os.environ["HOME"]) for line in asked) and len(asked) == 4
    assert "ana@books.example git-receive-pack" in asked[1]


def test_https_takes_only_logins_and_certificates_of_the_persons_own_git(repo: Any, home: Path, tmp_path: Path) -> None:
    """Nothing answers, so the way ends there: what matters is that only the person's own helper is asked."""
    from lessonbook.core.remote import remote
    from lessonbook.system.gitremote import connected

    (home / ".gitconfig").write_text(
        "[credential]\n\thelper = mine\n[http]\n\tproxy = http://127.0.0.1:1\n[core]\n\thooksPath = /x\n"
    )
    repo.git("config", "credential.helper", "theirs")
    with connected(repo.folder, remote("https://books.example/x")) as line:
        env = line._own()
    assert [env[f"GIT_CONFIG_{part}_{n}"] for n in (0, 1) for part in ("KEY", "VALUE")] == [
        "credential.helper", "mine", "http.proxy", "http://127.0.0.1:1",
    ]  # fmt: skip
    assert env["GIT_CONFIG_COUNT"] == "2"
    told = push(repo.folder, "https://books.example/x")
    assert told["ok"] is False and "could not be reached" in told["error"]


def test_the_number_of_processes_never_grows(make_repo: Callable[..., Any], tmp_path: Path, counted: Path) -> None:
    seen = []
    for count in (3, 40):
        repo, bare = make_repo(f"book{count}"), tmp_path / f"team{count}.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
        hexes = (f"{n:06x}" for n in range(count))
        offer(repo.folder, [Offer(f"t{n}", f"Sentence {n} about {n}.") for n in range(count)], NOW, hexes.__next__)
        counted.write_text("")
        assert len(ok(push(repo.folder, str(bare)))["new"]) == count
        pushing = len(counted.read_text().split())
        counted.write_text("")
        assert len(ok(pull(tmp_path / f"mate{count}" / "learned", str(bare), NOW))["new"]) == count
        seen.append((pushing, len(counted.read_text().split())))
    assert seen[0] == seen[1] and max(seen[0]) <= 40, seen


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book.pulling import pull
from lessonbook.book.pushing import push
from lessonbook.system import faults
faults.arm(sys.argv[4])
push(Path(sys.argv[1]), sys.argv[3])
pull(Path(sys.argv[2]), sys.argv[3], 1800000000)
"""
POINTS = [
    "push.sent",
    "pull.fetched",
    "pull.moved",
    "accept.index-ready",
    "branches.intended",
    "branches.moved",
    "accept.moved",
]
POINTS += [
    "accept.file-written",
    "accept.index-replaced",
    "accept.finished",
    "files.before-rename",
    "files.after-rename",
    "restack.written",
    "restack.moved",
]


def test_the_points_are_all_that_are_passed(repo: Any, mate: Any, team: Path) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    passed = faults.record()
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    faults._log = None
    assert set(passed) == set(POINTS)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_step_is_made_good_by_the_next_call(repo: Any, mate: Any, team: Path, point: str) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(team.parent)}
    words = [sys.executable, "-c", _KILLED, str(repo.folder), str(mate.folder), str(team), point]
    assert subprocess.run(words, env=env, check=False).returncode == -signal.SIGKILL
    ok(push(repo.folder, str(team)))
    ok(pull(mate.folder, str(team), NOW))
    assert mate.text() == BASE and ids(mate) == [A] and mate.git("status", "--porcelain") == ""


def test_pins_go_to_the_team_and_come_from_it(repo: Any, mate: Any, team: Path) -> None:
    assert pin(repo.folder, "linter")["ok"]
    blob = repo.git("hash-object", "-w", "--stdin", data=b"paragraph\nghp_" + b"a1B2" * 9)
    repo.git("update-ref", f"refs/lessonbook/pins/{'ab' * 16}", blob)
    repo.git("update-ref", "refs/lessonbook/pins/other", blob)
    ok(push(repo.folder, str(team)))
    assert refs(team).count("refs/lessonbook/pins/") == 1
    ok(pull(mate.folder, str(team), NOW))
    assert [(p.text, p.here) for p in pins(mate.folder)] == [("Run the linter first.", True)]
    assert unpin(mate.folder, "linter")["ok"] and pins(mate.folder) == []
    ok(push(mate.folder, str(team)))
    assert refs(team).count("refs/lessonbook/pins/") == 1
    before = refs(mate.folder)
    assert ok(push(mate.folder, str(team)))["commit"] is None and refs(mate.folder) == before


MALFORMED = "tree {tree}\nparent {head}\nauthor x <x@x> 1 +0000\ncommitter x 1 +0000\n\nLesson from a replay: x\n"
"""A commit as git would not write it: the committer has no address."""


def at_remote(team: Path, *words: str, data: str = "") -> str:
    done = subprocess.run(["git", "-C", str(team), *words], input=data.encode(), capture_output=True, check=True)
    return done.stdout.decode().strip()


def lost(team: Path, oid: str) -> None:
    """Remove an object of the remote, as a disk that was full or a copy that was cut off does."""
    (team / "objects" / oid[:2] / oid[2:]).unlink()


BAD_REFS: dict[str, Callable[[Path, str], object]] = {
    "names a commit nobody has": lambda team, ref: (team / ref).write_text("12" * 20 + "\n"),
    "names nothing": lambda team, ref: (team / ref).write_text("no object\n"),
    "its commit is lost": lambda team, ref: lost(team, at_remote(team, "rev-parse", ref)),
    "its text is lost": lambda team, ref: lost(team, at_remote(team, "rev-parse", f"{ref}:skills/bad/SKILL.md")),
    "its commit is malformed": lambda team, ref: at_remote(
        *(team, "update-ref", ref),
        at_remote(
            *(team, "hash-object", "-t", "commit", "-w", "--stdin", "--literally"),
            data=MALFORMED.format(
                tree=at_remote(team, "rev-parse", "main^{tree}"), head=at_remote(team, "rev-parse", "main")
            ),
        ),
    ),
}


@pytest.fixture
def full_team(repo: Any, team: Path) -> Path:
    """A team's book with three candidates, one of which lies in loose objects of its own."""
    for id, name in ((A, "a"), (B, "bad"), (C, "c")):
        repo.propose(id, {f"skills/{name}/SKILL.md": f"{name}\n"})
    subprocess.run(["git", "-C", str(team), "config", "receive.unpackLimit", "1000"], check=True)
    ok(push(repo.folder, str(team)))
    return team


@pytest.mark.parametrize("what", BAD_REFS)
def test_a_branch_that_cannot_be_fetched_is_left_out_by_name(mate: Any, full_team: Path, what: str) -> None:
    BAD_REFS[what](full_team, f"refs/heads/pending/{B}")
    told = ok(pull(mate.folder, str(full_team), NOW))
    assert (told["new"], told["skipped"]) == ([A, C], [f"refs/heads/pending/{B}"]) and ids(mate) == [A, C]
    assert mate.git("fsck", "--no-dangling", "--strict") == ""
    assert ok(pull(mate.folder, str(full_team), NOW))["skipped"] == [f"refs/heads/pending/{B}"]


def test_several_that_cannot_be_fetched_are_all_left_out(mate: Any, full_team: Path) -> None:
    for n, what in enumerate(BAD_REFS):
        if "lost" not in what:
            BAD_REFS[what](full_team, f"refs/heads/pending/2027030{n + 2}-080000-0000aa")
    kept = full_team / "refs/lessonbook/rejected"
    kept.mkdir(parents=True)
    (kept / A).write_text("34" * 20 + "\n")
    lost(full_team, at_remote(full_team, "rev-parse", f"pending/{B}:skills/bad/SKILL.md"))
    told = ok(pull(mate.folder, str(full_team), NOW))
    assert told["new"] == [A, C] and len(told["skipped"]) == 5 and f"refs/lessonbook/rejected/{A}" in told["skipped"]


def test_a_head_that_cannot_be_fetched_or_too_much_of_it_is_an_error(mate: Any, full_team: Path) -> None:
    for n in range(SKIPPED_MOST + 1):
        BAD_REFS["names a commit nobody has"](full_team, f"refs/heads/pending/20270302-0800{n:02}-0000aa")
    told = pull(mate.folder, str(full_team), NOW)
    assert not told["ok"] and "not our ref" in told["error"] and queue.pending(mate.folder) == []
    lost(full_team, at_remote(full_team, "rev-parse", "main"))
    told = pull(mate.folder, str(full_team), NOW)
    assert not told["ok"] and "could not be reached or refused" in told["error"]


def test_a_damaged_branch_of_our_own_does_not_stop_a_pull(mate: Any, full_team: Path) -> None:
    ok(pull(mate.folder, str(full_team), NOW))
    (mate.folder / ".git/refs/heads/pending/20270305-080000-0000aa").write_text("56" * 20 + "\n")
    (full_team / f"refs/heads/pending/{B}").unlink()
    at_remote(full_team, "update-ref", "refs/heads/pending/20270306-080000-0000aa", f"pending/{C}")
    assert ok(pull(mate.folder, str(full_team), NOW))["new"] == ["20270306-080000-0000aa"]
