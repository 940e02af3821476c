"""Puts items into the outbox and says what is in it; ``moving`` takes them on.

What ``put`` has answered is on the disk, whatever happens next. Nothing leaves by itself but what the server is known
to have, once it is old.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from lessonbook.core.value import Value
from lessonbook.memory.outbox.deciding import Deciding, revive
from lessonbook.memory.outbox.file import OutboxFile, mended
from lessonbook.memory.outbox.items import ITEM_MOST, LESSON, Item, Row, State, operation_id
from lessonbook.memory.outbox.rows import select
from lessonbook.memory.sqlite_file import WAIT
from lessonbook.system.faults import point

OUTBOX_FILE = "outbox.db"
TOTAL_MOST = 64 << 20
"""Bytes of all that waits; more is refused until some of it has gone."""
KEPT = 5_000
KEPT_SECONDS = 90 * 86_400.0
"""How many items, and how long, are kept after they arrived: what this machine knows while its server is away."""
TOLD_ANEW = 86_400.0
"""Seconds after which something that arrived is sent once more where it is told again: the server may have lost it."""


Fitted: TypeAlias = Callable[[Item, Row | None], Item]


class Became(StrEnum):
    """What became of an item that was put in."""

    QUEUED = "queued"
    WAITING = "waiting"
    """It was in line already."""
    DONE = "done"
    """The server has it already."""
    REFUSED = "refused"


class Put(Value):
    """The answer to one item: what became of it, its row, and why it was refused where it was."""

    became: Became
    seq: int | None = None
    reason: str = ""


class Outbox(Deciding):
    """What waits for servers, in the file at ``path``. Opens no file before its first use."""

    def __init__(self, path: Path, wait: float = WAIT, total: int = TOTAL_MOST) -> None:
        super().__init__(OutboxFile(path, wait))
        self._total = total

    @mended
    def put(self, items: Sequence[Item], now: float, fitted: Fitted = lambda item, last: item) -> list[Put]:
        """Keep the items durably, all of them in one transaction, in their order; each once, however often it comes.

        ``fitted`` gives each its last form, from what was told last under its document. One that is too large, or that
        there is no room for, is refused and said to be. Raises ``StoreError`` and ``BusyError``; nothing is kept then.
        """
        with self.file.writing() as db:
            put = [self._keep(db, fitted(item, _last(db, item)), now) for item in items]
            point("outbox.before-commit")
        point("outbox.queued")
        return put

    @mended
    def newest(self, destination: str, bank: str, scopes: Sequence[str] | None, limit: int) -> list[Row]:
        """Return the newest lesson rows of a bank that this machine told, one per document, newest first.

        ``scopes`` are those to look in, ``None`` for all. What was set aside is among them: it is here, if nowhere
        else.
        """
        if limit < 1 or not self.file.exists():
            return []
        among = "" if scopes is None else f"AND o.scope IN ({', '.join('?' * len(scopes))})"
        where = (
            f"o.destination = ? AND o.bank = ? AND o.kind = ? {among} AND NOT EXISTS (SELECT 1 FROM outbox l WHERE"
            " l.destination = o.destination AND l.bank = o.bank AND l.document = o.document AND l.seq > o.seq)"
            " ORDER BY o.seen DESC, o.seq DESC LIMIT ?"
        )
        with self.file.reading() as db:
            return list(select(db, where, (destination, bank, LESSON, *(scopes or ()), limit)))

    @mended
    def has(self, destination: str, bank: str, document: str, states: Sequence[State]) -> bool:
        """Whether something of this document is in one of these states."""
        if not self.file.exists():
            return False
        query = (
            "SELECT 1 FROM outbox WHERE destination = ? AND bank = ? AND document = ?"
            f" AND state IN ({', '.join('?' * len(states))}) LIMIT 1"
        )
        with self.file.reading() as db:
            return db.execute(query, (destination, bank, document, *states)).fetchone() is not None

    @mended
    def rows(self, states: Sequence[State], limit: int = -1) -> list[Row]:
        """Return the rows in these states, oldest first."""
        if not self.file.exists():
            return []
        marks = ", ".join("?" * len(states))
        with self.file.reading() as db:
            return list(select(db, f"o.state IN ({marks}) ORDER BY o.seq LIMIT ?", (*states, limit)))

    @mended
    def counts(self) -> dict[str, int]:
        """Return how many rows are in each state."""
        counts = {str(state): 0 for state in State}
        if self.file.exists():
            with self.file.reading() as db:
                counts |= dict(db.execute("SELECT state, count(*) FROM outbox GROUP BY state"))
        return counts

    def told(self) -> str:
        """Return the sentence on what was done about a damaged file, once; empty where there is none."""
        said, self.file.said = self.file.said, ""
        return said

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self.file.close()

    def _keep(self, db: sqlite3.Connection, item: Item, now: float) -> Put:
        payload = item.text
        size = len(payload.encode("utf-8", "replace"))
        if size > ITEM_MOST:
            return Put(Became.REFUSED, reason=f"It is larger than the {ITEM_MOST:,} bytes a server is sent at once.")
        (outbox,) = db.execute("SELECT value FROM about WHERE name = 'id'").fetchone()
        last = self._last_of(db, outbox, item)
        if last is not None and not _is_to_be_sent_anew(last, now):
            db.execute("UPDATE outbox SET seen = ? WHERE seq = ?", (now, last.seq))
            if last.state == State.DEAD:
                db.execute("UPDATE outbox SET payload = ?, size = ? WHERE seq = ?", (payload, size, last.seq))
                revive(db, last.seq, now)
            return Put(Became.DONE if last.state == State.DONE else Became.WAITING, last.seq)
        if self._waiting(db) + size > self._total:
            return Put(Became.REFUSED, reason=_full(self._total))
        return Put(Became.QUEUED, self._insert(db, outbox, item, payload, size, now))

    def _last_of(self, db: sqlite3.Connection, outbox: str, item: Item) -> Row | None:
        """The row of the same item, unless something else was told under its document since."""
        last = _last(db, item)
        if last is None:
            return None
        same = {operation_id(outbox, item, generation) for generation in range(self._generation(db, outbox, item))}
        return last if last.operation in same else None

    def _generation(self, db: sqlite3.Connection, outbox: str, item: Item) -> int:
        generation = 0
        while db.execute(
            "SELECT 1 FROM outbox WHERE operation = ?", (operation_id(outbox, item, generation),)
        ).fetchone():
            generation += 1
        return generation

    def _insert(self, db: sqlite3.Connection, outbox: str, item: Item, payload: str, size: int, now: float) -> int:
        operation = operation_id(outbox, item, self._generation(db, outbox, item))
        insert = (
            "INSERT INTO outbox (destination, bank, document, operation, kind, scope, payload, size, next_at, created,"
            " seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq"
        )
        place = (item.destination, item.bank, item.document, operation, item.kind, item.scope)
        return int(db.execute(insert, (*place, payload, size, now, now, now)).fetchone()[0])

    def _waiting(self, db: sqlite3.Connection) -> int:
        return int(db.execute("SELECT coalesce(sum(size), 0) FROM outbox WHERE state <> 'done'").fetchone()[0])


def _last(db: sqlite3.Connection, item: Item) -> Row | None:
    where = "o.destination = ? AND o.bank = ? AND o.document = ? ORDER BY o.seq DESC LIMIT 1"
    return next(select(db, where, (item.destination, item.bank, item.document)), None)


def _is_to_be_sent_anew(last: Row, now: float) -> bool:
    return last.state == State.DONE and last.ended is not None and now - last.ended > TOLD_ANEW


def _full(total: int) -> str:
    return (
        f"{total:,} bytes wait for the server already, so nothing was stored; `lessonbook outbox` shows what "
        "keeps them, and `lessonbook outbox drop` removes what you need no more."
    )
