"""Which fields of a lesson can be changed, and to what."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import MEMORY_TYPES, VERACITIES, Scope

TEXT_LIMIT = 20_000
CONTEXT_LIMIT = 2_000


def checked(changes: Mapping[str, object]) -> dict[str, object]:
    """Return the changes as ``core.lesson.Lesson`` takes them. Raises ``InputError`` that names the field and rule."""
    return {name: _check(name, value) for name, value in changes.items()}


def _check(name: str, value: object) -> object:
    rule = _RULES.get(name)
    if rule is None:
        raise InputError(f"A lesson has no field {name[:40]!r} to change; it has {', '.join(_RULES)}.")
    check, said = rule
    try:
        return check(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} must be {said}.") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError
    return float(value)


def _optional_share(value: object) -> float | None:
    return None if value is None else _share(value)


def _time(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(tag, str) for tag in value):
        raise TypeError
    return tuple(value)


def _told(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise TypeError
    return dict(value)


def _veracity(value: object) -> str:
    if value not in VERACITIES:
        raise ValueError
    return str(value)


def _memory_type(value: object) -> str:
    if not re.fullmatch(r"[a-z][a-z_-]{0,31}", _text(value)):
        raise ValueError
    return str(value)


def _scope(value: object) -> Scope:
    return Scope(_text(value))


_RULES: dict[str, tuple[Callable[[object], object], str]] = {
    "text": (_text, "a text"),
    "context": (_optional_text, "a text, or nothing"),
    "title": (_optional_text, "a text, or nothing"),
    "tags": (_tags, "a list of texts"),
    "key": (_optional_text, "a text, or nothing"),
    "cue": (_optional_text, "a text, or nothing"),
    "component": (_optional_text, "a text, or nothing"),
    "evidence": (_optional_text, "a text, or nothing"),
    "confidence": (_optional_share, "a number from 0 to 1, or nothing"),
    "importance": (_share, "a number from 0 to 1"),
    "veracity": (_veracity, f"one of {', '.join(VERACITIES)}"),
    "memory_type": (_memory_type, f"one lower-case word, such as {', '.join(MEMORY_TYPES)}"),
    "metadata": (_told, "texts by name"),
    "valid_until": (_time, "a time in epoch seconds, or nothing"),
    "branch": (_optional_text, "a text, or nothing"),
    "scope": (_scope, "project or global"),
}
