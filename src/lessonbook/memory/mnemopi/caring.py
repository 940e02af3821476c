"""Finds lessons that say nearly the same, and merges the two that a person or agent chose; nothing merges by itself.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from lessonbook.core.errors import InputError
from lessonbook.core.twins import Index, Print, print_of, similarity
from lessonbook.core.value import Value
from lessonbook.memory.mnemopi import changing, index
from lessonbook.memory.mnemopi.vectors import Vectors

MERGED, APART = "merged", "apart"


class Pair(Value):
    """Two lessons that say nearly the same: the one to keep, and the other. ``likeness`` is from 0.6 to 1."""

    kept: str
    other: str
    likeness: float


def propose(db: sqlite3.Connection, banks: Sequence[str], now: float) -> int:
    """Note every pair of near twins within a bank that nobody decided on yet; return how many are new.

    The one told last is the one to keep. Pinned lessons, forgotten ones and those that no longer hold are left alone.
    """
    before = db.total_changes
    for bank in banks:
        rows = db.execute(
            "SELECT id, text, seen FROM lessons WHERE bank = ? AND forgotten IS NULL AND invalid IS NULL AND NOT pinned"
            " ORDER BY seen, id",
            (bank,),
        ).fetchall()
        for kept, other, likeness in _pairs([row[0] for row in rows], [print_of(row[1]) for row in rows]):
            db.execute(
                "INSERT INTO merges (kept, other, likeness, at) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS"
                " (SELECT 1 FROM merges WHERE (kept = ?1 AND other = ?2) OR (kept = ?2 AND other = ?1))",
                (kept, other, likeness, now),
            )
    return db.total_changes - before


def _pairs(numbers: Sequence[int], prints: Sequence[Print]) -> Iterator[tuple[int, int, float]]:
    """Yield each near twin with the newest lesson it is a twin of; ``numbers`` are ordered by when they were told."""
    twins = Index(prints)
    for place, one in enumerate(prints):
        newest = max((other for other in twins.near(one) if other > place), default=None)
        if newest is not None:
            yield numbers[newest], numbers[place], round(similarity(one, prints[newest]), 3)


def proposed(db: sqlite3.Connection, banks: Sequence[str]) -> list[Pair]:
    """Return the pairs nobody decided on yet, likest first; without those one of which was changed away since."""
    rows = db.execute(
        "SELECT m.kept, m.other, m.likeness"
        " FROM merges m JOIN lessons k ON k.id = m.kept JOIN lessons o ON o.id = m.other"
        f" WHERE m.decided IS NULL AND k.bank IN ({', '.join('?' * len(banks))})"
        " AND k.bank = o.bank AND coalesce(k.forgotten, k.invalid, o.forgotten, o.invalid) IS NULL"
        " AND NOT (k.pinned AND o.pinned) ORDER BY m.likeness DESC, m.kept, m.other",
        tuple(banks),
    )
    return [Pair(str(kept), str(other), likeness) for kept, other, likeness in rows]


def merge(db: sqlite3.Connection, vectors: Vectors, kept: int, other: int, now: float) -> None:
    """Let ``kept`` take the place of ``other`` and have its contexts too; undoing ``other`` parts them again.

    Raises ``InputError`` where they are one, or one of them is gone.
    """
    found = dict(db.execute("SELECT id, coalesce(forgotten, invalid) FROM lessons WHERE id IN (?, ?)", (kept, other)))
    if kept == other or len(found) < 2:
        raise InputError("Name two lessons to merge.")
    for number, gone in found.items():
        if gone is not None:
            raise InputError(f"Lesson {number} was forgotten or no longer holds; there is nothing to merge.")
    with index.reindexed(db, kept):
        db.execute(
            "INSERT OR IGNORE INTO sightings (lesson, context, metadata, at)"
            " SELECT ?1, context, metadata, ?3 FROM lessons WHERE id = ?2 AND context IS NOT NULL"
            " AND context IS NOT (SELECT context FROM lessons WHERE id = ?1)"
            " UNION ALL SELECT ?1, context, metadata, at FROM sightings WHERE lesson = ?2",
            (kept, other, now),
        )
    changing.change(db, vectors, other, MERGED, {"invalid": now, "superseded_by": kept}, now)
    decide(db, kept, other, MERGED, now)


def decide(db: sqlite3.Connection, kept: int, other: int, decided: str, now: float) -> None:
    """Note what was decided on two lessons, so that it is not proposed again."""
    done = db.execute(
        "UPDATE merges SET decided = ?3 WHERE (kept = ?1 AND other = ?2) OR (kept = ?2 AND other = ?1)",
        (kept, other, decided),
    )
    if not done.rowcount:
        db.execute(
            "INSERT INTO merges (kept, other, likeness, at, decided) VALUES (?, ?, 0, ?, ?)",
            (kept, other, now, decided),
        )
