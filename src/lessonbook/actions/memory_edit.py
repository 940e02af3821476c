"""A lesson as a file that a person edits: its fields as a block at the head, its text below."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from lessonbook.actions.memory import Answer, as_document
from lessonbook.actions.memory_changes import edit
from lessonbook.core import frontmatter
from lessonbook.core.errors import InputError
from lessonbook.core.frontmatter_writing import scalar
from lessonbook.core.lesson import Kept, Lesson
from lessonbook.core.ports import Bank
from lessonbook.memory.importing.values import epoch

Editor = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]
TEXTS = ("title", "context", "key", "cue", "component", "evidence", "branch")
CLEARABLE = ("title", "context", "tags", "key", "cue", "component", "evidence", "confidence", "valid_until", "branch")
"""The fields a lesson can do without."""
_WORDS = ("memory_type", "veracity", "scope")
_NUMBERS = ("importance", "confidence")
_FIELDS = (*TEXTS, "tags", *_WORDS, *_NUMBERS, "valid_until")
_WRONG = "# wrong: "
_TRIES = 9
_HELP = (
    "# A field left empty is cleared. valid_until is a date or time (UTC where it names no zone). The text is below.\n"
)


def edit_in(editor: Editor, memory: Bank, lesson: str) -> Answer:
    """Let a person change a lesson in their editor; where nothing is changed, nothing is done.

    What cannot be understood comes up again with the reason at its head, until it can be or is left as it is. Raises
    ``InputError`` then and for an id that is not there, and what ``editor`` raises.
    """
    kept = memory.get(lesson)
    name, written = f"lesson-{kept.id}.md", as_file(kept.lesson)
    problem: InputError | None = None
    for _ in range(_TRIES):
        left = editor({name: written.encode("utf-8", "replace")})[name].decode("utf-8", "replace")
        if left == written:
            break
        try:
            changes = changed(kept.lesson, left)
            problem = None
            return edit(memory, lesson, changes) if changes else _unchanged(kept)
        except InputError as error:
            problem, written = error, _explained(left, str(error))
    if problem is not None:
        raise problem
    return _unchanged(kept)


def as_file(lesson: Lesson) -> str:
    """Return a lesson as the text of a file."""
    return f"---\n{_HELP}{''.join(_lines(lesson))}---\n\n{lesson.text}\n"


def changed(lesson: Lesson, text: str) -> dict[str, object]:
    """Return the fields that are not what they were, as ``core.ports.Bank.update`` takes them.

    Raises ``InputError`` where the block at the head cannot be read, or a field in it is not one of a lesson's.
    """
    parts = frontmatter.split(text)
    if parts.problem:
        raise InputError(f"The edited lesson {parts.problem}. Nothing was changed.")
    unknown = [name for name in parts.fields if name not in _FIELDS]
    if unknown:
        raise InputError(
            f"A lesson has no field {unknown[0][:40]!r}; it has {', '.join(_FIELDS)}. Nothing was changed."
        )
    found: dict[str, object] = {name: _value(name, value) for name, value in parts.fields.items()}
    found["text"] = " ".join(parts.body.split())
    return {name: value for name, value in found.items() if value != _before(lesson, name)}


def cleared(name: str, others: Mapping[str, object]) -> dict[str, object]:
    """Return the change that takes a field away. Raises ``InputError`` where it must stay, or is to be changed too."""
    field = "tags" if name == "tag" else name.replace("-", "_")
    if field not in CLEARABLE:
        raise InputError(f"{name[:40]!r} cannot be cleared; what can is {', '.join(CLEARABLE)}.")
    if others.get(field) not in (None, ()):
        raise InputError(f"{name} cannot be both set and cleared.")
    return {field: () if field == "tags" else None}


def time_of(text: str) -> float:
    """Return the epoch seconds of a date or time. Raises ``InputError`` for what is none."""
    found = epoch(text)
    if found is None:
        raise InputError(f"{text[:40]!r} is not a date or time, such as 2027-01-31 or 2027-01-31T18:00+01:00.")
    return found


def _unchanged(kept: Kept) -> Answer:
    return {"ok": True, "lesson": as_document(kept), "changed": False}, f"{kept.id} is as it was"


def _explained(text: str, problem: str) -> str:
    """Return what a person wrote with the reason it was refused at its head, in the place of the one before."""
    opening, _, rest = text.partition("\n") if text.startswith("---") else ("---", "", f"---\n\n{text}")
    lines = [line for line in rest.split("\n") if not line.startswith(_WRONG)]
    return "\n".join([opening, f"{_WRONG}{problem}", *lines])


def _lines(lesson: Lesson) -> Iterator[str]:
    for name in _FIELDS:
        value = _before(lesson, name)
        if isinstance(value, tuple):
            yield f"{name}: [{', '.join(json.dumps(tag, ensure_ascii=False) for tag in value)}]\n"
        elif value is None:
            yield f"{name}:\n"
        else:
            yield f"{name}: {_written(name, value)}\n"


def _written(name: str, value: object) -> str:
    if name == "valid_until":
        try:
            return datetime.fromtimestamp(float(str(value)), UTC).isoformat()
        except (OverflowError, ValueError, OSError):
            return str(value)
    return f"{value:g}" if isinstance(value, float) else scalar(str(value))


def _before(lesson: Lesson, name: str) -> object:
    value = getattr(lesson, name)
    return value.value if name == "scope" else value


def _value(name: str, value: frontmatter.Value) -> object:
    if name == "tags":
        tags = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        return tuple(str(tag) for tag in tags if str(tag).strip())
    if not isinstance(value, str):
        raise InputError(f"{name} is a text on one line. Nothing was changed.")
    said = value.strip()
    if not said and name in CLEARABLE:
        return None
    if name == "valid_until":
        return time_of(said)
    if name in _NUMBERS:
        try:
            return float(said)
        except ValueError as error:
            raise InputError(f"{name} is a number from 0 to 1, not {said[:40]!r}. Nothing was changed.") from error
    return said
