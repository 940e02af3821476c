"""Turns a row of the bank's file into the values callers see, and a lesson into the columns it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lessonbook.core.lesson import Kept, Lesson, Scope
from lessonbook.core.tidy import same_text, tidy_lesson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _T = TypeVar("_T", list[Any], dict[str, Any])

SHARED = "global"
"""The bank every project recalls. A project's own bank is its slug, which always ends in a digest."""

_PLAIN = (
    *("text", "source", "importance", "veracity", "memory_type", "title", "key", "cue", "component", "evidence"),
    *("confidence", "valid_until", "branch"),
)
_KEEPING = ("created", "seen", "recalled", "recalled_at", "forgotten")
_READ = ("id", "bank", *_PLAIN, "tags", "metadata", *_KEEPING, "superseded_by", "pinned", "invalid")
_LATER = "(SELECT group_concat('; ' || s.context, '') FROM sightings s WHERE s.lesson = l.id)"
CONTEXTS = f"CASE WHEN l.context IS NULL THEN substr({_LATER}, 3) ELSE l.context || coalesce({_LATER}, '') END"
"""Every context a lesson ``l`` was told in, the first first."""
_TAGS = "CASE l.tags WHEN '[]' THEN '' ELSE (SELECT group_concat(t.value, ' ') FROM json_each(l.tags) t) END"
SIDE = " || ' ' || ".join((*(f"coalesce(l.{name}, '')" for name in ("title", "cue", "component", "key")), _TAGS))
"""What a lesson ``l`` is found by beside its text and contexts."""
COLUMNS = ", ".join((*(f"l.{name}" for name in _READ), CONTEXTS))
"""What ``kept`` needs of a lesson ``l``, in its order."""


def kept(row: Sequence[object]) -> Kept:
    """Return a row of ``COLUMNS`` as a value; cleaned once more, as another program may write this file."""
    found = as_it_is(row)
    return found.but(lesson=tidy_lesson(found.lesson).lesson)


def as_it_is(row: Sequence[object]) -> Kept:
    """Return a row of ``COLUMNS`` as a value, not cleaned: for what is compared and not shown."""
    found = dict(zip(_READ, row, strict=False))
    lesson = Lesson(
        context=None if row[len(_READ)] is None else str(row[len(_READ)]),
        scope=Scope.GLOBAL if found["bank"] == SHARED else Scope.PROJECT,
        tags=tuple(map(str, _parsed(found["tags"], list))),
        metadata=MappingProxyType({str(key): str(value) for key, value in _parsed(found["metadata"], dict).items()}),
        **{name: found[name] for name in _PLAIN},  # type: ignore[arg-type]
    )
    superseding = found["superseded_by"]
    return Kept(
        id=str(found["id"]),
        lesson=lesson,
        bank=str(found["bank"]),
        superseded_by=None if superseding is None else str(superseding),
        pinned=bool(found["pinned"]),
        invalid=found["invalid"],  # type: ignore[arg-type]
        **{name: found[name] for name in _KEEPING},  # type: ignore[arg-type]
    )


def columns(lesson: Lesson) -> dict[str, object]:
    """Return the columns of a tidied lesson, its bank and times left out."""
    return {
        **{name: getattr(lesson, name) for name in _PLAIN},
        "same": same_text(lesson.text),
        "context": lesson.context,
        "tags": json.dumps(lesson.tags, ensure_ascii=False),
        "metadata": as_json(lesson.metadata),
    }


def as_json(told: Mapping[str, object]) -> str:
    """Return ``told`` as one text, the same for equal mappings."""
    return json.dumps(dict(told), sort_keys=True, ensure_ascii=False)


def _parsed(text: object, kind: type[_T]) -> _T:
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()
