"""Finds a team's lessons that no model was asked about yet, and keeps what one says they name and state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from lessonbook.core.care import Extracted
from lessonbook.core.extraction import Extraction
from lessonbook.core.ports import Chat
from lessonbook.memory import extracting
from lessonbook.memory.postgres import changing, noting

_UNASKED = "FROM lessons WHERE bank = ANY(%s) AND forgotten IS NULL AND invalid IS NULL AND NOT extracted"
_PAIRS = "SELECT count(*) FROM pairs WHERE kind = %s AND %s IN (newer, older)"


def extract(
    used: Callable[[], AbstractContextManager[Any]], banks: Sequence[str], chat: Chat, now: Callable[[], float]
) -> Extracted:
    """Ask about the lessons of ``banks`` that no model was asked about yet, those told last first."""

    def left() -> int:
        with used() as db:
            return int(db.execute(f"SELECT count(*) {_UNASKED}", (list(banks),)).fetchone()[0])

    def keep(number: int, text: str, told: Extraction) -> int | None:
        with used() as db:
            kept = changing.get(db, number)
            as_it_was = kept.lesson.text == text and kept.forgotten is None
            return _note(db, number, text, told, now()) if as_it_was else None

    with used() as db:
        query = f"SELECT id, told->>'text' {_UNASKED} ORDER BY seen DESC, id DESC LIMIT %s"
        waiting = db.execute(query, (list(banks), extracting.AT_ONCE)).fetchall()
    return extracting.extract(waiting, chat, keep, left)


def _note(db: Any, number: int, text: str, told: Extraction, now: float) -> int:
    (before,) = db.execute(_PAIRS, (noting.CONTRADICTION, number)).fetchone()
    noting.note(db, number, text, told)
    noting.disagreements(db, number, now)
    return int(db.execute(_PAIRS, (noting.CONTRADICTION, number)).fetchone()[0]) - int(before)
