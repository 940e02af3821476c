"""Accepting many at once, and part of one: one move, one commit each, and a refusal leaves the others."""

from __future__ import annotations

import os
import shutil
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
from lessonbook.book.editing import edit
from lessonbook.book.many import accept_many
from lessonbook.book.sentences import STALE
from lessonbook.book.splitting import split
from lessonbook.core.reviewer import Reviewer

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
D = "20270301-110000-0000dd"
NOW = 1_800_000_000
ANA = Reviewer("Ana Lee", "ana@example.org")
RULE = "Run the linter first.\n"


def rule(text: str) -> dict[str, str]:
    return {"AGENTS.md": f"{RULE}\n{text}\n"}


def test_many_are_one_line_of_history_in_one_move(repo: Any) -> None:
    repo.propose(A, rule("A."), author="Ada <a@x> 1772352000 +0100")
    repo.propose(B, {"skills/b/SKILL.md": "b\n"}, author="Bob <b@x> 1772352001 +0000")
    repo.propose(C, rule("C."), author="Cid <c@x> 1772352002 +0000")
    repo.propose(D, rule("D."))
    head = repo.git("rev-parse", "HEAD")
    told = accept_many(repo.folder, [B, A, C, B], NOW, ANA)
    commits = repo.git("log", "--reverse", "--format=%h %an %cn %ct", f"{head}..").split("\n")
    assert [line.split(" ", 1)[1] for line in commits] == [f"{name} Ana Lee {NOW}" for name in ("Bob", "Ada", "Cid")]
    ids = [{"id": id, "commit": line.split()[0][:7]} for id, line in zip([B, A, C], commits, strict=True)]
    assert told == {"ok": True, "accepted": ids, "refused": [], "moved": [D], "stale": []}
    assert repo.text() == f"{RULE}\nA.\n\nC.\n" and repo.text("skills/b/SKILL.md") == "b\n"
    assert [(row.id, row.stale) for row in queue.candidates(repo.folder)] == [(D, None)]
    assert repo.git("status", "--porcelain") == "" and repo.git("rev-list", "--count", "--merges", "HEAD") == "0"
    assert repo.git("reflog", "show", "--format=%gs", "main").split("\n")[0] == f"lessonbook: accept {B} and 2 more"


def test_each_refusal_leaves_the_others(repo: Any, tmp_path: Path) -> None:
    others = [f"20270301-12000{n}-0000ee" for n in range(4)]
    repo.propose(A, {"AGENTS.md": "Run the linter twice.\n"})
    repo.propose(B, {"AGENTS.md": "Run the linter last.\n"})
    repo.propose(C, rule("x" * 2000))
    repo.propose(D, {"skills/d/SKILL.md": "d\n"})
    repo.propose(others[0], {"skills/w/SKILL.md": "w\n"})
    repo.propose(others[1], {"notes.txt": "n\n"})
    repo.propose(others[2], {"skills/s/SKILL.md": "ghp_" + "a1B2" * 9})
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), f"pending/{others[0]}")
    repo.write({"skills/d/SKILL.md": "mine\n"})
    told = accept_many(repo.folder, ["nope", A, B, C, D, *others], NOW)
    why = {row["id"]: row["error"] for row in told["refused"]}
    assert [row["id"] for row in told["accepted"]] == [A] and told["ok"] is False
    assert why[B] == STALE and "past the 2,000" in why[C] and "uncommitted" in why[D]
    assert "checked out" in why[others[0]] and "notes.txt" in why[others[1]] and "secret" in why[others[2]]
    assert "nothing is pending" in why[others[3]] and "not the id" in why["nope"] and len(why) == 8
    assert next(row for row in told["refused"] if row["id"] == C)["length"] == 2024
    assert repo.text() == "Run the linter twice.\n" and repo.text("skills/d/SKILL.md") == "mine\n"
    assert B in told["stale"] and {C, D} <= set(told["moved"])


def test_nothing_to_do_and_what_stops_all(repo: Any, tmp_path: Path) -> None:
    repo.propose(A, rule("A."))
    empty = {"accepted": [], "moved": [], "stale": []}
    assert accept_many(repo.folder, [], NOW) == {"ok": True, "refused": [], **empty}
    before = repo.state()
    assert accept_many(repo.folder, ["x"], NOW)["refused"][0]["id"] == "x"
    assert "holds nothing" in accept_many(tmp_path / "no", [A], NOW)["refused"][0]["error"]
    with queue.book_locked(repo.folder):
        told = accept_many(repo.folder, [A, B], NOW)
    assert [("batch is running" in row["error"], row["id"]) for row in told["refused"]] == [(True, A), (True, B)]
    (repo.folder / ".git/index.lock").touch()
    assert "git's own lock" in accept_many(repo.folder, [A], NOW)["refused"][0]["error"]
    (repo.folder / ".git/index.lock").unlink()
    assert repo.state() == before


def test_a_compaction_among_many_takes_what_it_folded_in(repo: Any) -> None:
    repo.propose(A, rule("A."))
    repo.propose(B, {"AGENTS.md": "Lint. A.\n"}, message=f"Compact learned AGENTS.md\n\nIncludes: {A}\n")
    told = accept_many(repo.folder, [B, A], NOW)
    assert [row["commit"] for row in told["accepted"]] == [repo.git("rev-parse", "HEAD")[:7], None]
    assert repo.text() == "Lint. A.\n" and queue.candidates(repo.folder) == []


def test_files_that_come_and_go_in_one_move(repo: Any) -> None:
    repo.commit({"skills/x/SKILL.md": "old\n"})
    repo.propose(A, {"skills/x/SKILL.md": None})
    repo.propose(B, {"skills/y/SKILL.md": "y\n"})
    assert accept_many(repo.folder, [A, B], NOW)["ok"]
    repo.propose(C, {"skills/y/SKILL.md": None})
    repo.propose(D, rule("D."))
    assert accept_many(repo.folder, [C, D], NOW)["ok"]
    assert repo.git("ls-files").split() == ["AGENTS.md"] and repo.git("status", "--porcelain") == ""
    assert not (repo.folder / "skills").exists()


# part of one


def test_part_of_a_candidate_and_the_rest_waits_under_its_id(repo: Any) -> None:
    files = {**rule("A."), "skills/x/SKILL.md": "x\n", "skills/x/b": "b\n"}
    repo.propose(A, files, message="Lesson from a replay: a\n\nEvidence-key: k\n")
    repo.propose(B, rule("B."))
    told = queue.accept(repo.folder, A, NOW, only=["AGENTS.md"])
    head = repo.git("rev-parse", "HEAD")[:7]
    rest = ["skills/x/SKILL.md", "skills/x/b"]
    assert told == {"ok": True, "id": A, "commit": head, "moved": [A, B], "stale": [], "rest": rest}
    assert repo.text() == f"{RULE}\nA.\n" and not (repo.folder / "skills").exists()
    rows = queue.candidates(repo.folder)
    assert [(row.id, row.files, row.stale) for row in rows] == [(A, tuple(rest), None), (B, ("AGENTS.md",), None)]
    assert rows[0].trailers == (("Evidence-key", "k"),)
    assert queue.accept(repo.folder, A, NOW, only=rest) == {
        "ok": True,
        "id": A,
        "commit": repo.git("rev-parse", "HEAD")[:7],
        "moved": [B],
        "stale": [],
        "rest": [],
    }
    assert repo.text("skills/x/b") == "b\n" and [row.id for row in queue.candidates(repo.folder)] == [B]


def test_a_part_can_be_taken_out_of_what_is_stale_or_refused(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "Run the linter last.\n", "skills/x/SKILL.md": "x\n", "notes.txt": "n\n"})
    repo.commit({"AGENTS.md": "Run the linter twice.\n"})
    assert "does not change b; it changes AGENTS.md" in queue.accept(repo.folder, A, NOW, only=["b"])["error"]
    assert queue.accept(repo.folder, A, NOW, only=["AGENTS.md"])["error"] == STALE
    assert "notes.txt" in queue.accept(repo.folder, A, NOW, only=["notes.txt"])["error"]
    told = queue.accept(repo.folder, A, NOW, only=["skills/x/SKILL.md"])
    assert (told["ok"], told["moved"], told["stale"]) == (True, [], [A])
    assert repo.text("skills/x/SKILL.md") == "x\n" and repo.text() == "Run the linter twice.\n"
    assert queue.candidates(repo.folder)[0].stale


def test_an_edit_elsewhere_stops_only_its_own_file(repo: Any) -> None:
    repo.propose(A, {**rule("A."), "skills/x/SKILL.md": "x\n"})
    repo.write({"AGENTS.md": "mine\n"})
    assert "uncommitted" in queue.accept(repo.folder, A, NOW)["error"]
    assert queue.accept(repo.folder, A, NOW, only=["skills/x/SKILL.md"])["ok"]
    assert repo.text() == "mine\n"


def test_what_stands_for_others_is_accepted_whole(repo: Any) -> None:
    repo.propose(A, rule("A."))
    files = {"AGENTS.md": "Lint. A.\n", "skills/x/SKILL.md": "x\n"}
    repo.propose(B, files, message=f"Compact learned AGENTS.md\n\nIncludes: {A}\n")
    before = repo.state()
    assert "only be accepted whole" in queue.accept(repo.folder, B, NOW, only=["AGENTS.md"])["error"]
    assert repo.state() == before


# who accepted, and how long it would be


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Lesson\n", "Lesson\n\nAccepted-by: Ana Lee <ana@example.org>\n"),
        ("Lesson", "Lesson\n\nAccepted-by: Ana Lee <ana@example.org>\n"),
        ("Lesson\n\nKey: v\nOther: w\n\n", "Lesson\n\nKey: v\nOther: w\nAccepted-by: Ana Lee <ana@example.org>\n"),
        ("Lesson\n\nKey: v\n  goes on\n", "Lesson\n\nKey: v\n  goes on\nAccepted-by: Ana Lee <ana@example.org>\n"),
        ("Lesson\n\nProse: and\nmore.\n", "Lesson\n\nProse: and\nmore.\n\nAccepted-by: Ana Lee <ana@example.org>\n"),
        ("Key: v\n", "Key: v\n\nAccepted-by: Ana Lee <ana@example.org>\n"),
    ],
)
def test_the_message_is_the_proposers_and_who_accepted_what(repo: Any, message: str, wanted: str) -> None:
    repo.propose(A, rule("A."), message=message)
    assert queue.accept(repo.folder, A, NOW, ANA)["ok"]
    raw = subprocess.run(["git", "-C", repo.folder, "cat-file", "commit", "HEAD"], capture_output=True, check=True)
    assert raw.stdout.partition(b"\n\n")[2].decode() == f"{wanted}Accepted-id: {A}\n"
    read = repo.git("log", "-1", "--format=%(trailers:key=Accepted-by,valueonly)")
    assert read.strip() == "Ana Lee <ana@example.org>"


def test_a_reviewer_is_written_in_the_messages_encoding(repo: Any) -> None:
    repo.propose(A, rule("A."))
    raw = repo.git("cat-file", "commit", f"pending/{A}").replace("\n\n", "\nencoding ISO-8859-1\n\n", 1)
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", data=raw.encode() + b"\ncaf\xe9\n")
    repo.git("update-ref", f"refs/heads/pending/{A}", commit)
    assert queue.accept(repo.folder, A, NOW, Reviewer("Zoë 李"))["ok"]
    assert "café" in repo.git("log", "-1", "--format=%B") and "Accepted-by: Zoë ?" in repo.git(
        "log", "-1", "--format=%B"
    )


def test_rows_say_what_would_be_too_long(repo: Any) -> None:
    repo.propose(A, rule("é" * 1990))
    repo.propose(B, rule("b" * (2000 - len(RULE) - 2)))
    repo.propose(C, {"skills/c/SKILL.md": "c" * 3000})
    repo.propose(D, {"AGENTS.md": "Rewritten.\n" + "d" * 3000})
    assert [row["over"] for row in queue.pending(repo.folder)] == [2014, None, None, 3011]
    assert "(over: 2,014 characters)" in queue_text(repo)
    assert queue.accept(repo.folder, B, NOW)["ok"]
    rows = queue.pending(repo.folder)
    assert [(row["over"], row["stale"] is None) for row in rows] == [(3992, True), (None, True), (4989, True)]
    for row in (rows[0], rows[2]):
        assert queue.accept(repo.folder, row["id"], NOW)["length"] == row["over"]


def test_shortening_what_is_too_long_already_is_not_over(make_repo: Any) -> None:
    repo = make_repo(files={"AGENTS.md": "x\n" * 2000})
    repo.propose(A, {"AGENTS.md": "x\n" * 1500})
    repo.propose(B, {"AGENTS.md": "x\n" * 2500})
    assert [row["over"] for row in queue.pending(repo.folder)] == [None, 5000]
    repo.propose(C, {"AGENTS.md": None})
    assert queue.pending(repo.folder)[2]["over"] is None


def queue_text(repo: Any) -> str:
    from lessonbook.book.wording import row_text

    return "\n".join(map(row_text, queue.candidates(repo.folder)))


# crashes and processes

_KILLED = """
import sys
from pathlib import Path
from lessonbook.book import many, queue
from lessonbook.system import faults
faults.arm(sys.argv[2], int(sys.argv[3]))
if sys.argv[4] == "many":
    many.accept_many(Path(sys.argv[1]), sys.argv[5:], 1800000000)
else:
    queue.accept(Path(sys.argv[1]), sys.argv[5], 1800000000, only=["AGENTS.md"])
"""
POINTS = [
    ("accept.index-ready", 1),
    ("branches.intended", 1),
    ("branches.moved", 1),
    ("accept.moved", 1),
    ("accept.file-written", 1),
]
POINTS += [("accept.file-written", 2), ("accept.index-replaced", 1), ("accept.finished", 1)]


def killed(repo: Any, point: tuple[str, int], *words: str) -> None:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _KILLED, str(repo.folder), point[0], str(point[1]), *words]
    assert subprocess.run(command, env=env, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_kill_in_the_move_of_many_leaves_none_or_all(repo: Any, point: tuple[str, int]) -> None:
    repo.propose(A, rule("A."))
    repo.propose(B, {**rule("B."), "skills/b/SKILL.md": "b\n"})
    repo.propose(C, rule("C."))
    killed(repo, point, "many", A, B)
    rows = [row.id for row in queue.candidates(repo.folder)]
    assert rows in ([A, B, C], [C])
    assert accept_many(repo.folder, rows, NOW)["ok"]
    assert repo.text() == f"{RULE}\nA.\n\nB.\n\nC.\n" and repo.git("status", "--porcelain") == ""
    assert repo.git("rev-list", "--count", "HEAD") == "4"


@pytest.mark.parametrize("point", POINTS[:4], ids=str)
def test_a_kill_while_a_part_is_accepted_loses_neither_part(repo: Any, point: tuple[str, int]) -> None:
    repo.propose(A, {**rule("A."), "skills/x/SKILL.md": "x\n"})
    killed(repo, point, "part", A)
    assert [row.id for row in queue.candidates(repo.folder)] == [A]
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert (repo.text(), repo.text("skills/x/SKILL.md")) == (f"{RULE}\nA.\n", "x\n")
    assert repo.git("status", "--porcelain") == ""


def test_the_number_of_processes_is_constant(make_repo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, wrapper = tmp_path / "starts", tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho x >> {log}\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")

    def starts(act: Any, *args: Any) -> int:
        log.write_text("")
        told = act(*args)
        assert isinstance(told, list) or told["ok"], told
        return len(log.read_text().split())

    seen = []
    for count in (4, 40):
        repo = make_repo(f"book{count}", {"AGENTS.md": "Base.\n"})
        ids = [f"20270301-08{n:04d}-00000a" for n in range(count)]
        for n, id in enumerate(ids):
            rules = "".join(f"\nRule {n} {m}.\n" for m in range(count // 2))
            repo.propose(id, {"AGENTS.md": f"Base.\n{rules}"[: 1900 // count], f"skills/s{n}/SKILL.md": "x\n"})
        numbers = [starts(queue.pending, repo.folder), starts(split, repo.folder, ids[-1], "file", NOW)]
        numbers.append(starts(edit, repo.folder, ids[-2], {f"skills/s{count}/SKILL.md": "y\n"}, NOW))
        skills = [f"skills/s{n}/SKILL.md" for n in range(count)]
        numbers.append(starts(queue.accept, repo.folder, ids[0], NOW, ANA, skills[:1]))
        numbers.append(starts(accept_many, repo.folder, ids[1:-2], NOW))
        seen.append(numbers)
    assert seen[0] == seen[1] and max(seen[0]) <= 14, seen


KINDS = ["rule", "skill", "rewrite", "drop", "day", "both", "long"]


class TestSame:
    """Accepting many at once comes to what accepting them one by one does."""

    @given(
        kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
        order=st.randoms(use_true_random=False),
    )
    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_as_one_by_one(self, make_repo: Any, kinds: list[str], order: Any) -> None:
        ids = [f"20270301-08000{n}-00000a" for n in range(len(kinds))]
        asked = ids.copy()
        order.shuffle(asked)
        ends = []
        for many in (True, False):
            repo = make_repo(f"book-{uuid.uuid4().hex}", {"AGENTS.md": "Base.\n", "skills/old/SKILL.md": "old\n"})
            for n, (id, kind) in enumerate(zip(ids, kinds, strict=True)):
                files: dict[str, dict[str, str | None]] = {
                    "rule": {"AGENTS.md": f"Base.\n\nRule {n}.\n"},
                    "skill": {f"skills/s{n}/SKILL.md": f"{n}\n"},
                    "rewrite": {"AGENTS.md": f"Rewritten {n}.\n"},
                    "drop": {"skills/old/SKILL.md": None},
                    "day": {"dhrona-2027-03-01.md": f"- {n}\n"},
                    "both": {"AGENTS.md": f"Base.\n\nBoth {n}.\n", "skills/both/SKILL.md": f"{n}\n"},
                    "long": {"AGENTS.md": "Base.\n\n" + str(n) * 1200 + "\n"},
                }
                repo.propose(id, files[kind])
            if many:
                ok = {row["id"] for row in accept_many(repo.folder, asked, NOW)["accepted"]}
            else:
                ok = {id for id in asked if queue.accept(repo.folder, id, NOW)["ok"]}
            rows = [(row.id, row.files, row.stale) for row in queue.candidates(repo.folder)]
            tree = repo.git("rev-parse", "HEAD^{tree}"), repo.git("log", "--format=%s")
            assert repo.git("status", "--porcelain") == "" and repo.git("fsck", "--no-dangling", "--strict") == ""
            ends.append((ok, rows, tree))
        assert ends[0] == ends[1]
