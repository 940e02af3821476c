"""Reads rows of the outbox's file as values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from lessonbook.memory.outbox.items import Row, State
from lessonbook.memory.sqlite_file import DamagedError

_STATES = frozenset(map(str, State))
COLUMNS = ", ".join(Row._fields)
"""What ``row`` needs, in its order."""


def row(found: Iterable[object]) -> Row:
    """Return one row of ``COLUMNS`` as a value. Raises ``DamagedError`` for one that is none."""
    told: dict[str, Any] = dict(zip(Row._fields, found, strict=True))
    if told["state"] not in _STATES:
        raise DamagedError(f"The outbox's row {told['seq']} is damaged.")
    return Row(**{**told, "state": State(told["state"])})


def select(db: sqlite3.Connection, where: str, values: Iterable[object] = ()) -> Iterator[Row]:
    """Yield the rows that ``where`` (and what may follow it) finds."""
    for found in db.execute(f"SELECT {COLUMNS} FROM outbox o WHERE {where}", tuple(values)):
        yield row(found)
