"""Gemini's generateContent."""

from __future__ import annotations

from collections.abc import Iterator

from realagents.steps import Body, Call, Events, Offered, Step, Wire, new_id, tables


def offered(body: Body) -> Iterator[Offered]:
    """Yield the tools."""
    for tool in tables(body.get("tools")):
        for declared in tables(tool.get("functionDeclarations")):
            yield Offered(str(declared.get("name")))


def results(body: Body) -> int:
    """Count the results of tools."""
    parts = (part for content in tables(body.get("contents")) for part in tables(content.get("parts")))
    return sum("functionResponse" in part for part in parts)


def whole(step: Step, model: str) -> Body:
    """Return the answer in one piece."""
    part: dict[str, object]
    if isinstance(step, Call):
        part = {"functionCall": {"id": new_id("call"), "name": step.name, "args": dict(step.arguments)}}
    else:
        part = {"text": step.text}
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5, "totalTokenCount": 14},
        "modelVersion": model,
        "responseId": new_id("r"),
    }


def events(step: Step, model: str) -> Events:
    """Yield the answer as a stream of one part."""
    yield "", whole(step, model)


def streams(body: Body, path: str) -> bool:
    """Whether the address says it wants a stream."""
    return ":stream" in path


WIRE = Wire(r":(?:streamG|g)enerateContent$", offered, results, streams, events, whole)
