from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, TurnState, Usage
from lessonbook.testing_readers import ReaderContract
from lessonbook.transcripts.pi import LEFT, OmpReader, PiReader
from lessonbook.transcripts.pi_tree import CIRCLE, ORPHAN
from lessonbook.transcripts.walk import read_paths

READER = PiReader()
ID = "0190aaaa-3a52-7c51-9d1e-0a6f5a7b1c2d"
NAME = f"2026-03-01T11-00-00-000Z_{ID}.jsonl"


class PiFile:
    """Builds the entries of one session; each follows the one before unless told otherwise."""

    def __init__(self, id: str = ID, **header: Any) -> None:
        self.clock = 0
        self.last: str | None = None
        self.records: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": id, "timestamp": self.time(), "cwd": "/home/ada/shop", **header}
        ]

    def time(self) -> str:
        self.clock += 1
        return f"2026-03-01T11:{self.clock // 60:02d}:{self.clock % 60:02d}.000Z"

    def add(self, kind: str, /, parent: str | None = None, **fields: Any) -> str:
        id = f"{len(self.records):08x}"
        above = self.last if parent is None else parent
        self.records.append({"type": kind, "id": id, "parentId": above, "timestamp": self.time(), **fields})
        self.last = id
        return id

    def message(self, role: str, content: Any, parent: str | None = None, **fields: Any) -> str:
        body = {"role": role, "content": content, **fields, "timestamp": 1772362800000 + self.clock}
        return self.add("message", parent, message=body)

    def user(self, text: str, parent: str | None = None) -> str:
        return self.message("user", [{"type": "text", "text": text}], parent)

    def say(self, text: str, stop: str = "stop", **fields: Any) -> str:
        return self.message("assistant", [{"type": "text", "text": text}], None, stopReason=stop, **fields)

    def call(self, name: str = "bash", args: Any = None, stop: str = "toolUse") -> str:
        id = f"toolu_{len(self.records):020d}"
        sent = {"command": "make test"} if args is None else args
        block = {"type": "toolCall", "id": id, "name": name, "arguments": sent}
        self.message("assistant", [block], None, stopReason=stop, model="model-1", provider="p")
        return id

    def result(self, id: str, text: str = "fine", error: bool = False) -> str:
        content = [{"type": "text", "text": text}]
        return self.message("toolResult", content, None, toolCallId=id, toolName="bash", isError=error)

    def run(self, text: str = "fine", error: bool = False, **call: Any) -> str:
        return self.result(self.call(**call), text, error)

    def lines(self) -> list[bytes]:
        return [json.dumps(one, separators=(",", ":")).encode() for one in self.records]


class TestContract(ReaderContract):
    def reader(self) -> TranscriptReader:
        return READER

    def lines(self) -> Sequence[bytes]:
        file = PiFile()
        file.user("please run the tests")
        file.run("make: no rule to make target 'test'\n\nCommand exited with code 2", error=True)
        file.say("There is no such target.")
        file.user("then run check")
        file.run("all good", args={"command": "make check"})
        file.say("It passes.")
        return file.lines()

    def alien(self) -> bytes:
        return b'{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"content":"hi"}}\n'

    def name(self) -> str:
        return NAME


class TestLinearContract(TestContract):
    """The oldest form: no ids, the order of the lines is the order of the talk."""

    def lines(self) -> Sequence[bytes]:
        records = [json.loads(line) for line in super().lines()]
        bare = [
            {k: v for k, v in one.items() if k not in ("parentId", *(["id"] if n else []))}
            for n, one in enumerate(records)
        ]
        return [json.dumps(one).encode() for one in bare]


class TestOmpContract(TestContract):
    def reader(self) -> TranscriptReader:
        return OmpReader()

    def lines(self) -> Sequence[bytes]:
        title = json.dumps({"type": "title", "title": "Run the tests"}).encode()
        return [title + b" " * (255 - len(title)), *super().lines()]

    def alien(self) -> bytes:
        return b"\n".join(TestContract().lines())


def read(tmp_path: Path, file: PiFile, name: str = NAME, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    path = tmp_path / "sessions" / "--home-ada-shop--" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in file.lines()))
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


def only(tmp_path: Path, file: PiFile) -> Session:
    (session,), _ = read(tmp_path, file)
    return session


def prompts(session: Session) -> list[str]:
    return [turn.prompt for turn in session.turns]


def test_a_session(tmp_path: Path) -> None:
    file = PiFile()
    file.add("model_change", provider="p", modelId="model-1")
    file.add("session_info", name="The tests")
    file.user("run the tests")
    spent = {"input": 5, "output": 7, "cacheRead": 90, "cacheWrite": 3, "cost": {"total": 0.25}}
    file.run("1 failed\n\n\nCommand exited with code 1", error=True)
    file.say("One test fails.", usage=spent)
    session = only(tmp_path, file)
    assert (session.agent, session.id, session.parent_id) == ("pi", ID, None)
    assert (session.cwd, session.model, session.title) == ("/home/ada/shop", "model-1", "The tests")
    assert (session.started, session.ended) == (1772362801.0, 1772362807.0)
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, turn.state) == ("run the tests", "One test fails.", TurnState.COMPLETE)
    assert turn.usage == Usage(input=98, output=7, cache_read=90, cache_write=3, cost=0.25)
    (call,) = turn.calls
    assert (call.name, call.kind, call.status, call.exit_code) == ("bash", CallKind.SHELL, CallStatus.FAILED, 1)
    assert (call.command, call.secs) == ("make test", 1.0)


def test_only_the_branch_in_force_is_read(tmp_path: Path) -> None:
    file = PiFile()
    file.user("push the change")
    answer = file.say("How?")
    left = file.user("always force-push", answer)
    file.run("pushed")
    file.user("never force-push", answer)
    file.say("Understood.")
    file.add("label", left, label="a try")
    (session,), report = read(tmp_path, file)
    assert prompts(session) == ["push the change", "never force-push"]
    assert report.calls == 0 and report.skipped == {LEFT: 3}


def test_going_back_before_the_first_message_starts_anew(tmp_path: Path) -> None:
    file = PiFile()
    file.user("first try")
    file.say("ok")
    file.last = None
    file.user("second try")
    file.say("ok")
    assert prompts(only(tmp_path, file)) == ["second try"]


def test_summaries_are_no_talk_but_lead_on(tmp_path: Path) -> None:
    file = PiFile()
    first = file.user("first")
    file.say("ok")
    file.add("compaction", summary="what was said", firstKeptEntryId=first, tokensBefore=9)
    file.user("second")
    answer = file.say("ok")
    file.user("third", answer)
    file.add("branch_summary", answer, summary="what was left", fromId=first)
    session, report = read(tmp_path, file)
    assert [turn.prompt for turn in session[0].turns] == ["first", "second"]
    assert report.skipped == {LEFT: 1}


def test_a_missing_parent_costs_no_talk(tmp_path: Path) -> None:
    file = PiFile()
    file.user("first")
    file.say("ok")
    file.user("second", "ffffffff")
    file.say("ok")
    (session,), report = read(tmp_path, file)
    assert prompts(session) == ["first", "second"]
    assert report.skipped == {ORPHAN: 1}


def test_a_circle_ends(tmp_path: Path) -> None:
    file = PiFile()
    file.user("first")
    file.say("ok")
    file.records[1]["id"], file.records[2]["parentId"] = file.records[2]["id"], file.records[2]["id"]
    file.user("second")
    file.records[-1]["parentId"] = file.records[-1]["id"]
    file.say("ok")
    (session,), report = read(tmp_path, file)
    assert "second" in prompts(session)
    assert set(report.skipped) <= {CIRCLE, LEFT, ORPHAN, "copy of a record already read"}


def test_a_forked_session_counts_once(tmp_path: Path) -> None:
    seen, old = Seen(), PiFile()
    old.user("first")
    old.run()
    old.say("ok")
    new = PiFile("0190bbbb-3a52-7c51-9d1e-0a6f5a7b1c2d", parentSession="/somewhere.jsonl")
    new.records[1:], new.clock, new.last = old.records[1:], old.clock + 9, old.last
    new.user("second")
    new.say("ok")
    assert prompts(read(tmp_path, old, NAME, seen)[0][0]) == ["first"]
    (session,), report = read(tmp_path, new, "2026-03-01T12-00-00-000Z_0190bbbb.jsonl", seen)
    assert prompts(session) == ["second"] and session.parent_id is None and report.calls == 0
    assert report.skipped == {"copy of a record already read": 4}


def test_stops_steering_and_what_nobody_typed(tmp_path: Path) -> None:
    file = PiFile()
    file.user('<skill name="ship" location="/s/SKILL.md">\nlong text\n</skill>\n\nto staging')
    file.run()
    file.user("and mind the cache")
    file.message("custom", "injected by an extension", None, customType="x", display=False)
    file.message("bashExecution", None, None, command="ls", output="a", exitCode=0, cancelled=False)
    file.say("Done.")
    file.user('<file name="/home/ada/shop/a.txt">\nlong text\n</file>\nread this')
    file.say("Re", stop="aborted")
    file.user("again")
    file.say("", stop="error", errorMessage="overloaded")
    turns = only(tmp_path, file).turns
    assert [turn.prompt for turn in turns] == ["/skill:ship\n\nto staging", "read this", "again"]
    assert turns[0].steered == ("and mind the cache",)
    assert [turn.state for turn in turns] == [TurnState.COMPLETE, TurnState.INTERRUPTED, TurnState.FAILED]


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("Tool call denied by user", CallStatus.DENIED, None),
        ("User rejected the call. Feedback: use make", CallStatus.DENIED, "use make"),
        ("Tool execution was blocked", CallStatus.BLOCKED, None),
        ("Blocked by policy: no network", CallStatus.BLOCKED, None),
        ("line\n\n\nCommand aborted", CallStatus.CANCELLED, None),
        ("Operation aborted", CallStatus.CANCELLED, None),
        ('Validation failed for tool "edit"', CallStatus.FAILED, None),
        ("the log says: denied by user", CallStatus.FAILED, None),
    ],
)
def test_how_a_call_ended(tmp_path: Path, text: str, status: CallStatus, reason: str | None) -> None:
    file = PiFile()
    file.user("go")
    file.run(text, error=True)
    file.call()
    first, second = only(tmp_path, file).turns[0].calls
    assert (first.status, first.deny_reason) == (status, reason)
    assert second.status is CallStatus.UNFINISHED


def test_oh_my_pi_is_known_by_what_it_alone_writes_or_by_its_folder(tmp_path: Path) -> None:
    plain, own = PiFile(), PiFile("0190cccc-3a52-7c51-9d1e-0a6f5a7b1c2d")
    own.add("session_init", task="x", tools=["bash", "todo"])
    for file in (plain, own):
        file.user("go")
        file.say("ok")
    for folder, file in ((".pi", plain), (".omp", plain), ("x", own)):
        path = tmp_path / folder / f"{file.records[0]['id']}.jsonl"
        path.parent.mkdir()
        path.write_bytes(b"".join(line + b"\n" for line in file.lines()))
    agents = {
        Path(one.path).parent.name: (one.agent, one.offered)
        for folder in (".pi", ".omp", "x")
        for one in read_paths([tmp_path / folder])
        if isinstance(one, Session)
    }
    assert agents == {".pi": ("pi", set()), ".omp": ("omp", set()), "x": ("omp", {"bash", "todo"})}


def test_a_sub_agent_names_its_session_and_no_person(tmp_path: Path) -> None:
    file = PiFile("0190dddd-3a52-7c51-9d1e-0a6f5a7b1c2d")
    file.user("look at the tests")
    file.run()
    path = tmp_path / NAME.removesuffix(".jsonl") / "0-look.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"\n".join(file.lines()))
    session, _ = READER.read(str(path))
    assert isinstance(session, Session)
    assert (session.parent_id, session.title, prompts(session)) == (ID, "look at the tests", [""])
    assert all(call.by_subagent for turn in session.turns for call in turn.calls)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choices=st.lists(st.integers(-1, 12), min_size=1, max_size=12))
def test_what_is_read_is_the_path_from_the_last_message_to_the_root(tmp_path: Path, choices: list[int]) -> None:
    file, above, ids = PiFile(), {}, []
    for n, choice in enumerate(choices):
        parent = ids[choice % len(ids)] if ids and choice >= 0 else None
        file.last = parent
        ids.append(file.user(f"p{n}"))
        above[ids[-1]] = parent
    path, at = [], ids[-1]
    while at is not None:
        path.append(f"p{ids.index(at)}")
        at = above[at]
    (session,), report = read(tmp_path, file)
    assert prompts(session) == path[::-1]
    assert report.skipped.get(LEFT, 0) == len(ids) - len(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.2), st.binary(max_size=50)), min_size=1, max_size=3))
def test_random_damage_costs_only_what_it_touches(tmp_path: Path, damage: list[tuple[float, float, bytes]]) -> None:
    file = PiFile()
    for n in range(6):
        file.user(f"request {n}")
        file.run(f"result {n}")
        file.say(f"reply {n}")
    lines = file.lines()
    data = b"".join(line + b"\n" for line in lines)
    for at, share, put in damage:
        start = int(at * len(data))
        data = data[:start] + put + data[start + int(share * len(data)) :]
    path = tmp_path / NAME
    path.write_bytes(data)
    *sessions, report = READER.read(str(path))
    assert isinstance(report, ReadReport) and path.read_bytes() == data
    repr(sessions).encode("utf-8")
    results = {call.result for one in sessions if isinstance(one, Session) for turn in one.turns for call in turn.calls}
    whole = set(data.split(b"\n"))
    for call, result in itertools.pairwise(lines):
        for n in range(6):
            if f'"result {n}"'.encode() in result and call in whole and result in whole:
                assert f"result {n}" in results
