"""Turns a lesson into what waits in the outbox for a team's server, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lessonbook.core.lesson import Lesson, Recalled, Scope
from lessonbook.core.tidy import same_text, tidy, tidy_lesson
from lessonbook.memory.outbox.items import LESSON, Item, Row, document_id
from lessonbook.memory.postgres.connection import Connection

_APART = ("text", "context", "metadata")
"""What of a lesson stands beside its other fields: what it is told in does not make it another one."""


def destination(connection: Connection) -> str:
    """Return how a team's schema on a server is called in the outbox."""
    return f"{connection.address} {connection.schema}"


def document(bank: str, lesson: Lesson) -> str:
    """Return the id of what replaces itself: a lesson that has a key, else the words."""
    named = ("key", lesson.key) if lesson.key else ("text", same_text(lesson.text))
    return document_id(bank, *named)


def lesson_item(lesson: Lesson, bank: str, to: str, now: float) -> Item:
    """Return a tidied lesson on its way, with when it was told."""
    fields = {name: value for name, value in lesson.as_dict().items() if name not in _APART and value is not None}
    payload: dict[str, Any] = {
        "content": lesson.text,
        "timestamp": now,
        "metadata": dict(lesson.metadata),
        "fields": {**fields, "scope": lesson.scope.value, "tags": list(lesson.tags)},
    }
    if lesson.context:
        payload["context"] = lesson.context
    return Item(to, bank, document(bank, lesson), payload, LESSON, bank)


def lesson_of(told: Mapping[str, Any]) -> Lesson:
    """Return what was told. Raises ``ValueError`` or ``TypeError`` for what no lesson can be."""
    fields = {name: value for name, value in dict(told.get("fields") or {}).items() if name in Lesson._fields}
    fields |= {"scope": Scope(fields.get("scope", Scope.PROJECT)), "tags": tuple(fields.get("tags") or ())}
    metadata = {str(name): str(value) for name, value in dict(told.get("metadata") or {}).items()}
    fields |= {"text": str(told["content"]), "context": told.get("context"), "metadata": metadata}
    return tidy_lesson(Lesson(**fields)).lesson


def from_row(row: Row) -> Recalled:
    """Return a row of the outbox as the lesson that was told."""
    told = row.told
    text, context = tidy(str(told.get("content") or "")).text, tidy(str(told.get("context") or "")).text or None
    fields = told.get("fields") if isinstance(told.get("fields"), dict) else {}
    why = f"not on the server: {row.last_error}" if row.state == "dead" else "waits here for the server"
    source, title = str((fields or {}).get("source") or ""), (fields or {}).get("title")
    return Recalled(row.document, text, context, 0.0, row.seen, row.bank, source, title, marks=(why,))
