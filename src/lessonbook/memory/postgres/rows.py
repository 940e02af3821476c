"""Rows of the team's schema as the values callers see, and lessons as rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.lesson import Kept, Lesson, Part, Recalled, Scope
from lessonbook.core.tidy import same_text, tidy_lesson
from lessonbook.core.words import stems
from lessonbook.memory.mnemopi.rows import SHARED

_KEEPING = ("created", "seen", "recalled", "recalled_at", "invalid", "forgotten", "pinned")
_READ = ("id", "bank", "told", "contexts", *_KEEPING, "superseded_by")
COLUMNS = ", ".join(f"l.{name}" for name in _READ)
"""What ``kept`` needs of a lesson ``l``, in its order."""


def kept(row: Sequence[Any]) -> Kept:
    """Return a row of ``COLUMNS`` as a value; cleaned once more, as others may write there."""
    found = dict(zip(_READ, row, strict=True))
    told = {name: value for name, value in found["told"].items() if name in Lesson._fields}
    told["tags"] = tuple(told.get("tags") or ())
    contexts = "; ".join(found["contexts"]) or None
    scope = Scope.GLOBAL if found["bank"] == SHARED else Scope.PROJECT
    lesson = Lesson(**{**told, "scope": scope, "context": contexts})
    by = found["superseded_by"]
    return Kept(
        id=str(found["id"]),
        lesson=tidy_lesson(lesson).lesson,
        bank=found["bank"],
        superseded_by=None if by is None else str(by),
        **{name: found[name] for name in _KEEPING},
    )


def columns(lesson: Lesson, contexts: Sequence[str]) -> dict[str, Any]:
    """Return the columns of a tidied lesson that was told in ``contexts``, as they are sent."""
    told = {name: value for name, value in lesson.as_dict().items() if name not in ("scope", "context")}
    told |= {"tags": list(lesson.tags), "metadata": dict(lesson.metadata)}
    return {
        "same": same_text(lesson.text),
        "same_hash": same_hash(lesson.text),
        "key": lesson.key,
        "told": as_json(told),
        "contexts": list(contexts),
        "words": words(lesson, contexts),
    }


def same_hash(text: str) -> str:
    """Return what two spellings of a lesson share, short enough for an index."""
    return hashlib.sha256(same_text(text).encode()).hexdigest()


def words(lesson: Lesson, contexts: Sequence[str]) -> list[str]:
    """Return what a lesson is found by, each word once."""
    sides = (lesson.title, lesson.cue, lesson.component, lesson.key, *lesson.tags, *contexts)
    return list(dict.fromkeys(stems(" ".join((lesson.text, *filter(None, sides))))))


def as_json(told: Mapping[str, Any]) -> str:
    """Return a mapping as the text of a ``jsonb``."""
    return json.dumps(dict(told), ensure_ascii=False)


def shown(found: Kept, score: float, now: float, parts: tuple[Part, ...] = ()) -> Recalled:
    """Return a lesson as it is recalled, with what a reader must weigh it with."""
    lesson, marks = found.lesson, list[str]()
    if found.superseded_by is not None:
        marks.append(f"lesson {found.superseded_by} took its place")
    elif found.invalid is not None:
        marks.append("marked as no longer holding")
    if lesson.valid_until is not None and lesson.valid_until < now:
        marks.append("held for a time that has passed")
    return Recalled(
        found.id, lesson.text, lesson.context, score, found.seen, found.bank, lesson.source, lesson.title, parts,
        tuple(marks),
    )  # fmt: skip
