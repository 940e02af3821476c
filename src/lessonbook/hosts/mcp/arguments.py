"""Checks what a client sends against the tool's own schema, and takes it as it was meant.

Some clients send every argument as text. So what is meant to be a list, an object, a number or a yes or no may come as
JSON text; what is meant to be text stays exactly the text it is, also where it looks like JSON. An id that looks like a
whole number may come as one. ``null`` for an optional argument is the same as leaving it out; inside an object of
changes it takes a value away.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from lessonbook.core.errors import InputError
from lessonbook.hosts.mcp.schemas import ID, Schema

_SHOWN = 40


def checked(schema: Schema, given: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the arguments as ``schema`` means them, without those that are ``null``.

    Raises ``InputError`` that names the argument which is missing, unknown, or not what it must be.
    """
    told = {name: value for name, value in (given or {}).items() if value is not None or name not in _known(schema)}
    return _object(schema, told, "")


def decoded(text: str) -> object:
    """Return what JSON ``text`` says, or the text itself where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _known(schema: Schema) -> Mapping[str, Schema]:
    properties: Mapping[str, Schema] = schema["properties"]
    return properties


def _object(schema: Schema, given: Mapping[str, object], within: str) -> dict[str, Any]:
    known = _known(schema)
    where = f"{within.rstrip('.')} takes" if within else "The arguments are"
    unknown = [str(name)[:_SHOWN] for name in given if name not in known]
    if unknown:
        raise InputError(f"{within}{unknown[0]!r} is not known. {where} {', '.join(known) or 'none'}.")
    missing = [name for name in schema.get("required", ()) if name not in given]
    if missing:
        raise InputError(f"{within}{missing[0]} is missing. {where} {', '.join(known)}.")
    return {name: _value(known[name], value, f"{within}{name}") for name, value in given.items()}


def _value(schema: Schema, value: object, name: str) -> object:
    kind = schema["type"]
    said, fits = _KINDS[kind]
    meant = decoded(value) if isinstance(value, str) and kind != "string" else value
    if schema.get("title") == ID and isinstance(value, int) and not isinstance(value, bool):
        meant = _shown(value)
    if not fits(meant):
        raise InputError(f"{name} must be {said}, not {_kind_of(value)}.")
    if isinstance(meant, dict):
        # A null in here is a wish: take this value away.
        wishes = {field: None for field, one in meant.items() if one is None and field in _known(schema)}
        return _object(schema, {k: v for k, v in meant.items() if k not in wishes}, f"{name}.") | wishes
    if isinstance(meant, list):
        return [_value(schema["items"], one, f"{name}[{at}]") for at, one in enumerate(meant)]
    _check_bounds(schema, meant, name)
    return int(meant) if kind == "integer" and isinstance(meant, float) else meant


def _check_bounds(schema: Schema, value: Any, name: str) -> None:
    choices = schema.get("enum")
    if choices and value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, not {_shown(value)!r}.")
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None and not least <= value <= most:
        raise InputError(f"{name} must be from {least} to {most}, not {_shown(value)}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _is_whole(value: object) -> bool:
    return _is_number(value) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "string": ("text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", _is_whole),
    "number": ("a number", _is_number),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    return next((said for said, fits in _KINDS.values() if fits(value)), repr(_shown(value)))


def _shown(value: object) -> str:
    try:
        return str(value)[:_SHOWN]
    except ValueError:  # a whole number of thousands of digits, which Python does not spell out
        return "such a number"
