"""Lists the lessons that may contradict each other, and notes those that a person looked at and lets stand.

Every function runs inside the caller's transaction. What contradicts what is found in ``noting``; nothing is decided
there or here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from lessonbook.core.care import Contradiction
from lessonbook.core.errors import InputError
from lessonbook.core.tidy import tidy

_ROWS = (
    "SELECT c.newer, c.older, c.kind, c.said, c.at, c.dismissed, n.text, o.text FROM contradictions c"
    " JOIN lessons n ON n.id = c.newer JOIN lessons o ON o.id = c.older"
)


def waiting(db: sqlite3.Connection, banks: Sequence[str]) -> list[Contradiction]:
    """Return those of ``banks`` that nobody settled, newest first: both lessons hold, and none is dismissed."""
    marks = ", ".join("?" * len(banks))
    query = (
        f"{_ROWS} WHERE c.dismissed IS NULL AND n.bank IN ({marks}) AND o.bank IN ({marks})"
        " AND coalesce(n.forgotten, n.invalid, o.forgotten, o.invalid) IS NULL"
        " ORDER BY c.at DESC, c.newer DESC, c.older"
    )
    return [_contradiction(row) for row in db.execute(query, (*banks, *banks)).fetchall()]


def of(db: sqlite3.Connection, number: int, banks: Sequence[str]) -> list[Contradiction]:
    """Return those of one lesson with others of ``banks``, the settled ones too, newest first."""
    marks = ", ".join("?" * len(banks))
    query = (
        f"{_ROWS} WHERE (c.newer = ? OR c.older = ?) AND n.bank IN ({marks}) AND o.bank IN ({marks})"
        " ORDER BY c.at DESC, c.newer DESC, c.older"
    )
    return [_contradiction(row) for row in db.execute(query, (number, number, *banks, *banks)).fetchall()]


def dismiss(db: sqlite3.Connection, one: int, other: int, now: float) -> None:
    """Note that both lessons may stand. Raises ``InputError`` where none is known between them, or it was noted."""
    pair = (one, other, other, one)
    where = "(newer = ? AND older = ?) OR (newer = ? AND older = ?)"
    known = db.execute(f"SELECT min(dismissed IS NOT NULL) FROM contradictions WHERE {where}", pair).fetchone()[0]
    if known is None:
        raise InputError(f"Lessons {one} and {other} are not known to contradict each other.")
    if known:
        raise InputError(f"That lessons {one} and {other} both stand was noted already.")
    db.execute(f"UPDATE contradictions SET dismissed = ? WHERE ({where}) AND dismissed IS NULL", (now, *pair))


def _contradiction(row: tuple[int, int, str, str, float, float | None, str, str]) -> Contradiction:
    newer, older, kind, said, at, dismissed, newer_text, older_text = row
    texts = (tidy(str(said)).text, at, dismissed, tidy(str(newer_text)).text, tidy(str(older_text)).text)
    return Contradiction(str(newer), str(older), str(kind), *texts)
