"""Finds lessons in the team's schema: by their words, and by what they mean where the server has pgvector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lessonbook.core.lesson import Part, Recalled
from lessonbook.core.words import terms
from lessonbook.memory.postgres.rows import COLUMNS, kept, shown
from lessonbook.memory.postgres.vectors import Vectors

CANDIDATES = 400
"""Lessons looked at more closely, of those that share a word with the question."""
_NEAR = 40
_LEAST = 0.3
_MEANING = 1.5
_OUTDATED = 0.2
"""What a lesson that no longer holds keeps of its score."""


def search(db: Any, vectors: Vectors, banks: Sequence[str], query: str, limit: int, now: float) -> list[Recalled]:
    """Return the lessons that fit ``query``, best first, each with the parts of its score."""
    asked = {term.stem: term.weight for term in terms(query)}
    found = _by_words(db, banks, asked)
    near = vectors.near(db, banks, query, _NEAR) if query.strip() else {}
    rows = {row[0]: row for row in found}
    missing = [number for number, likeness in near.items() if likeness >= _LEAST and number not in rows]
    if missing:
        query_near = f"SELECT l.id, tsvector_to_array(l.words), {COLUMNS} FROM lessons l WHERE l.id = ANY(%s)"
        rows |= {row[0]: row for row in db.execute(query_near, (missing,)).fetchall()}
    total = db.execute("SELECT count(*) FROM lessons WHERE bank = ANY(%s)", (list(banks),)).fetchone()[0]
    held = {stem: sum(stem in row[1] for row in found) for stem in asked}
    scored = []
    for number, row in rows.items():
        said = [stem for stem in asked if stem in row[1]]
        by_words = sum(asked[stem] * math.log(1 + total / (1 + held[stem])) for stem in said)
        meaning = _MEANING * max(0.0, near.get(number, 0.0)) if near.get(number, 0.0) >= _LEAST else 0.0
        lesson = kept(row[2:])
        if lesson.invalid is not None:
            by_words, meaning = by_words * _OUTDATED, meaning * _OUTDATED
        parts = tuple(
            part for part in (Part("words", by_words, " ".join(said)), Part("meaning", meaning)) if part.value
        )
        scored.append(shown(lesson, round(by_words + meaning, 4), now, parts))
    return sorted((one for one in scored if one.score > 0), key=lambda one: (-one.score, -(one.at or 0)))[:limit]


def _by_words(db: Any, banks: Sequence[str], asked: dict[str, float]) -> list[Any]:
    if not asked:
        return []
    # Each word quoted, as in any tsquery: nothing in it is an operator.
    quoted = ("'" + stem.replace("\\", "\\\\").replace("'", "''") + "'" for stem in asked)
    query = (
        f"SELECT l.id, tsvector_to_array(l.words), {COLUMNS} FROM lessons l, CAST(%s AS tsquery) q"
        " WHERE l.bank = ANY(%s) AND l.forgotten IS NULL AND l.words @@ q"
        " ORDER BY ts_rank(l.words, q) DESC, l.seen DESC LIMIT %s"
    )
    return list(db.execute(query, (" | ".join(quoted), list(banks), CANDIDATES)).fetchall())
