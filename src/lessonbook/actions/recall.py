"""Finds lessons again and words them for an agent: each in one list item of its own that nothing in it can leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lessonbook.core.clean import clean_body
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Recalled
from lessonbook.core.ports import Memory, Reflecting
from lessonbook.core.redact import redact
from lessonbook.core.tidy import RECALL_CLOSING, RECALL_OPENING, as_item, tidy

NOTHING = "No lesson matches."
NO_REASONS = "this memory does not say what its scores are made of"
MOST = 50


def recall(memory: Memory, query: str, limit: int = 5, *, counts: bool = True) -> tuple[Recalled, ...]:
    """Return up to ``limit`` lessons that fit ``query``, best first; none for a blank query, whatever it holds else.

    With ``counts=False`` no lesson counts as used by it, where the memory counts.

    Every text is cleaned and redacted once more: a person or another program may have changed what is kept. Raises
    ``InputError`` for a limit outside 1 to 50, and what the memory raises (``StoreError``, ``BusyError``,
    ``SetupError``).
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"The limit must be from 1 to {MOST}, not {limit}.")
    ask: Callable[[str, int], Sequence[Recalled]] = (
        memory.recall if counts else getattr(memory, "search", memory.recall)
    )
    found = ask(query, limit) if query.strip() else ()
    return tuple(map(_safe, found))[:limit]


def reflect(memory: Memory, query: str) -> str:
    """Return a server's answer to ``query`` in its own words, cleaned and redacted.

    Raises ``InputError`` for a blank question and where the memory has no such server, ``ModelError`` where it does not
    answer.
    """
    if not query.strip():
        raise InputError("Say what to reflect on.")
    if not isinstance(memory, Reflecting):
        raise InputError(f"The {memory.name} memory finds lessons and does not answer in its own words.")
    return redact(clean_body(memory.reflect(query))).text


def as_text(found: Iterable[Recalled]) -> str:
    """Return the lessons as one text for an agent: a fixed first and last line, and one line for each lesson."""
    lines = [as_line(one) for one in found]
    return "\n".join((RECALL_OPENING, *lines, RECALL_CLOSING)) if lines else NOTHING


def as_line(found: Recalled) -> str:
    """Return one lesson as a Markdown list item of one line: the text, where it came from, and how to weigh it."""
    safe = _safe(found)
    context = f" (context: {safe.context})" if safe.context else ""
    marks = f" [{'; '.join(safe.marks)}]" if safe.marks else ""
    return f"- {as_item(safe.text)}{context}{marks}"


def as_reasons(found: Recalled) -> str:
    """Return what a lesson's score is made of, one part a line in the order they were added up, and the score last."""
    if not found.parts:
        return f"    {NO_REASONS}"
    rows = [*((part.name, part.value, tidy(part.note).text) for part in found.parts), ("score", found.score, "")]
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"    {name:<{width}}  {value:+8.4f}  {note}".rstrip() for name, value, note in rows)


def as_document(found: Recalled) -> dict[str, Any]:
    """Return one lesson for programs: its fields by their names, the parts of its score too."""
    return {**found.as_dict(), "parts": [part.as_dict() for part in found.parts], "marks": list(found.marks)}


def _safe(found: Recalled) -> Recalled:
    return found.but(
        text=tidy(found.text).text,
        context=tidy(found.context or "").text or None,
        marks=tuple(tidy(mark).text for mark in found.marks),
    )
