from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, Usage
from lessonbook.testing_documents import DocumentContract
from lessonbook.testing_readers import StoreContract
from lessonbook.transcripts.inspect_ai import NO_MEMBER, InspectReader
from lessonbook.transcripts.inspect_talk import COPY

READER = InspectReader()
ALIEN = b'{"sessionId":"s","projectHash":"p","messages":[{"id":"1","timestamp":"t","type":"user","content":"x"}]}'
EVAL = {"task": "fix-the-shop", "model": "vendor/model-1", "run_id": "run1", "created": "2026-03-01T11:00:00+00:00"}


class Sample:
    """Builds one sample."""

    def __init__(self, n: int = 1, **fields: Any) -> None:
        self.n = n
        self.fields = {"id": f"sample-{n}", "epoch": 1, "input": "fix it", "target": "", **fields}
        self.fields.setdefault("uuid", f"uuid-{n}")
        self.messages: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.attachments: dict[str, str] = {}

    def add(self, role: str, content: Any, **fields: Any) -> None:
        self.messages.append({"id": f"m{self.n}.{len(self.messages)}", "role": role, "content": content, **fields})

    def run(self, result: Any, command: str = "make test", error: Any = None, event: Any = None) -> None:
        id = f"c{self.n}.{len(self.messages)}"
        call = {"id": id, "function": "bash", "arguments": {"cmd": command}, "type": "function"}
        self.add("assistant", [{"type": "reasoning", "reasoning": "hm"}], tool_calls=[call])
        self.add("tool", result, tool_call_id=id, function="bash", error=error)
        self.events.append({"event": "tool", "id": id, "function": "bash", "arguments": {}, **(event or {})})

    def document(self) -> dict[str, Any]:
        lists = {"messages": self.messages, "events": self.events, "attachments": self.attachments}
        return {**self.fields, **lists}


def talk(n: int = 1) -> Sample:
    sample = Sample(n)
    sample.add("system", "You are an agent.")
    sample.add("user", "please run the tests", source="input")
    sample.run("no rule", error={"type": "unknown", "message": "exit code 2"})
    sample.run("all good", "make check")
    sample.add("assistant", "It passes.")
    return sample


def log(*samples: Sample) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": EVAL, "samples": [one.document() for one in samples]}


def archive(path: Path, *samples: Sample) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("_journal/start.json", json.dumps({"version": 2, "eval": EVAL}))
        for one in samples:
            out.writestr(f"samples/{one.fields['id']}_epoch_1.json", json.dumps(one.document()))
        out.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": EVAL}))
    return path


class TestSampleContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return talk().document()

    def where(self) -> str:
        return "messages"

    def alien(self) -> bytes:
        return ALIEN

    def has_folder(self) -> bool:
        return False


class TestArchiveContract(StoreContract):
    def reader(self) -> TranscriptReader:
        return READER

    def place(self, folder: Path) -> Path:
        return archive(folder / "log.eval", talk(1), talk(2))

    def alien(self) -> bytes:
        return ALIEN

    def has_folder(self) -> bool:
        return False


def read(path: Path, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


def put(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_a_sample_in_every_form(tmp_path: Path) -> None:
    sample = talk()
    sample.fields["started_at"] = "2026-03-01T11:00:00+00:00"
    spent = {"input_tokens": 5, "output_tokens": 7, "input_tokens_cache_read": 90, "reasoning_tokens": 2}
    sample.fields["model_usage"] = {"vendor/model-1": spent}
    sample.events[0]["working_time"] = 0.5
    forms = [archive(tmp_path / "a.eval", sample), put(tmp_path / "log.json", log(sample))]
    forms.append(put(tmp_path / "bundle.json", {"metadata": {"x": 1}, "sample": sample.document()}))
    found = [read(path)[0] for path in forms]
    assert all(READER.matches(str(path), path.read_bytes()[:65_536]) for path in forms)
    assert all(len(one) == 1 and one[0].turns == found[0][0].turns for one in found)
    (session,) = found[0]
    assert (session.agent, session.id, session.title, session.model) == (
        "inspect",
        "uuid-1",
        "fix-the-shop",
        "vendor/model-1",
    )
    assert session.started == 1772362800.0
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, str(turn.state)) == ("please run the tests", "It passes.", "complete")
    assert turn.usage == Usage(input=95, output=7, cache_read=90, reasoning=2)
    first, second = turn.calls
    assert (first.kind, first.command, first.status, first.secs) == (
        CallKind.SHELL,
        "make test",
        CallStatus.FAILED,
        0.5,
    )
    assert first.result == "no rule\nexit code 2" and second.status is CallStatus.OK


def test_samples_of_a_log_are_read_one_by_one(tmp_path: Path) -> None:
    sessions, report = read(put(tmp_path / "log.json", log(*(talk(n) for n in range(5)))))
    assert [one.id for one in sessions] == [f"uuid-{n}" for n in range(5)]
    assert (report.calls, report.failed) == (10, 5)
    assert len(read(archive(tmp_path / "log.eval", *(talk(n) for n in range(5))))[0]) == 5


@pytest.mark.parametrize(
    ("error", "event", "approval", "status"),
    [
        (None, {}, None, CallStatus.OK),
        ({"type": "timeout", "message": "too long"}, {}, None, CallStatus.FAILED),
        (None, {"failed": True}, None, CallStatus.FAILED),
        ({"type": "approval", "message": "no"}, {}, None, CallStatus.BLOCKED),
        ({"type": "approval", "message": "no"}, {}, "human", CallStatus.DENIED),
        ({"type": "approval", "message": "no"}, {}, "policy", CallStatus.BLOCKED),
    ],
)
def test_how_a_call_ended(tmp_path: Path, error: Any, event: Any, approval: str | None, status: CallStatus) -> None:
    sample = Sample()
    sample.add("user", "go")
    sample.run("x", error=error, event=event)
    if approval:
        asked = {"id": sample.messages[-1]["tool_call_id"]}
        sample.events.append({"event": "approval", "approver": approval, "decision": "reject", "call": asked})
    (call,) = read(put(tmp_path / "s.json", sample.document()))[0][0].turns[0].calls
    assert call.status is status


def test_what_is_only_named_is_put_in_and_what_nobody_asked_is_no_turn(tmp_path: Path) -> None:
    sample = Sample()
    sample.add("user", "attachment://aa11")
    sample.run("attachment://bb22")
    sample.add("user", "Please proceed to the next step using your best judgement.")
    sample.attachments = {"aa11": "the whole task", "bb22": "the whole output"}
    (session,), _ = read(put(tmp_path / "s.json", sample.document()))
    (turn,) = session.turns
    assert (turn.prompt, turn.calls[0].result) == ("the whole task", "the whole output")


def test_a_sample_counts_once(tmp_path: Path) -> None:
    seen = Seen()
    read(put(tmp_path / "log.json", log(talk(1))), seen)
    sessions, report = read(archive(tmp_path / "log.eval", talk(1), talk(2)), seen)
    assert [one.id for one in sessions] == ["uuid-2"] and report.skipped == {COPY: 1}


def test_a_damaged_member_costs_only_itself(tmp_path: Path) -> None:
    path = archive(tmp_path / "log.eval", talk(1), talk(2), talk(3))
    data = bytearray(path.read_bytes())
    at = data.find(b"samples/sample-2")
    data[at + 40 : at + 80] = b"\x00" * 40
    path.write_bytes(data)
    sessions, report = read(path)
    assert {"uuid-1", "uuid-3"} <= {one.id for one in sessions}
    assert report.skipped.get(NO_MEMBER) == 1
    path.write_bytes(data[:500])
    assert "no whole zip file" in (read(path)[1].problem or "")
