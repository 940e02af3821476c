"""Reading values of any shape out of a record, and keeping texts short: nothing here raises."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

RESULT_MAX = 4_000
"""Characters kept of a call's result."""
TEXT_MAX = 8_000
"""Characters kept of a prompt, a reply or one argument."""
_ERRORS_MAX = 1_000
_ERROR_LINES = 12
_ERRORS = (
    *("error", "fail", "fatal", "exception", "traceback", "denied", "not found", "cannot", "can't", "panic"),
    "refused",
)
_DEPTH = 24


def text(value: object) -> str:
    """Return ``value`` where it is a string, else the empty string."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    """Return ``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def whole(value: object) -> int:
    """Return ``value`` where it is a number of zero or more, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def epoch(value: object) -> float | None:
    """Return the epoch seconds of an ISO 8601 time (UTC where it names no zone), or of seconds or milliseconds."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
            seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
        return seconds if seconds > 0 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return None
    return value / 1000 if value > 1e11 else float(value)


def scoped(id: str, path: str) -> str:
    """Return an id that may be compared across files: a short one, which others may use too, only within its own."""
    return id if len(id) >= 16 else f"{id}\0{path}"


def clip(value: str, limit: int, *, errors: bool = False) -> str:
    """Return ``value`` cut to about ``limit`` characters: its head, its tail, and a mark that says what is missing.

    With ``errors``, lines of the left-out middle that speak of an error are kept as well (at most 12).
    """
    if len(value) <= limit:
        return value
    kept = _error_lines(value, limit * 2 // 5, len(value) - limit * 2 // 5) if errors else ""
    room = limit - len(kept)
    head, tail = value[: room // 2], value[len(value) - room // 2 :]
    mark = f"\n[… {len(value) - len(head) - len(tail)} characters left out …]\n"
    return f"{head}{mark}{kept}\n[…]\n{tail}" if kept else f"{head}{mark}{tail}"


def _error_lines(value: str, start: int, end: int) -> str:
    """Return the lines between two places that speak of an error, each once, with not too much around the word."""
    low = value.lower()
    if len(low) != len(value):  # a letter whose small form is longer: places must stay where they are
        low = "".join(small if len(small := one.lower()) == 1 else one for one in value)
    found = {word: low.find(word, start, end) for word in _ERRORS}
    lines: list[str] = []
    spent = 0
    while len(lines) < _ERROR_LINES and spent < _ERRORS_MAX:
        found = {word: at if at >= start else low.find(word, start, end) for word, at in found.items() if at >= 0}
        word = min((word for word, at in found.items() if at >= 0), key=found.__getitem__, default=None)
        if word is None:
            break
        at = found[word]
        first = max(value.rfind("\n", 0, at) + 1, at - 150)
        behind = at + len(word)
        last = value.find("\n", behind)
        last = min(len(value) if last < 0 else last, behind + 150)
        lines.append(value[first:last].strip())
        spent += last - first + 1
        start = last
    return "\n".join(lines)[:_ERRORS_MAX]


def keep_args(args: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return a call's arguments with every long text inside them clipped; equal arguments stay equal."""
    return {
        key: value if type(value) is str and len(value) <= TEXT_MAX else _keep(value, depth + 1)
        for key, value in args.items()
    }


def _keep(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return clip(value, TEXT_MAX) if len(value) > TEXT_MAX else value
    if depth > _DEPTH:
        return "[…]"
    if isinstance(value, dict):
        return keep_args(value, depth)
    if isinstance(value, list):
        kept = [_keep(item, depth + 1) for item in value[:200]]
        return kept if len(value) <= 200 else [*kept, f"[… {len(value) - 200} items left out …]"]
    return value
