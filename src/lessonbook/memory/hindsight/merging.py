"""Puts together what a server knows and what this machine told it, or is about to: each lesson once.

Without an answer from the server, all that was told here stands in. With one, only what the server does not have yet,
and the words as they were told, which the server may have put otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from lessonbook.core.lesson import Recalled
from lessonbook.memory import scoring
from lessonbook.memory.hindsight import items
from lessonbook.memory.outbox.items import Row, State

Here: TypeAlias = Row
_RANKED = 60
"""Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): a place counts 1 / (60 + place) in each list."""


def fitting(query: str, found: Mapping[str, Any] | None, here: Sequence[Here], bank: str) -> list[Recalled]:
    """Return what fits ``query``, best first: the server's results, and those of this machine it does not have."""
    there = list(_facts(found, "results", here, bank))
    rows = [row for row in here if found is None or row.state != State.DONE]
    texts = [f"{row.told.get('content') or ''} {row.told.get('context') or ''}" for row in rows]
    ranked = [items.from_row(rows[index]) for index, _ in scoring.rank(query, texts)]
    scores: dict[str, float] = {}
    for one in (there, ranked):
        for place, lesson in enumerate(one, 1):
            scores[lesson.id] = scores.get(lesson.id, 0.0) + 1 / (_RANKED + place)
    known = {lesson.id: lesson for lesson in (*there, *ranked)}
    return sorted((lesson.but(score=scores[id]) for id, lesson in known.items()), key=lambda one: -one.score)


def newest(found: Mapping[str, Any] | None, here: Sequence[Here], bank: str) -> list[Recalled]:
    """Return the newest lessons, newest first."""
    there = _facts(found, "items", here, bank)
    rows = (items.from_row(row) for row in here if found is None or row.state != State.DONE)
    known = {lesson.id: lesson for lesson in (*there, *rows)}
    return sorted(known.values(), key=lambda one: -(one.at or 0.0))


def _facts(found: Mapping[str, Any] | None, name: str, here: Sequence[Here], bank: str) -> Iterator[Recalled]:
    """What the server found, each lesson once, in the words it was told in where they are known."""
    told = {row.document: row for row in here}
    chunks = (found or {}).get("chunks")
    chunks = chunks if isinstance(chunks, dict) else {}
    rows = (found or {}).get(name)
    seen: set[str] = set()
    for fact in rows if isinstance(rows, list) else ():
        if not isinstance(fact, dict):
            continue
        row = told.get(str(fact.get("document_id")))
        lesson = items.from_row(row) if row is not None else items.from_fact(fact, bank, chunks)
        if lesson.text and lesson.id not in seen:
            seen.add(lesson.id)
            yield lesson
