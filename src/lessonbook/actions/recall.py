"""Finds lessons again and words them for an agent: each in one list item of its own that nothing in it can leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Recalled
from lessonbook.core.ports import Memory
from lessonbook.core.tidy import RECALL_CLOSING, RECALL_OPENING, as_item, tidy

NOTHING = "No lesson matches."
MOST = 50


def recall(memory: Memory, query: str, limit: int = 5) -> tuple[Recalled, ...]:
    """Return up to ``limit`` lessons that fit ``query``, best first; none for a blank query, whatever it holds else.

    Every text is cleaned and redacted once more: a person or another program may have changed what is kept. Raises
    ``InputError`` for a limit outside 1 to 50, and what the memory raises (``StoreError``, ``BusyError``,
    ``SetupError``).
    """
    if not 1 <= limit <= MOST:
        raise InputError(f"The limit must be from 1 to {MOST}, not {limit}.")
    found = memory.recall(query, limit) if query.strip() else ()
    return tuple(map(_safe, found))[:limit]


def as_text(found: Iterable[Recalled]) -> str:
    """Return the lessons as one text for an agent: a fixed first and last line, and one line for each lesson."""
    lines = [as_line(one) for one in found]
    return "\n".join((RECALL_OPENING, *lines, RECALL_CLOSING)) if lines else NOTHING


def as_line(found: Recalled) -> str:
    """Return one lesson as a Markdown list item of one line: the text, then where it came from."""
    safe = _safe(found)
    return f"- {as_item(safe.text)} (context: {safe.context})" if safe.context else f"- {as_item(safe.text)}"


def _safe(found: Recalled) -> Recalled:
    return replace(found, text=tidy(found.text).text, context=tidy(found.context or "").text or None)
