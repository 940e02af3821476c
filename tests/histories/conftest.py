"""Writes histories of one project as six agents write them: what was run, what it said, and what is only noise.

The texts are our own; what programs say is put as those programs put it, with names of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CWD = "/srv/shop"
TOKENS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "knoll", "ledge", "marsh")


@dataclass(frozen=True)
class Step:
    """One call: a command (or a tool's name), what came of it, and its exit code; ``args`` where it is a tool."""

    what: str
    said: str = "done"
    code: int = 0
    args: tuple[tuple[str, str], ...] | None = None


def word(n: int) -> str:
    """A word that no other number has, and no digit in it: digits are masked."""
    return TOKENS[n % 12] + TOKENS[n // 12 % 12] + TOKENS[n // 144 % 12]


def noise(n: int) -> list[Step]:
    """What no lesson comes from: red tests, lint, a search that finds nothing, and slips that come once each."""
    return [
        Step("grep -rn nowhere src", "", 1),
        Step("npm test", f"FAIL {word(n)}.test.js\n  expected {n} to be {n + 1}", 1),
        Step("ruff check .", f"{word(n)}.py:{n}:1: F401 `{word(n)}` imported but unused", 1),
        Step(f"{word(n)} go", f"{word(n)}: the {word(n)} is out of {word(n + 7)}", 3),
        Step(f"python try_{n}.py", f"Traceback (most recent call last):\n  File 'x'\nValueError: {word(n)}", 1),
        Step("ls", "src"),
    ]


def _time(n: int, at: int) -> datetime:
    return datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(days=n, seconds=at)


def _iso(n: int, at: int) -> str:
    return _time(n, at).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _sent(step: Step) -> dict[str, str]:
    return {"command": step.what} if step.args is None else dict(step.args)


def _lines(records: Sequence[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def claude(folder: Path, n: int, steps: Sequence[Step]) -> None:
    base = {"sessionId": f"claude-{n}", "version": "2.1.50", "cwd": CWD}

    def record(at: int, kind: str, content: object) -> dict[str, Any]:
        message = {"role": kind, "content": content, "id": f"c{n}-m{at}"}
        return base | {"type": kind, "uuid": f"c{n}-{at}", "timestamp": _iso(n, at), "message": message}

    records = [record(0, "user", "go on")]
    for at, step in enumerate(steps):
        name = "Bash" if step.args is None else step.what
        use = {"type": "tool_use", "id": f"c{n}-{at}", "name": name, "input": _sent(step)}
        failed = bool(step.code)
        said = f"Exit code {step.code}\n{step.said}" if failed and step.args is None else step.said
        result = {"type": "tool_result", "tool_use_id": f"c{n}-{at}", "content": said, "is_error": failed}
        records += [record(2 * at + 1, "assistant", [use]), record(2 * at + 2, "user", [result])]
    (folder / f"claude-{n}.jsonl").write_text(_lines(records))


def codex(folder: Path, n: int, steps: Sequence[Step]) -> None:
    id = f"5f0c1f9e-3a52-4c51-9d1e-{n:012d}"

    def record(at: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": _iso(n, at), "type": kind, "payload": payload}

    meta = {"id": id, "timestamp": _iso(n, 0), "cwd": CWD, "cli_version": "0.146.0", "source": "cli"}
    records = [
        record(0, "session_meta", **meta),
        record(0, "response_item", type="message", role="user", content=[{"type": "input_text", "text": "go on"}]),
        record(0, "event_msg", type="user_message", message="go on"),
    ]
    for at, step in enumerate(steps, 1):
        call = f"call_{n:06d}{at:010d}"
        said = f"Exit code: {step.code}\nWall time: 0.5 seconds\nOutput:\n{step.said}"
        if step.args is None:
            sent = json.dumps(_sent(step))
            records.append(
                record(at, "response_item", type="function_call", name="shell_command", arguments=sent, call_id=call)
            )
            records.append(record(at, "response_item", type="function_call_output", call_id=call, output=said))
        else:
            fields = {"name": step.what, "input": json.dumps(_sent(step)), "call_id": call, "status": "completed"}
            records.append(record(at, "response_item", type="custom_tool_call", **fields))
            output = json.dumps({"output": step.said, "metadata": {"exit_code": step.code, "duration_seconds": 0.1}})
            records.append(record(at, "response_item", type="custom_tool_call_output", call_id=call, output=output))
    (folder / f"rollout-{_iso(n, 0)[:19].replace(':', '-')}-{id}.jsonl").write_text(_lines(records))


def gemini(folder: Path, n: int, steps: Sequence[Step]) -> None:
    def message(at: int, kind: str, content: object, **fields: Any) -> dict[str, Any]:
        return {"id": f"{at:08d}-{n:04d}", "timestamp": _iso(n, at), "type": kind, "content": content, **fields}

    messages = [message(0, "user", [{"text": "go on"}])]
    for at, step in enumerate(steps, 1):
        shell = step.args is None
        name, id = ("run_shell_command" if shell else step.what), f"g{n}-{at:012d}"
        said = (
            f"Output: {step.said or '(empty)'}\nExit Code: {step.code}\nProcess Group PGID: 7" if shell else step.said
        )
        key = "output" if shell or not step.code else "error"
        status = "success" if shell or not step.code else "error"
        response = {"functionResponse": {"id": id, "name": name, "response": {key: said}}}
        call = {"id": id, "name": name, "args": _sent(step), "timestamp": _iso(n, at), "status": status}
        messages.append(message(at, "gemini", "", model="gemini-3-pro", toolCalls=[{**call, "result": [response]}]))
    id = f"7b1f{n:04d}-3a52-4c51-9d1e-0a6f5a7b1c2d"
    whole = {"sessionId": id, "projectHash": "f" * 64, "startTime": _iso(n, 0), "lastUpdated": _iso(n, 999)}
    (folder / f"session-{_iso(n, 0)[:16].replace(':', '-')}-{id[:8]}.json").write_text(
        json.dumps(whole | {"messages": messages})
    )


def opencode(folder: Path, n: int, steps: Sequence[Step]) -> None:
    session = f"ses_{n:020d}"

    def stamp(at: int) -> int:
        return int(_time(n, at).timestamp() * 1000)

    def message(at: int, role: str, part: dict[str, Any]) -> dict[str, Any]:
        id = f"msg_{n:08d}{at:012d}"
        info = {"id": id, "sessionID": session, "role": role, "time": {"created": stamp(at)}, "modelID": "model-1"}
        return {"info": info, "parts": [{"id": f"prt_{id[4:]}", "messageID": id, "sessionID": session, **part}]}

    messages = [message(0, "user", {"type": "text", "text": "go on"})]
    for at, step in enumerate(steps, 1):
        times = {"start": stamp(at), "end": stamp(at)}
        state: dict[str, Any] = {"input": _sent(step), "time": times}
        if step.args is None:
            state |= {"status": "completed", "output": step.said, "metadata": {"exit": step.code}}
        else:
            state |= {"status": "error", "error": step.said} if step.code else {"status": "completed", "output": "ok"}
        tool = "bash" if step.args is None else step.what
        part = {"type": "tool", "tool": tool, "callID": f"call_{n}_{at}", "state": state}
        messages.append(message(at, "assistant", part))
    info = {"id": session, "projectID": "p" * 40, "directory": CWD, "title": "Work", "version": "1.0.50"}
    info["time"] = {"created": stamp(0), "updated": stamp(999)}
    (folder / f"{session}.json").write_text(json.dumps({"info": info, "messages": messages}))


def miniswe(folder: Path, n: int, steps: Sequence[Step]) -> None:
    messages = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": f"Solve task {n}"}]
    for step in steps:
        said = f"<returncode>{step.code}</returncode>\n<output>\n{step.said}\n</output>"
        messages.append({"role": "assistant", "content": f"I look.\n\n```mswea_bash_command\n{step.what}\n```"})
        messages.append({"role": "user", "content": said})
    whole = {"info": {}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    (folder / f"task-{n:04d}.traj.json").write_text(json.dumps(whole))


def pi(folder: Path, n: int, steps: Sequence[Step]) -> None:
    id = f"0190{n:04d}-3a52-7c51-9d1e-0a6f5a7b1c2d"
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": id, "timestamp": _iso(n, 0), "cwd": CWD},
    ]

    def message(at: int, role: str, content: object, **fields: Any) -> None:
        parent = records[-1]["id"] if len(records) > 1 else None
        body = {"role": role, "content": content, **fields, "timestamp": int(_time(n, at).timestamp() * 1000)}
        entry = {"type": "message", "id": f"{len(records):08x}", "parentId": parent, "timestamp": _iso(n, at)}
        records.append(entry | {"message": body})

    message(0, "user", [{"type": "text", "text": "go on"}])
    for at, step in enumerate(steps, 1):
        name, call = ("bash" if step.args is None else step.what), f"toolu_{n:04d}{at:016d}"
        block = {"type": "toolCall", "id": call, "name": name, "arguments": _sent(step)}
        message(at, "assistant", [block], stopReason="toolUse", model="model-1", provider="p")
        ended = f"\n\nCommand exited with code {step.code}" if step.code and step.args is None else ""
        told = [{"type": "text", "text": f"{step.said}{ended}"}]
        message(at, "toolResult", told, toolCallId=call, toolName=name, isError=bool(step.code))
    (folder / f"{_iso(n, 0).replace(':', '-').replace('.', '-')}_{id}.jsonl").write_text(_lines(records))


AGENTS: dict[str, Callable[[Path, int, Sequence[Step]], None]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
    "miniswe": miniswe,
    "pi": pi,
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benches can be imported."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes a project: ``written(agent, [steps, …])``, one session for each list of steps, day by day.

    Several agents' names share the sessions out among them.
    """

    def write(agents: str | Sequence[str], sessions: Sequence[Sequence[Step]]) -> Path:
        named = (agents,) if isinstance(agents, str) else tuple(agents)
        folder = tmp_path / "shop" / "sessions"
        folder.mkdir(parents=True)
        for n, steps in enumerate(sessions):
            AGENTS[named[n % len(named)]](folder, n, steps)
        return folder.parent

    return write
