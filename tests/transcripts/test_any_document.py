"""No reader raises, whatever a document holds: any value under every name the formats use."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.session import ReadReport
from lessonbook.transcripts.registry import READERS

NAMES = [
    "type",
    "role",
    "id",
    "name",
    "content",
    "text",
    "message",
    "messages",
    "timestamp",
    "parentId",
    "toolCallId",
    "toolName",
    "isError",
    "stopReason",
    "usage",
    "cost",
    "model",
    "cwd",
    "tools",
    "arguments",
    "toolCalls",
    "status",
    "result",
    "functionResponse",
    "response",
    "output",
    "error",
    "tokens",
    "projectHash",
    "sessionId",
    "$set",
    "$rewindTo",
    "kind",
    "startTime",
    "displayContent",
    "info",
    "parts",
    "tool",
    "state",
    "input",
    "metadata",
    "exit",
    "time",
    "start",
    "end",
    "created",
    "callID",
    "raw",
    "path",
    "root",
    "tokens",
    "cache",
    "sessionID",
    "directory",
    "projectID",
    "version",
    "title",
    "revert",
    "messageID",
    "prompt",
    "activity",
    "session",
    "turn_id",
    "at",
    "details",
    "steered",
    "ok",
    "done",
    "secs",
    "args",
    "detail",
    "action_id",
    "parent_action_id",
    "trajectory",
    "history",
    "action",
    "observation",
    "thought",
    "execution_time",
    "environment",
    "replay_config",
    "model_stats",
    "exit_status",
    "is_demo",
    "agent",
    "message_type",
    "extra",
    "actions",
    "command",
    "returncode",
    "tool_calls",
    "function",
    "tool_call_id",
    "finish_reason",
    "session_id",
    "platform",
    "active",
    "compacted",
    "trajectory_format",
    "mini_version",
    "config",
    "samples",
    "sample",
    "eval",
    "epoch",
    "target",
    "uuid",
    "events",
    "event",
    "attachments",
    "approver",
    "decision",
    "call",
    "failed",
    "working_time",
    "model_usage",
    "schema_version",
    "steps",
    "step_id",
    "source",
    "observation",
    "results",
    "source_call_id",
    "function_name",
    "metrics",
    "subagent_trajectories",
    "trajectory_id",
    "is_copied_context",
    "a.b",
    "payload",
    "parentUuid",
]
WORDS = [
    "user",
    "assistant",
    "tool",
    "gemini",
    "info",
    "session",
    "message",
    "toolResult",
    "system",
    "agent",
    "text",
    "tool_use",
    "toolCall",
    "success",
    "error",
    "completed",
    "cancelled",
    "run_shell_command",
    "bash",
    "ATIF-v1.7",
    "mini-swe-agent-1.1",
    "ask",
    "2026-03-01T11:00:00Z",
    "aborted",
    "invalid",
    "attachment://a1",
    "approval",
    "reject",
    "session_meta",
    "step",
]
KEYS = ("role", "type", "content", "id", "timestamp")


def value(chance: Random, depth: int = 0) -> Any:
    """Any value, more often one the formats know."""
    pick = chance.random()
    if depth < 4 and pick < 0.25:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if depth < 4 and pick < 0.55:
        return {chance.choice(NAMES): value(chance, depth + 1) for _ in range(chance.randrange(8))}
    return chance.choice((None, True, False, 0, -1, 1.5, 10**400, "", "\ud83d", "x" * 9, *WORDS))


def record(chance: Random) -> Any:
    """Something like a record of one of the formats."""
    if chance.random() < 0.2:
        return value(chance)
    likely = {key: chance.choice((chance.choice(WORDS), value(chance))) for key in KEYS if chance.random() < 0.8}
    return {**likely, **{chance.choice(NAMES): value(chance) for _ in range(chance.randrange(8))}}


def records(chance: Random) -> list[Any]:
    return [record(chance) for _ in range(chance.randrange(6))]


def document(chance: Random) -> Any:
    if chance.random() < 0.3:
        return records(chance)
    named = chance.choice(("messages", "steps", "trajectory", "history", "samples", "events"))
    return {named: records(chance), **{chance.choice(NAMES): value(chance) for _ in range(chance.randrange(8))}}


def tried(reader: TranscriptReader, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    *sessions, report = reader.read(str(path))
    assert isinstance(report, ReadReport) and report.sessions == len(sessions)
    repr(sessions).encode("utf-8")


@pytest.mark.parametrize("reader", READERS, ids=lambda one: one.agent)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**64))
def test_a_reader_never_raises(reader: TranscriptReader, tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    data = json.dumps(document(chance)).encode()
    for name in ("a.json", "session.traj.json", "ses_1.json"):
        reader.matches(str(tmp_path / "session" / "p" / name), data[:65_536])
    tried(reader, tmp_path / "a.json", data)
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in records(chance))
    reader.matches("a.jsonl", lines)
    tried(reader, tmp_path / "a.jsonl", lines)
