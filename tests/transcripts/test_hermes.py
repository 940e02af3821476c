from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, Usage
from lessonbook.testing_documents import DocumentContract
from lessonbook.testing_readers import ReaderContract, StoreContract
from lessonbook.transcripts.hermes import HermesReader
from lessonbook.transcripts.hermes_talk import COPY, TAKEN_BACK

READER = HermesReader()
ALIEN = b'{"sessionId":"s","projectHash":"p","messages":[{"id":"1","timestamp":"t","type":"user","content":"x"}]}'
START = 1_772_362_800.0


class HermesSession:
    """Builds one session: its facts and its messages."""

    def __init__(self, n: int = 1, **facts: Any) -> None:
        self.clock = START + n * 1_000
        self.facts = {
            "id": f"20260301_11000{n}_abcdef",
            "source": "cli",
            "model": "model-1",
            "started_at": self.clock,
            "cwd": "/home/ada/shop",
            "git_branch": "main",
            **facts,
        }
        self.messages: list[dict[str, Any]] = []

    def add(self, role: str, content: Any, **fields: Any) -> None:
        self.clock += 1
        self.messages.append({"role": role, "content": content, "timestamp": self.clock, **fields})

    def user(self, text: str, **fields: Any) -> None:
        self.add("user", text, **fields)

    def say(self, text: str, **fields: Any) -> None:
        self.add("assistant", text, finish_reason="stop", **fields)

    def call(self, name: str = "terminal", args: Any = None) -> str:
        id = f"call_{self.facts['id']}_{len(self.messages)}"
        sent = json.dumps({"command": "make test"} if args is None else args) if not isinstance(args, str) else args
        function = {"name": name, "arguments": sent}
        self.add("assistant", "", tool_calls=[{"id": id, "call_id": id, "type": "function", "function": function}])
        return id

    def run(self, answer: Any, name: str = "terminal", args: Any = None) -> None:
        id = self.call(name, args)
        said = answer if isinstance(answer, str) else json.dumps(answer)
        self.add("tool", said, tool_call_id=id, tool_name=name)

    def snapshot(self) -> dict[str, Any]:
        facts = {key: value for key, value in self.facts.items() if key not in ("id", "source", "started_at")}
        about = {
            "session_id": self.facts["id"],
            "platform": self.facts["source"],
            "session_start": "2026-03-01T11:00:00",
        }
        return {**about, **facts, "messages": self.messages}

    def export(self) -> dict[str, Any]:
        return {**self.facts, "messages": self.messages}

    def log(self) -> list[bytes]:
        meta = {"role": "session_meta", **self.facts, "timestamp": START}
        return [json.dumps(one, separators=(",", ":")).encode() for one in (meta, *self.messages)]


def database(path: Path, *sessions: HermesSession) -> Path:
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.executescript(
        "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, model_config TEXT,"
        " system_prompt TEXT, parent_session_id TEXT REFERENCES sessions(id), started_at REAL, ended_at REAL,"
        " end_reason TEXT, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER,"
        " estimated_cost_usd REAL, cwd TEXT, git_branch TEXT, title TEXT);"
        "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT REFERENCES"
        " sessions(id), role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL,"
        " finish_reason TEXT, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0);"
        "CREATE INDEX by_session ON messages (session_id);"
    )
    for one in sessions:
        put(db, "sessions", one.facts)
        for message in one.messages:
            row = {**message, "session_id": one.facts["id"]}
            if "tool_calls" in row:
                row["tool_calls"] = json.dumps(row["tool_calls"])
            if not isinstance(row["content"], str):
                row["content"] = "\0json:" + json.dumps(row["content"])
            put(db, "messages", row)
    db.commit()
    db.close()
    return path


def put(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def talk(n: int = 1) -> HermesSession:
    one = HermesSession(n)
    one.user("please run the tests")
    one.run({"output": "make: no rule", "exit_code": 2, "error": None})
    one.say("There is no such target.")
    one.user("then run check")
    one.run({"output": "all good", "exit_code": 0, "error": None}, args={"command": "make check"})
    one.say("It passes.")
    return one


class TestDatabaseContract(StoreContract):
    def reader(self) -> TranscriptReader:
        return READER

    def place(self, folder: Path) -> Path:
        return database(folder / "state.db", talk(1), talk(2))

    def alien(self) -> bytes:
        return ALIEN


class TestSnapshotContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return talk().snapshot()

    def where(self) -> str:
        return "messages"

    def name(self) -> str:
        return "session_20260301_110001_abcdef.json"

    def alien(self) -> bytes:
        return ALIEN


class TestExportContract(TestSnapshotContract):
    def document(self) -> Any:
        return talk().export()


class TestLogContract(ReaderContract):
    def reader(self) -> TranscriptReader:
        return READER

    def lines(self) -> Sequence[bytes]:
        return talk().log()

    def name(self) -> str:
        return "20260301_110001_abcdef.jsonl"

    def alien(self) -> bytes:
        return b'{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"content":"hi"}}\n'


def read(path: Path, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


def of(folder: Path, one: HermesSession) -> Session:
    """The session as every form gives it; they must agree."""
    (folder / "snapshot.json").write_text(json.dumps(one.snapshot()))
    (folder / "export.jsonl").write_text(json.dumps(one.export()) + "\n")
    (folder / "log.jsonl").write_bytes(b"\n".join(one.log()))
    forms = [
        database(folder / "state.db", one),
        *(folder / name for name in ("snapshot.json", "export.jsonl", "log.jsonl")),
    ]
    found = [read(path)[0][0] for path in forms]
    assert all((other.turns, other.id, other.cwd) == (found[0].turns, found[0].id, found[0].cwd) for other in found)
    return found[0]


def test_a_session(tmp_path: Path) -> None:
    one = HermesSession(
        title="The tests", input_tokens=5, output_tokens=7, cache_read_tokens=90, estimated_cost_usd=0.5
    )
    one.user("run the tests")
    one.run({"output": "1 failed", "exit_code": 1, "error": None})
    one.say("One test fails.")
    session = of(tmp_path, one)
    assert (session.agent, session.id, session.branch) == ("hermes", one.facts["id"], "main")
    assert (session.cwd, session.model, session.title) == ("/home/ada/shop", "model-1", "The tests")
    (turn,) = session.turns
    assert (turn.prompt, turn.reply) == ("run the tests", "One test fails.")
    assert turn.usage == Usage(input=95, output=7, cache_read=90, cost=0.5)
    (call,) = turn.calls
    assert (call.kind, call.command, call.result) == (CallKind.SHELL, "make test", "1 failed")
    assert (call.status, call.exit_code, call.secs) == (CallStatus.FAILED, 1, 1.0)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"output": "", "exit_code": 0, "error": None}, CallStatus.OK),
        ({"output": "", "exit_code": 0, "error": "boom"}, CallStatus.FAILED),
        ({"success": False}, CallStatus.FAILED),
        ({"success": True, "content": "Error: is in the text"}, CallStatus.OK),
        ({"exit_code": -1, "error": "BLOCKED: User denied this action.", "status": "blocked"}, CallStatus.DENIED),
        ({"exit_code": -1, "error": "BLOCKED: Action denied by user", "status": "blocked"}, CallStatus.DENIED),
        ({"exit_code": -1, "error": "BLOCKED (hardline): never", "status": "blocked"}, CallStatus.BLOCKED),
        ({"exit_code": -1, "error": "BLOCKED: approval timed out", "status": "blocked"}, CallStatus.BLOCKED),
        ("Error executing tool 'x': boom", CallStatus.FAILED),
        ("[Tool execution cancelled: the user interrupted]", CallStatus.CANCELLED),
        ("plain text", CallStatus.OK),
        ("{not json", CallStatus.OK),
    ],
)
def test_how_a_call_ended(tmp_path: Path, answer: Any, status: CallStatus) -> None:
    one = HermesSession()
    one.user("go")
    one.run(answer)
    (call,) = of(tmp_path, one).turns[0].calls
    assert call.status is status


def test_malformed_arguments_are_kept_as_sent(tmp_path: Path) -> None:
    one = HermesSession()
    one.user("go")
    one.run({"error": "Invalid JSON"}, "read_file", '{"path": "a"')
    (call,) = of(tmp_path, one).turns[0].calls
    assert (call.args_raw, call.status) == ('{"path": "a"', CallStatus.FAILED)


def test_what_nobody_typed_is_left_out(tmp_path: Path) -> None:
    one = HermesSession(source="telegram")
    one.user("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.")
    one.user("[Ada] fix it")
    one.say("ok")
    one.user("Review the conversation above and keep what matters.")
    one.user([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:x"}}])
    one.say("ok")
    assert [turn.prompt for turn in of(tmp_path, one).turns] == ["fix it", "look"]


def test_rewound_messages_are_taken_back_and_compacted_ones_are_not(tmp_path: Path) -> None:
    one = HermesSession()
    one.user("first", active=0, compacted=1)
    one.say("ok")
    one.user("second", active=0)
    one.say("ok", active=0)
    (session,), report = read(database(tmp_path / "state.db", one))
    assert [turn.prompt for turn in session.turns] == ["first"] and report.skipped == {TAKEN_BACK: 2}


def test_a_sub_agent_names_its_session_and_a_compacted_one_does_not(tmp_path: Path) -> None:
    first, second, third = HermesSession(1), HermesSession(2), HermesSession(3)
    first.facts["end_reason"] = "compression"
    second.facts["parent_session_id"] = third.facts["parent_session_id"] = first.facts["id"]
    third.facts["source"] = "tool"
    for one in (first, second, third):
        one.user("go")
        one.run({"output": "", "exit_code": 0})
    sessions, _ = read(database(tmp_path / "state.db", third, second, first))
    assert [one.parent_id for one in sessions] == [None, None, first.facts["id"]]
    assert [turn.prompt for one in sessions for turn in one.turns] == ["go", "go", ""]


def test_what_a_snapshot_had_the_database_does_not_give_again(tmp_path: Path) -> None:
    seen, one = Seen(), talk()
    (tmp_path / "session_1.json").write_text(json.dumps(one.snapshot()))
    read(tmp_path / "session_1.json", seen)
    one.user("go on")
    (session,), report = read(database(tmp_path / "state.db", one), seen)
    assert [turn.prompt for turn in session.turns] == ["go on"] and report.skipped == {COPY: 8}


def test_an_export_of_many_sessions(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(talk(n).export()) + "\n" for n in (1, 2, 3)))
    sessions, report = read(path)
    assert [one.id for one in sessions] == [talk(n).facts["id"] for n in (1, 2, 3)] and report.calls == 6


def test_columns_that_a_version_does_not_have(tmp_path: Path) -> None:
    path = database(tmp_path / "state.db", talk())
    db = sqlite3.connect(path)
    for table, column in (("sessions", "cwd"), ("sessions", "git_branch"), ("messages", "active")):
        db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    db.commit()
    db.close()
    (session,), report = read(path)
    assert (session.cwd, report.calls, report.failed) == (None, 2, 1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, bytes]]:
    path = database(tmp_path_factory.mktemp("db") / "state.db", *(talk(n) for n in range(40)))
    yield path, path.read_bytes()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0.01, 1), junk=st.binary(min_size=1, max_size=5_000))
def test_a_damaged_database_never_raises(whole: tuple[Path, bytes], at: float, junk: bytes) -> None:
    path, data = whole
    start = int(at * len(data))
    path.write_bytes(data[:start] + junk + data[start + len(junk) :])
    sessions, report = read(path)
    repr(sessions).encode("utf-8")
    assert report.sessions == len(sessions) and report.calls <= 80
