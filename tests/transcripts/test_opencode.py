from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, TurnState, Usage
from lessonbook.testing_documents import DocumentContract
from lessonbook.testing_readers import StoreContract
from lessonbook.transcripts.opencode import OpencodeReader
from lessonbook.transcripts.opencode_talk import COPY, TAKEN_BACK
from lessonbook.transcripts.opencode_tree import UNREADABLE
from lessonbook.transcripts.walk import read_paths

READER = OpencodeReader()
START = 1_772_362_800_000
ALIEN = b'{"sessionId":"s","projectHash":"p","messages":[{"id":"1","timestamp":"t","type":"user","content":"x"}]}'


class OpencodeSession:
    """Builds one session: its facts, and messages with their parts."""

    def __init__(self, n: int = 1, **facts: Any) -> None:
        self.clock = START + n * 1_000_000
        self.n = n
        self.facts = {
            "id": f"ses_{n:020d}",
            "projectID": "p" * 40,
            "directory": "/home/ada/shop",
            "title": "The tests",
            "version": "1.0.50",
            "time": {"created": self.clock, "updated": self.clock},
            **facts,
        }
        self.messages: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []

    def time(self) -> int:
        self.clock += 1_000
        return self.clock

    def message(self, role: str, parts: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
        id = f"msg_{self.n:08d}{len(self.messages):012d}"
        whole = {"id": id, "sessionID": self.facts["id"], "role": role, "time": {"created": self.time()}, **fields}
        named = [
            {"id": f"prt_{id[4:]}{at:04d}", "messageID": id, "sessionID": self.facts["id"], **part}
            for at, part in enumerate(parts)
        ]
        self.messages.append((whole, named))
        return whole

    def user(self, text: str, *more: dict[str, Any]) -> dict[str, Any]:
        return self.message("user", [{"type": "text", "text": text}, *more])

    def say(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.message("assistant", [{"type": "text", "text": text}], modelID="model-1", **fields)

    def call(self, tool: str = "bash", args: Any = None, **state: Any) -> dict[str, Any]:
        sent = {"command": "make test"} if args is None else args
        times = {"start": self.time(), "end": self.time()}
        whole = {"status": "completed", "input": sent, "output": "fine", "time": times, **state}
        return {"type": "tool", "tool": tool, "callID": f"call_{self.clock}", "state": whole}

    def run(self, tool: str = "bash", args: Any = None, **state: Any) -> None:
        self.message("assistant", [self.call(tool, args, **state)], modelID="model-1", path={"cwd": "/home/ada/shop"})

    def tree(self, folder: Path, flat: bool = False, session: bool = True) -> Path:
        """Write it as the tree; return its session file, or its first message's."""
        storage = folder / "storage"
        file = storage / "session" / self.facts["projectID"] / f"{self.facts['id']}.json"
        if session:
            put(file, self.facts)
        for message, parts in self.messages:
            put(storage / "message" / self.facts["id"] / f"{message['id']}.json", message)
            for part in parts:
                inner = storage / "part" if flat else storage / "part" / message["id"]
                put(inner / f"{part['id']}.json", part)
        first = storage / "message" / self.facts["id"] / f"{self.messages[0][0]['id']}.json"
        return file if session else first

    def oldest(self, folder: Path) -> Path:
        """Write it as the oldest versions did."""
        base = folder / "project" / "home-ada-shop" / "storage" / "session"
        for message, parts in self.messages:
            put(base / "message" / self.facts["id"] / f"{message['id']}.json", message)
            for part in parts:
                put(base / "part" / self.facts["id"] / message["id"] / f"{part['id']}.json", part)
        return put(base / "info" / f"{self.facts['id']}.json", self.facts)

    def export(self) -> dict[str, Any]:
        return {"info": self.facts, "messages": [{"info": info, "parts": parts} for info, parts in self.messages]}


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path


def database(path: Path, *sessions: OpencodeSession) -> Path:
    """Write the sessions as the database."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.executescript(
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
        " version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);"
        "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
        "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
        "CREATE INDEX part_message ON part (message_id); CREATE INDEX message_session ON message (session_id);"
    )
    for one in sessions:
        facts = one.facts
        revert = json.dumps(facts["revert"]) if "revert" in facts else None
        created = facts["time"]["created"]
        row = (facts["id"], "p", facts.get("parentID"), facts["directory"], facts["title"], facts["version"], revert)
        db.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)", (*row, created, created))
        for n, (message, parts) in enumerate(one.messages):
            data = {key: value for key, value in message.items() if key not in ("id", "sessionID")}
            db.execute("INSERT INTO message VALUES (?,?,?,?)", (message["id"], facts["id"], n, json.dumps(data)))
            for at, part in enumerate(parts):
                data = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
                db.execute(
                    "INSERT INTO part VALUES (?,?,?,?,?)",
                    (part["id"], message["id"], facts["id"], at, json.dumps(data)),
                )
    db.commit()
    db.close()
    return path


def talk(n: int = 1) -> OpencodeSession:
    one = OpencodeSession(n)
    one.user("please run the tests")
    one.run(output="make: no rule", metadata={"exit": 2})
    one.say("There is no such target.")
    one.user("then run check")
    one.run(args={"command": "make check"}, metadata={"exit": 0})
    one.say("It passes.")
    return one


class TestTreeContract(StoreContract):
    def reader(self) -> TranscriptReader:
        return READER

    def place(self, folder: Path) -> Path:
        return talk().tree(folder)

    def alien(self) -> bytes:
        return ALIEN


class TestFlatTreeContract(TestTreeContract):
    def place(self, folder: Path) -> Path:
        return talk().tree(folder, flat=True)


class TestOldestTreeContract(TestTreeContract):
    def place(self, folder: Path) -> Path:
        return talk().oldest(folder)


class TestTreeWithoutSessionContract(TestTreeContract):
    def place(self, folder: Path) -> Path:
        return talk().tree(folder, session=False)


class TestDatabaseContract(TestTreeContract):
    def place(self, folder: Path) -> Path:
        return database(folder / "opencode.db", talk(1), talk(2))


class TestExportContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return talk().export()

    def where(self) -> str:
        return "messages"

    def alien(self) -> bytes:
        return ALIEN


def read(path: Path, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


def of(folder: Path, one: OpencodeSession) -> Session:
    """The session as every form gives it; they must agree."""
    forms = [one.tree(folder / "a"), one.tree(folder / "b", flat=True), one.oldest(folder)]
    forms += [database(folder / "opencode.db", one), put(folder / "export.json", one.export())]
    found = [read(path)[0][0] for path in forms]
    assert all(other.turns == found[0].turns and other.id == found[0].id for other in found)
    assert all((other.cwd, other.title) == (found[0].cwd, found[0].title) for other in found)
    return found[0]


def test_a_session(tmp_path: Path) -> None:
    one = OpencodeSession()
    one.user('"run the tests"', {"type": "text", "text": "what a plugin said", "synthetic": True})
    one.run(output="1 failed", metadata={"exit": 1})
    tokens = {"input": 5, "output": 7, "reasoning": 2, "cache": {"read": 90, "write": 3}}
    one.say("One test fails.", tokens=tokens, cost=0.25)
    session = of(tmp_path, one)
    assert (session.agent, session.id, session.parent_id) == ("opencode", one.facts["id"], None)
    assert (session.cwd, session.model, session.title) == ("/home/ada/shop", "model-1", "The tests")
    assert session.agent_version == "1.0.50"
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, turn.state) == ("run the tests", "One test fails.", TurnState.COMPLETE)
    assert turn.usage == Usage(input=98, output=7, cache_read=90, cache_write=3, reasoning=2, cost=0.25)
    (call,) = turn.calls
    assert (call.kind, call.status, call.exit_code, call.secs) == (CallKind.SHELL, CallStatus.FAILED, 1, 1.0)
    assert (call.command, call.result) == ("make test", "1 failed")


@pytest.mark.parametrize(
    ("state", "status", "reason"),
    [
        ({"status": "error", "error": "boom"}, CallStatus.FAILED, None),
        (
            {"status": "error", "error": "The user rejected permission to use this specific tool call."},
            CallStatus.DENIED,
            None,
        ),
        (
            {"status": "error", "error": "Error: The user rejected permission with feedback: use make"},
            CallStatus.DENIED,
            "use make",
        ),
        (
            {"status": "error", "error": "The user has specified a rule which prevents you from using this"},
            CallStatus.BLOCKED,
            None,
        ),
        ({"status": "error", "error": "Tool execution aborted"}, CallStatus.CANCELLED, None),
        ({"status": "running"}, CallStatus.UNFINISHED, None),
        ({"status": "completed", "metadata": {"exit": 0}}, CallStatus.OK, None),
    ],
)
def test_how_a_call_ended(tmp_path: Path, state: dict[str, Any], status: CallStatus, reason: str | None) -> None:
    one = OpencodeSession()
    one.user("go")
    one.run(**{"output": "", **state})
    (call,) = of(tmp_path, one).turns[0].calls
    assert (call.status, call.deny_reason) == (status, reason)


def test_malformed_arguments_name_the_tool_that_was_meant(tmp_path: Path) -> None:
    one = OpencodeSession()
    one.user("go")
    one.run("invalid", {"tool": "edit", "error": "expected an object"}, output="The arguments are invalid")
    one.run("edit", {}, status="pending", raw='{"filePath": "a')
    first, second = of(tmp_path, one).turns[0].calls
    assert (first.name, first.status) == ("edit", CallStatus.FAILED)
    assert (second.args_raw, second.status) == ('{"filePath": "a', CallStatus.UNFINISHED)


def test_stops_summaries_and_what_was_taken_back(tmp_path: Path) -> None:
    one = OpencodeSession()
    one.user("first")
    one.say("a summary of all", summary=True)
    one.message("user", [{"type": "compaction", "auto": True}])
    one.say("half", error={"name": "MessageAbortedError"})
    one.user("second")
    one.say("", error={"name": "APIError"})
    gone = one.user("third")
    one.run()
    one.facts["revert"] = {"messageID": gone["id"]}
    session = of(tmp_path, one)
    assert [(turn.prompt, turn.reply, str(turn.state)) for turn in session.turns] == [
        ("first", "half", "interrupted"),
        ("second", "", "failed"),
    ]
    assert read(tmp_path / "opencode.db")[1].skipped == {TAKEN_BACK: 2}


def test_a_sub_agent_names_its_session_and_no_person(tmp_path: Path) -> None:
    one = OpencodeSession(parentID="ses_parent", title="")
    one.user("look at the tests")
    one.run()
    session = of(tmp_path, one)
    assert (session.parent_id, session.title, [turn.prompt for turn in session.turns]) == (
        "ses_parent",
        "look at the tests",
        [""],
    )


def test_what_the_tree_had_the_database_does_not_give_again(tmp_path: Path) -> None:
    seen, one = Seen(), talk()
    read(one.tree(tmp_path), seen)
    one.user("go on")
    (session,), report = read(database(tmp_path / "opencode.db", one), seen)
    assert [turn.prompt for turn in session.turns] == ["go on"] and report.skipped == {COPY: 6}


def test_the_whole_folder_gives_each_session_once(tmp_path: Path) -> None:
    talk(1).tree(tmp_path)
    talk(2).tree(tmp_path, session=False)
    items = list(read_paths([tmp_path]))
    assert [one.id for one in items if isinstance(one, Session)] == [f"ses_{n:020d}" for n in (1, 2)]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(one.path for one in items if isinstance(one, ReadReport)) == sorted(map(str, files))


def test_a_damaged_file_of_the_tree_costs_only_itself(tmp_path: Path) -> None:
    one = talk()
    path = one.tree(tmp_path)
    whole, _ = read(path)
    part = next((tmp_path / "storage" / "part" / one.messages[1][0]["id"]).iterdir())
    part.write_bytes(b"\x00" * 300)
    (session,), report = read(path)
    assert [turn.prompt for turn in session.turns] == [turn.prompt for turn in whole[0].turns]
    assert report.calls == 1 and report.skipped == {"run of NUL bytes": 1}
    part.write_bytes(b"")
    assert read(path)[1].skipped == {UNREADABLE: 1}


def test_a_database_without_a_session_table(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", talk(1), talk(2))
    db = sqlite3.connect(path)
    db.execute("DROP TABLE session")
    db.execute('UPDATE part SET data = \'{"type": "te\' WHERE id = (SELECT max(id) FROM part)')
    db.commit()
    db.close()
    sessions, report = read(path)
    assert [one.id for one in sessions] == [f"ses_{n:020d}" for n in (1, 2)]
    assert (report.calls, report.skipped) == (4, {"unfinished last line": 1})


def test_a_database_that_is_written_to_is_read_and_left_alone(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", talk(1))
    writer = sqlite3.connect(path)
    writer.execute("UPDATE session SET title = 'New'")
    writer.commit()
    before = {one: one.read_bytes() for one in tmp_path.glob("opencode*")}
    assert read(path)[0][0].title == "New"
    assert {one: one.read_bytes() for one in tmp_path.glob("opencode*")} == before
    writer.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, bytes]]:
    path = database(tmp_path_factory.mktemp("db") / "opencode.db", *(talk(n) for n in range(40)))
    yield path, path.read_bytes()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0.01, 1), junk=st.binary(min_size=1, max_size=5_000))
def test_a_damaged_database_never_raises(whole: tuple[Path, bytes], at: float, junk: bytes) -> None:
    path, data = whole
    start = int(at * len(data))
    path.write_bytes(data[:start] + junk + data[start + len(junk) :])
    sessions, report = read(path)
    repr(sessions).encode("utf-8")
    assert report.sessions == len(sessions)
    assert report.calls <= 80


def test_default_places() -> None:
    assert READER.roots("/home/ada", {"XDG_DATA_HOME": "/data", "OPENCODE_DB": "/x.db"}) == [
        "/data/opencode/opencode.db",
        "/data/opencode/storage",
        "/data/opencode/project",
        "/x.db",
    ]
