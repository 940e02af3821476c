"""The JSON Schemas of the tools, of what every client takes: plain objects, no references, no choices at the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = "dict[str, Any]"
ID = "Id"


def arguments(required: Sequence[str] = (), /, **properties: Schema) -> Schema:
    """Return the schema of a tool's arguments, which takes no others than these."""
    return {**answer(required, **properties), "additionalProperties": False}


def answer(required: Sequence[str] = (), /, **properties: Schema) -> Schema:
    """Return the schema of what a tool answers; more than is named may come with it."""
    # An empty list of what is required is no JSON Schema before draft 6, and some clients go by that.
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def table(description: str, **properties: Schema) -> Schema:
    """Return the schema of an object inside the arguments: any of these fields, and no others."""
    return {"description": description, **arguments((), **properties)}


def text(description: str, choices: Sequence[str] = ()) -> Schema:
    """Return the schema of a text, or of one of several words."""
    return {"type": "string", "description": description, **({"enum": list(choices)} if choices else {})}


def identity(description: str) -> Schema:
    """Return the schema of an id, which is text; a bank counts its lessons, so a client may send it as a number."""
    return {**text(description), "title": ID}


def texts(description: str) -> Schema:
    """Return the schema of a list of texts."""
    return {"type": "array", "description": description, "items": {"type": "string"}}


def whole(description: str, least: int, most: int) -> Schema:
    """Return the schema of a whole number within bounds."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}


def share(description: str) -> Schema:
    """Return the schema of a number from 0 to 1."""
    return {"type": "number", "description": description, "minimum": 0, "maximum": 1}


def number(description: str) -> Schema:
    """Return the schema of any finite number."""
    return {"type": "number", "description": description}


def things(description: str) -> Schema:
    """Return the schema of a list of objects, in an answer."""
    return {"type": "array", "description": description, "items": {"type": "object"}}


def anything(description: str) -> Schema:
    """Return the schema of what may also be ``null``: a choice of types is what some clients do not take."""
    return {"description": description}
