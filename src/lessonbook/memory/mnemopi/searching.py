"""Finds the lessons that fit a query, scores them, and says how."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from lessonbook.core import words
from lessonbook.core.lesson import Kept, Part, Recalled
from lessonbook.memory.mnemopi.rows import COLUMNS, kept
from lessonbook.memory.mnemopi.vectors import Vectors


def newest(db: sqlite3.Connection, banks: Sequence[str], limit: int, now: float) -> list[Recalled]:
    """Return the lessons of ``banks`` told last, each text once."""
    marks = ", ".join("?" * len(banks))
    query = (
        f"SELECT {COLUMNS} FROM lessons l WHERE l.bank IN ({marks}) AND l.forgotten IS NULL AND l.invalid IS NULL"
        " ORDER BY l.seen DESC, l.id DESC LIMIT ?"
    )
    rows = db.execute(query, (*banks, len(banks) * limit)).fetchall()
    return _distinct([shown(kept(row), 0.0, (), now) for row in rows])[:limit]


def search(
    db: sqlite3.Connection, vectors: Vectors, banks: Sequence[str], query: str, limit: int, now: float
) -> list[Recalled]:
    """x"""
    terms = words.index_words(query.lower()).split()[:64]
    match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    rows = db.execute(
        "SELECT rowid, bm25(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT 50", (match,)
    ).fetchall()
    out = []
    for number, score in rows:
        row = db.execute(f"SELECT {COLUMNS} FROM lessons l WHERE id = ?", (number,)).fetchone()
        k = kept(row)
        if k.bank in banks:
            out.append(shown(k, -score, (), now))
    return _distinct(out)[:limit]


def shown(found: Kept, score: float, parts: tuple[Part, ...], now: float) -> Recalled:
    """Return a lesson as it is recalled, with the sentences it must be weighed with."""
    lesson = found.lesson
    return Recalled(
        found.id,
        lesson.text,
        lesson.context,
        score,
        found.seen,
        found.bank,
        lesson.source,
        lesson.title,
        parts,
        tuple(_marks(found, now)),
    )


def _marks(found: Kept, now: float) -> list[str]:
    marks = []
    if found.superseded_by is not None:
        marks.append(f"lesson {found.superseded_by} took its place")
    elif found.invalid is not None:
        marks.append("marked as no longer holding")
    if found.lesson.valid_until is not None and found.lesson.valid_until < now:
        marks.append("held for a time that has passed")
    if found.lesson.veracity == "false":
        marks.append("found to be wrong")
    return marks


def _distinct(found: Sequence[Recalled]) -> list[Recalled]:
    """Return each text once, though it may stand in both banks."""
    first: dict[str, Recalled] = {}
    for one in found:
        first.setdefault(one.text, one)
    return list(first.values())
