"""Anthropic's Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

from realagents.steps import Body, Call, Events, Offered, Step, Wire, new_id, tables, wants_stream


def offered(body: Body) -> list[Offered]:
    """Return the tools that can be called; those it defers only once a search has named them."""
    found = set(_named(body.get("messages")))
    tools = tables(body.get("tools"))
    return [Offered(str(tool["name"])) for tool in tools if not tool.get("defer_loading") or tool["name"] in found]


def _named(value: object) -> Iterator[str]:
    """Yield the tools that results of searches refer to."""
    for block in tables(value):
        if block.get("type") == "tool_reference":
            yield str(block.get("tool_name"))
        yield from _named(block.get("content"))


def results(body: Body) -> int:
    """Count the results of tools."""
    blocks = (block for message in tables(body.get("messages")) for block in tables(message.get("content")))
    return sum(block.get("type") == "tool_result" for block in blocks)


def whole(step: Step, model: str) -> Body:
    """Return the answer in one piece."""
    if isinstance(step, Call):
        block = {"type": "tool_use", "id": new_id("toolu_"), "name": step.name, "input": dict(step.arguments)}
    else:
        block = {"type": "text", "text": step.text}
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": "tool_use" if isinstance(step, Call) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }


def events(step: Step, model: str) -> Events:
    """Yield the answer as a stream."""
    message = dict(whole(step, model))
    (block,) = message["content"]
    if isinstance(step, Call):
        opened, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    parts = (
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    )
    for part in parts:
        yield str(part["type"]), part


WIRE = Wire(r"/messages$", offered, results, wants_stream, events, whole)
