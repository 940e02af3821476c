"""Gives a bank's lessons as the lines of an export, oldest first, each with what names it for good."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from lessonbook.core.lesson import Kept, Lesson
from lessonbook.memory.importing import json_lines
from lessonbook.memory.mnemopi.rows import COLUMNS, kept

_SUPERSEDING = "(SELECT s.{} FROM lessons s WHERE s.id = l.superseded_by)"
_MORE = ("origin", *map(_SUPERSEDING.format, ("id", "bank", "created", "origin")))
_QUERY = f"SELECT {COLUMNS}, l.{', '.join(_MORE)} FROM lessons l WHERE "


def header() -> str:
    """Return the first line of an export."""
    return json_lines.header()


def lines(db: sqlite3.Connection, banks: Sequence[str] | None, *, forgotten: bool) -> Iterator[str]:
    """Yield the first line of an export and one for each lesson of ``banks``, all of them where that is ``None``.

    ``forgotten`` takes the forgotten ones too. Inside a transaction that reads.
    """
    yield header()
    where = f"l.bank IN ({', '.join('?' * len(banks))})" if banks is not None else "TRUE"
    if not forgotten:
        where += " AND l.forgotten IS NULL"
    for row in db.execute(f"{_QUERY}{where} ORDER BY l.id", tuple(banks or ())):
        origin, *superseding = row[-len(_MORE) :]
        lesson = kept(row)
        # Its row's number means nothing in another bank: the origin names it.
        yield json_lines.line(lesson.but(id=""), origin or json_lines.origin_of(lesson), _origin(superseding))


def _origin(superseding: Sequence[object]) -> str:
    number, bank, created, origin = superseding
    if origin or number is None:
        return str(origin or "")
    return json_lines.origin_of(Kept(str(number), Lesson(""), str(bank), float(str(created)), 0.0))
