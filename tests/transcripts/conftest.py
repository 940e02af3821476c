"""Small sessions written for these tests, as each agent would write them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import Call, ReadReport, Session

SESSION = "5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d"


class ClaudeFile:
    """Builds the records of one Claude Code session; each follows the one before unless told otherwise."""

    def __init__(self, session: str = SESSION, *, start: int = 0, **common: Any) -> None:
        self.session = session
        self.records: list[dict[str, Any]] = []
        self.clock = start
        self.last: str | None = None
        self.common = {"cwd": "/home/ada/shop", "gitBranch": "main", "version": "2.1.50", **common}

    def time(self) -> str:
        self.clock += 1
        return f"2026-03-01T10:{self.clock // 60:02d}:{self.clock % 60:02d}.000Z"

    def add(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session}/{len(self.records)}/{self.clock}"))
        record = {
            "parentUuid": self.last,
            "isSidechain": False,
            "sessionId": self.session,
            "type": kind,
            "uuid": id,
            "timestamp": self.time(),
            **self.common,
            **fields,
        }
        self.records.append(record)
        self.last = record["uuid"]
        return record

    def user(self, content: Any, **fields: Any) -> dict[str, Any]:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def say(self, text: str, message: str | None = None, **fields: Any) -> dict[str, Any]:
        return self.assistant([{"type": "text", "text": text}], message, **fields)

    def assistant(self, content: Any, message: str | None = None, **fields: Any) -> dict[str, Any]:
        usage = fields.pop("usage", {"input_tokens": 10, "output_tokens": 5})
        body = {
            "id": message or f"msg_{len(self.records)}",
            "role": "assistant",
            "model": fields.pop("model", "claude-sonnet-5"),
            "content": content,
            "usage": usage,
        }
        return self.add("assistant", message=body, **fields)

    def call(self, name: str = "Bash", args: Any = None, id: str | None = None, **fields: Any) -> str:
        id = id or f"toolu_{self.session[:8]}{len(self.records):08d}"
        sent = {"command": "make test"} if args is None else args
        self.assistant([{"type": "tool_use", "id": id, "name": name, "input": sent}], **fields)
        return id

    def result(self, id: str, content: Any = "fine", error: bool | None = None, **fields: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": id, "content": content}
        if error is not None:
            block["is_error"] = error
        self.user([block], **fields)

    def run(self, content: Any, error: bool | None = None, **fields: Any) -> None:
        """A call and its result."""
        self.result(self.call(), content, error, **fields)

    def lines(self) -> list[bytes]:
        return [dumped(record) for record in self.records]


class CodexFile:
    """Builds the records of one Codex rollout of 2026."""

    def __init__(self, session: str = SESSION, *, start: int = 0, **meta: Any) -> None:
        self.records: list[dict[str, Any]] = []
        self.clock = start
        self.session = session
        self.add(
            "session_meta",
            id=session,
            timestamp=self.now(),
            **{"cwd": "/home/ada/shop", "cli_version": "0.146.0", "source": "cli", **meta},
        )
        self.add("turn_context", cwd="/home/ada/shop", model="gpt-5.6-codex")

    def now(self) -> str:
        return f"2026-03-01T11:{self.clock // 60:02d}:{self.clock % 60:02d}.000Z"

    def add(self, line: str, /, **payload: Any) -> dict[str, Any]:
        self.clock += 1
        record = {"timestamp": self.now(), "type": line, "payload": payload}
        self.records.append(record)
        return record

    def event(self, kind: str, **payload: Any) -> None:
        self.add("event_msg", type=kind, **payload)

    def item(self, kind: str, **payload: Any) -> None:
        self.add("response_item", type=kind, **payload)

    def user(self, text: str, *, event: bool = True) -> None:
        self.item("message", role="user", content=[{"type": "input_text", "text": text}])
        if event:
            self.event("user_message", message=text)

    def say(self, text: str) -> None:
        self.event("agent_message", message=text)
        self.item("message", role="assistant", content=[{"type": "output_text", "text": text}])

    def call(self, name: str = "shell_command", args: Any = None, id: str | None = None) -> str:
        id = id or f"call_{self.session[:8]}{len(self.records):010d}"
        sent = json.dumps({"command": "make test"}) if args is None else args
        self.item("function_call", name=name, arguments=sent, call_id=id)
        return id

    def result(self, id: str, output: Any) -> None:
        self.item("function_call_output", call_id=id, output=output)

    def run(self, output: Any, name: str = "shell_command", args: Any = None) -> None:
        """A call and its result."""
        self.result(self.call(name, args), output)

    def lines(self) -> list[bytes]:
        return [dumped(record) for record in self.records]


def dumped(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def write(path: Path, lines: Iterable[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def read(reader: TranscriptReader, path: Path, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    *sessions, report = reader.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [session for session in sessions if isinstance(session, Session)], report


def calls(sessions: Iterable[Session]) -> list[Call]:
    return [call for session in sessions for turn in session.turns for call in turn.calls]


@pytest.fixture
def claude_file() -> type[ClaudeFile]:
    """Builds a Claude Code session."""
    return ClaudeFile


@pytest.fixture
def codex_file() -> type[CodexFile]:
    """Builds a Codex rollout."""
    return CodexFile


@pytest.fixture
def read_lines(tmp_path: Path) -> Any:
    """Writes lines to a file of its own and reads it: ``read_lines(reader, lines, name=…)`` → sessions, report."""

    def go(
        reader: TranscriptReader, lines: Iterable[bytes], name: str = f"{SESSION}.jsonl", seen: Seen | None = None
    ) -> tuple[list[Session], ReadReport]:
        return read(reader, write(tmp_path / "sessions" / name, lines), seen)

    return go
