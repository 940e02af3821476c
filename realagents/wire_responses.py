"""OpenAI's responses, which Codex speaks. Tools of a server are offered in a namespace of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from realagents.steps import Body, Call, Events, Offered, Step, Wire, new_id, tables, wants_stream


def offered(body: Body) -> Iterator[Offered]:
    """Yield the tools."""
    for tool in tables(body.get("tools")):
        name = str(tool.get("name") or tool.get("type"))
        if tool.get("type") == "namespace":
            yield from (Offered(str(inner.get("name")), name) for inner in tables(tool.get("tools")))
        else:
            yield Offered(name)


def results(body: Body) -> int:
    """Count the results of tools."""
    return sum(str(item.get("type")).endswith("_call_output") for item in tables(body.get("input")))


def _item(step: Step) -> dict[str, Any]:
    if not isinstance(step, Call):
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        return {"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed", "content": content}
    group = {"namespace": step.space} if step.space else {}
    arguments = json.dumps(dict(step.arguments))
    ids = {"id": new_id("fc_"), "call_id": new_id("call_")}
    return {"type": "function_call", **ids, "name": step.name, **group, "arguments": arguments, "status": "completed"}


def whole(step: Step, model: str) -> Body:
    """Return the answer in one piece."""
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": model,
        "output": [_item(step)],
        "usage": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14},
    }


def events(step: Step, model: str) -> Events:
    """Yield the answer as a stream."""
    response = dict(whole(step, model))
    (item,) = response["output"]
    place = {"output_index": 0, "item_id": item["id"]}
    opened = {**item, "status": "in_progress", **({"arguments": ""} if isinstance(step, Call) else {"content": []})}
    parts: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": opened},
    ]
    if isinstance(step, Call):
        name = "response.function_call_arguments"
        parts.append({"type": f"{name}.delta", **place, "delta": item["arguments"]})
        parts.append({"type": f"{name}.done", **place, "arguments": item["arguments"]})
    else:
        place["content_index"] = 0
        empty = {"type": "output_text", "text": "", "annotations": []}
        parts.append({"type": "response.content_part.added", **place, "part": empty})
        parts.append({"type": "response.output_text.delta", **place, "delta": step.text})
        parts.append({"type": "response.output_text.done", **place, "text": step.text})
        parts.append({"type": "response.content_part.done", **place, "part": item["content"][0]})
    parts.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    parts.append({"type": "response.completed", "response": response})
    for part in parts:
        yield part["type"], part


WIRE = Wire(r"/responses$", offered, results, wants_stream, events, whole)
