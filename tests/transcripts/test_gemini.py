from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, TurnState, Usage
from lessonbook.testing_documents import DocumentContract
from lessonbook.testing_readers import ReaderContract
from lessonbook.transcripts.documents import CUT_OFF
from lessonbook.transcripts.gemini import GeminiReader
from lessonbook.transcripts.gemini_talk import COPY, REWOUND

READER = GeminiReader()
ID = "7b1f0000-3a52-4c51-9d1e-0a6f5a7b1c2d"


class GeminiFile:
    """Builds the messages of one session."""

    def __init__(self, id: str = ID, project: str = "f" * 64, **facts: Any) -> None:
        self.clock = 0
        self.facts = {"sessionId": id, "projectHash": project, "startTime": self.time(), **facts}
        self.messages: list[dict[str, Any]] = []

    def time(self) -> str:
        self.clock += 1
        return f"2026-03-01T12:{self.clock // 60:02d}:{self.clock % 60:02d}.000Z"

    def add(self, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
        id = f"{len(self.messages):08d}-3a52-4c51-9d1e-{self.facts['sessionId'][:12]}"
        self.messages.append({"id": id, "timestamp": self.time(), "type": kind, "content": content, **fields})
        return self.messages[-1]

    def user(self, text: str) -> dict[str, Any]:
        return self.add("user", [{"text": text}])

    def say(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.add("gemini", text, model="gemini-3-pro", **fields)

    def call(self, name: str = "run_shell_command", args: Any = None, **fields: Any) -> dict[str, Any]:
        id = f"{name}-{len(self.messages):012d}"
        sent = {"command": "make test"} if args is None else args
        return {"id": id, "name": name, "args": sent, "timestamp": self.time(), **fields}

    def run(self, text: str = "fine", status: str = "success", key: str = "output", **more: Any) -> dict[str, Any]:
        call = self.call(status=status, **more)
        response = {"functionResponse": {"id": call["id"], "name": call["name"], "response": {key: text}}}
        return self.say("", toolCalls=[{**call, "result": [response]}])

    def document(self) -> dict[str, Any]:
        return {**self.facts, "lastUpdated": self.time(), "messages": self.messages}

    def lines(self) -> list[bytes]:
        records = [{**self.facts, "kind": "main"}, *self.messages, {"$set": {"lastUpdated": self.time()}}]
        return [json.dumps(one, separators=(",", ":")).encode() for one in records]


def talk() -> GeminiFile:
    file = GeminiFile()
    file.user("please run the tests")
    file.run("Output: make: no rule to make target 'test'\nExit Code: 2\nProcess Group PGID: 7")
    file.say("There is no such target.")
    file.user("then run check")
    file.run("Output: all good", args={"command": "make check"})
    file.say("It passes.")
    return file


class TestDocumentContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return talk().document()

    def where(self) -> str:
        return "messages"

    def alien(self) -> bytes:
        return b'{"session_id":"1","model":"m","messages":[{"role":"user","content":"hi"}]}'


class TestLogContract(ReaderContract):
    def reader(self) -> TranscriptReader:
        return READER

    def lines(self) -> Sequence[bytes]:
        return talk().lines()

    def alien(self) -> bytes:
        return b'{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"content":"hi"}}\n'


def read(path: Path, data: bytes, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


def of(tmp_path: Path, file: GeminiFile) -> Session:
    """The session as both forms give it; they must agree."""
    (one,), _ = read(tmp_path / "s.json", json.dumps(file.document()).encode())
    (other,), _ = read(tmp_path / "s.jsonl", b"\n".join(file.lines()))
    assert one.turns == other.turns
    return other


def test_a_session(tmp_path: Path) -> None:
    file = GeminiFile(summary="The tests")
    file.user("run the tests")
    tokens = {"input": 100, "output": 7, "cached": 90, "thoughts": 3, "tool": 0, "total": 110}
    file.run("Output: 1 failed\nExit Code: 1")
    file.say("One test fails.", tokens=tokens)
    session = of(tmp_path, file)
    assert (session.agent, session.id, session.model, session.title) == ("gemini", ID, "gemini-3-pro", "The tests")
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, turn.state) == ("run the tests", "One test fails.", TurnState.COMPLETE)
    assert turn.usage == Usage(input=100, output=7, cache_read=90, reasoning=3)
    (call,) = turn.calls
    assert (call.kind, call.command, call.status, call.exit_code) == (
        CallKind.SHELL,
        "make test",
        CallStatus.FAILED,
        1,
    )


@pytest.mark.parametrize(
    ("status", "key", "text", "expected"),
    [
        ("success", "output", "Output: fine\nExit Code: 0\nSignal: 0", CallStatus.OK),
        ("success", "output", "Output: says Exit Code: 9", CallStatus.OK),
        ("success", "output", "Output: Exit Code: 0\nExit Code: 3", CallStatus.FAILED),
        ("error", "error", "params must have required property 'path'", CallStatus.FAILED),
        ("error", "error", "Tool execution denied by policy.", CallStatus.BLOCKED),
        ("cancelled", "error", "[Operation Cancelled] Reason: User did not allow tool call", CallStatus.DENIED),
        ("cancelled", "error", "[Operation Cancelled] Reason: User denied execution.", CallStatus.DENIED),
        ("cancelled", "error", "[Operation Cancelled] Reason: User cancelled the operation.", CallStatus.CANCELLED),
        ("executing", "output", "", CallStatus.UNFINISHED),
        ("", "error", "boom", CallStatus.FAILED),
    ],
)
def test_how_a_call_ended(tmp_path: Path, status: str, key: str, text: str, expected: CallStatus) -> None:
    file = GeminiFile()
    file.user("go")
    file.run(text, status, key)
    (call,) = of(tmp_path, file).turns[0].calls
    assert call.status is expected


def test_what_nobody_typed_is_left_out(tmp_path: Path) -> None:
    file = GeminiFile()
    file.user("This is the Gemini CLI. We are setting up the context for our chat.")
    file.user("<hook_context>\nwhat a hook said\n</hook_context>\nfix it")
    file.say("ok")
    file.add("user", [{"text": "long text of a command"}], displayContent=[{"text": "/plan"}])
    file.say("ok")
    file.user("look at @a.txt\n--- Content from referenced files ---\nsecret plan\n--- End of content ---")
    file.add("info", "Request cancelled.")
    file.user("again")
    file.add("error", "[API Error: overloaded]")
    turns = of(tmp_path, file).turns
    assert [turn.prompt for turn in turns] == ["fix it", "/plan", "look at @a.txt", "again"]
    assert [str(turn.state) for turn in turns] == ["complete", "complete", "interrupted", "failed"]


def test_the_log_says_what_it_grew_to(tmp_path: Path) -> None:
    file = GeminiFile()
    first = file.user("first")
    grown = file.run("Output: fine")
    file.say("ok")
    lines = file.lines()
    young = json.dumps({**grown, "toolCalls": [], "content": "work"}).encode()
    back = GeminiFile("8c1f0000-3a52-4c51-9d1e-0a6f5a7b1c2d")
    gone, answer = back.user("gone"), back.say("gone too")
    more = [json.dumps(one).encode() for one in (gone, answer, {"$rewindTo": gone["id"]})]
    (session,), report = read(tmp_path / "s.jsonl", b"\n".join([*lines[:2], young, *lines[2:], *more]))
    assert [(turn.prompt, len(turn.calls)) for turn in session.turns] == [("first", 1)]
    assert report.skipped == {REWOUND: 2} and report.calls == 1
    everything = json.dumps({"$set": {"messages": [first]}}).encode()
    (session,), report = read(tmp_path / "s.jsonl", b"\n".join([*lines, everything]))
    assert [(turn.prompt, len(turn.calls)) for turn in session.turns] == [("first", 0)]
    (session,), _ = read(tmp_path / "s.jsonl", b"\n".join([*lines, b'{"$rewindTo":"?"}', *more[:2]]))
    assert [turn.prompt for turn in session.turns] == ["gone"]


def test_a_message_counts_once(tmp_path: Path) -> None:
    seen = Seen()
    read(tmp_path / "a.json", json.dumps(talk().document()).encode(), seen)
    more = talk()
    more.user("go on")
    (session,), report = read(tmp_path / "b.jsonl", b"\n".join(more.lines()), seen)
    assert [turn.prompt for turn in session.turns] == ["go on"]
    assert report.skipped == {COPY: 6}


def test_the_folder_is_found_beside_the_chats_or_by_its_digest(tmp_path: Path) -> None:
    data = b"\n".join(talk().lines())
    noted = tmp_path / ".gemini" / "tmp" / "shop"
    (session,), _ = read(noted / "chats" / "session-1.jsonl", data)
    assert session.cwd is None
    (noted / ".project_root").write_text("/home/ada/shop\n")
    assert read(noted / "chats" / "session-1.jsonl", data)[0][0].cwd == "/home/ada/shop"
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps({"projects": {"/home/ada/lab": "lab", "/b": "b"}}))
    digest = hashlib.sha256(b"/home/ada/lab").hexdigest()
    document = GeminiFile(project=digest)
    document.messages = talk().messages
    old = tmp_path / ".gemini" / "tmp" / digest / "chats" / "session-1.json"
    assert read(old, json.dumps(document.document()).encode())[0][0].cwd == "/home/ada/lab"


def test_a_sub_agent_names_its_session_and_no_person(tmp_path: Path) -> None:
    (session,), _ = read(tmp_path / "chats" / ID / "sub.jsonl", b"\n".join(talk().lines()))
    assert (session.parent_id, {turn.prompt for turn in session.turns}) == (ID, {""})
    assert session.title == "please run the tests"


def test_one_message_by_itself(tmp_path: Path) -> None:
    data = json.dumps(talk().messages[1], indent=2).encode()
    assert READER.matches("x.json", data)
    (session,), report = read(tmp_path / "x.json", data)
    assert (report.turns, report.calls, report.failed) == (1, 1, 1) and session.turns[0].prompt == ""


def test_a_document_is_read_with_little_memory(tmp_path: Path) -> None:
    import tracemalloc

    file = talk()
    path = tmp_path / "big.json"
    head = json.dumps(file.document())[:-2]
    with path.open("w") as out:
        out.write(head)
        for n in range(60):
            big = {"id": f"m{n}", "timestamp": file.time(), "type": "gemini", "content": "x" * 1_000_000}
            out.write(f",{json.dumps(big)}")
        out.write("]}")
    tracemalloc.start()
    *_, report = READER.read(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(report, ReadReport) and report.records == 66 and CUT_OFF not in report.skipped
    assert peak < 20_000_000
