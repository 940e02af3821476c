"""OpenAI's chat completions, which most agents speak to a provider of one's own."""

from __future__ import annotations

import json

from realagents.steps import Body, Call, Events, Offered, Step, Wire, new_id, tables, wants_stream

_USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}


def offered(body: Body) -> list[Offered]:
    """Return the tools."""
    return [Offered(str((tool.get("function") or {}).get("name"))) for tool in tables(body.get("tools"))]


def results(body: Body) -> int:
    """Count the results of tools."""
    return sum(message.get("role") == "tool" for message in tables(body.get("messages")))


def _message(step: Step) -> dict[str, object]:
    if not isinstance(step, Call):
        return {"role": "assistant", "content": step.text}
    function = {"name": step.name, "arguments": json.dumps(dict(step.arguments))}
    call = {"index": 0, "id": new_id("call_"), "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _ended(step: Step) -> str:
    return "tool_calls" if isinstance(step, Call) else "stop"


def whole(step: Step, model: str) -> Body:
    """Return the answer in one piece."""
    choice = {"index": 0, "message": _message(step), "finish_reason": _ended(step)}
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": _USAGE,
    }


def events(step: Step, model: str) -> Events:
    """Yield the answer as a stream."""
    base = {"id": new_id("chatcmpl-"), "object": "chat.completion.chunk", "created": 1, "model": model}
    yield "", {**base, "choices": [{"index": 0, "delta": _message(step), "finish_reason": None}]}
    yield "", {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": _ended(step)}]}
    yield "", {**base, "choices": [], "usage": _USAGE}
    yield "", "[DONE]"


WIRE = Wire(r"/chat/completions$", offered, results, wants_stream, events, whole)
