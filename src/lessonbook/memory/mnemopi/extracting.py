"""Finds the lessons that no model was asked about yet, and keeps what one says they name and state."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from lessonbook.core.care import Extracted
from lessonbook.core.extraction import Extraction
from lessonbook.core.ports import Chat
from lessonbook.memory import extracting
from lessonbook.memory.mnemopi import noting
from lessonbook.memory.mnemopi.editing import Transaction

_UNASKED = (
    "FROM lessons l WHERE l.bank IN ({}) AND l.forgotten IS NULL AND l.invalid IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM extracted e WHERE e.lesson = l.id)"
)


def extract(
    reading: Transaction, writing: Transaction, banks: Sequence[str], chat: Chat, now: Callable[[], float]
) -> Extracted:
    """Ask about the lessons of ``banks`` that no model was asked about yet, those told last first."""
    unasked = _UNASKED.format(", ".join("?" * len(banks)))

    def left() -> int:
        with reading() as db:
            return int(db.execute(f"SELECT count(*) {unasked}", tuple(banks)).fetchone()[0])

    def keep(number: int, text: str, told: Extraction) -> int | None:
        with writing() as db:
            return _note(db, number, told, now()) if _is_as_it_was(db, number, text) else None

    with reading() as db:
        query = f"SELECT l.id, l.text {unasked} ORDER BY l.seen DESC, l.id DESC LIMIT ?"
        waiting = db.execute(query, (*banks, extracting.AT_ONCE)).fetchall()
    return extracting.extract(waiting, chat, keep, left)


def _is_as_it_was(db: sqlite3.Connection, number: int, text: str) -> bool:
    query = "SELECT 1 FROM lessons WHERE id = ? AND text = ? AND forgotten IS NULL"
    return db.execute(query, (number, text)).fetchone() is not None


def _note(db: sqlite3.Connection, number: int, told: Extraction, now: float) -> int:
    count = "SELECT count(*) FROM contradictions WHERE newer = ?1 OR older = ?1"
    (before,) = db.execute(count, (number,)).fetchone()
    noting.note(db, number, told)
    noting.disagreements(db, number, now, told_now=False)
    return int(db.execute(count, (number,)).fetchone()[0]) - int(before)
