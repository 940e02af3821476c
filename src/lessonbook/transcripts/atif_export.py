"""A session as an ATIF document (version 1.7). What the format has no field for stands in ``extra`` under our name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from lessonbook.core.session import Call, CallStatus, Session, Turn
from lessonbook.transcripts.atif_talk import OURS
from lessonbook.transcripts.building import total

VERSION = "ATIF-v1.7"
Clean = Callable[[str], str]


def as_atif(session: Session, clean: Clean) -> dict[str, Any]:
    """Return the session as a document; every text in it has gone through ``clean``."""
    steps = [{"step_id": n, **step} for n, step in enumerate(_steps(session, clean), 1)]
    facts = {name: getattr(session, name) for name in ("cwd", "repo", "branch", "commit", "title", "parent_id")}
    ours = {**facts, "started": session.started, "ended": session.ended, "offered": sorted(session.offered)}
    document = {
        "schema_version": VERSION,
        "session_id": session.id,
        "agent": {
            "name": session.agent,
            "version": session.agent_version or "unknown",
            **({"model_name": session.model} if session.model else {}),
        },
        "steps": steps,
        "final_metrics": _final(session, len(steps)),
        "extra": {OURS: _filled(ours)},
    }
    cleaned: dict[str, Any] = _cleaned(document, clean)
    return cleaned


def _steps(session: Session, clean: Clean) -> Iterator[dict[str, Any]]:
    for turn in session.turns:
        about = {"turn": turn.n, "state": str(turn.state), "started": turn.started, "ended": turn.ended}
        ours = _filled(about)
        if turn.prompt:
            yield _step("user", turn.prompt, turn.started, ours)
        for said in turn.steered:
            yield _step("user", said, turn.started, {**ours, "steered": True})
        for call in turn.calls:
            yield _call_step(call, ours)
        if turn.reply or turn.usage or not (turn.prompt or turn.calls):
            yield _reply_step(turn, ours)


def _step(source: str, message: str, at: float | None, ours: dict[str, Any]) -> dict[str, Any]:
    stamped = {"timestamp": datetime.fromtimestamp(at, UTC).isoformat()} if at is not None else {}
    return {**stamped, "source": source, "message": message, "extra": {OURS: ours}}


def _call_step(call: Call, ours: dict[str, Any]) -> dict[str, Any]:
    names = ("exit_code", "secs", "deny_reason", "args_raw", "at")
    about = {"status": str(call.status), **{name: getattr(call, name) for name in names}}
    about["by_subagent"] = call.by_subagent or None
    sent = {"tool_call_id": call.id, "function_name": call.name, "arguments": dict(call.args)}
    step = {**_step("agent", "", call.at, {**ours, "calls": {"0": _filled(about)}}), "tool_calls": [sent]}
    if call.result or call.status is not CallStatus.UNFINISHED:
        step["observation"] = {"results": [{"source_call_id": call.id, "content": call.result}]}
    return step


def _reply_step(turn: Turn, ours: dict[str, Any]) -> dict[str, Any]:
    spent = turn.usage
    if spent is None:
        return _step("agent", turn.reply, turn.ended, ours)
    more = {"cache_write": spent.cache_write, "reasoning": spent.reasoning}
    metrics = {
        "prompt_tokens": spent.input,
        "completion_tokens": spent.output,
        "cached_tokens": spent.cache_read,
        "cost_usd": spent.cost,
    }
    return {**_step("agent", turn.reply, turn.ended, {**ours, "usage": more}), "metrics": _filled(metrics)}


def _final(session: Session, steps: int) -> dict[str, Any]:
    spent = total(turn.usage for turn in session.turns if turn.usage is not None)
    found = {
        "total_prompt_tokens": spent.input,
        "total_completion_tokens": spent.output,
        "total_cached_tokens": spent.cache_read,
        "total_cost_usd": spent.cost,
        "total_steps": steps,
    }
    return _filled(found)


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _cleaned(value: Any, clean: Clean) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(inner, clean) for key, inner in value.items()}
    return [_cleaned(inner, clean) for inner in value] if isinstance(value, list | tuple) else value
