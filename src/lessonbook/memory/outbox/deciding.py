"""What a person decides about what waits: to try it again, to drop it, to take its words away, to send it elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from lessonbook.core.errors import InputError
from lessonbook.memory.outbox.file import OutboxFile, mended
from lessonbook.memory.outbox.items import Row, State
from lessonbook.memory.outbox.rows import select

ERASED = "erased"
"""The kind of a row whose words were taken away: it stays so that its id is not used again."""


class Deciding:
    """The part of an outbox that a person speaks to."""

    def __init__(self, file: OutboxFile) -> None:
        self.file = self._file = file

    @mended
    def retry(self, seqs: Sequence[int] | None, now: float) -> int:
        """Put what was set aside in line again, all of it for ``None``, under new ids; return how many.

        What waits for its next try is tried at once where its id is given. Raises ``InputError`` for a row that is not
        there, and for one whose document was told anew since: sending it would bring the old words back.
        """
        if seqs is None and not self.file.exists():
            return 0
        with self.file.writing() as db:
            states = (State.DEAD,) if seqs is None else (State.DEAD, State.QUEUED, State.ACCEPTED)
            rows = self._chosen(db, seqs, states)
            newer = [row for row in rows if row.state == State.DEAD and _newer(db, row)]
            if newer and seqs is not None:
                raise InputError(f"Something newer was told in the place of {newer[0].seq}; drop it instead.")
            left = [row for row in rows if row not in newer]
            for row in left:
                if row.state == State.DEAD:
                    revive(db, row.seq, now)
                else:
                    db.execute("UPDATE outbox SET next_at = ? WHERE seq = ?", (now, row.seq))
            return len(left)

    @mended
    def drop(self, seqs: Sequence[int] | None) -> int:
        """Remove rows for good, for ``None`` all that was set aside; return how many.

        Raises ``InputError`` for a row that is not there, is being sent, or was taken by the server.
        """
        if seqs is None and not self.file.exists():
            return 0
        with self.file.writing() as db:
            rows = self._chosen(db, seqs, (State.DEAD,) if seqs is None else (State.DEAD, State.QUEUED))
            for row in rows:
                db.execute("DELETE FROM outbox WHERE seq = ?", (row.seq,))
                _detach(db, row)
            return len(rows)

    @mended
    def erase(self, destination: str, bank: str, document: str) -> bool:
        """Take away the words of a document; whether there were any. Told again, it is sent anew, under another id.

        Raises ``InputError`` for one that is being sent, or that the server is at.
        """
        if not self.file.exists():
            return False
        where, values = "destination = ? AND bank = ? AND document = ?", (destination, bank, document)
        with self.file.writing() as db:
            rows = list(select(db, f"{where} AND kind <> '{ERASED}'", values))
            if any(row.state in (State.LEASED, State.ACCEPTED) for row in rows):
                raise InputError("It is on its way to the server; erase it when `lessonbook outbox` shows it no more.")
            for row in rows:
                _detach(db, row)
                db.execute(
                    f"UPDATE outbox SET kind = '{ERASED}', payload = '', size = 0, state = 'done', ended = 0,"
                    " batch = NULL, last_error = NULL WHERE seq = ?",
                    (row.seq,),
                )
            return bool(rows)

    @mended
    def move(self, to: str, of_its_kind: Callable[[str], bool], now: float) -> int:
        """Let what waits for other servers of its kind, or was set aside there, go to the server ``to``; count it.

        What another server has taken already is left to it, and so is what is being sent right now.
        """
        if not self.file.exists():
            return 0
        with self.file.writing() as db:
            where = "o.destination <> ? AND o.state IN ('queued', 'dead') ORDER BY o.seq"
            rows = [row for row in select(db, where, (to,)) if of_its_kind(row.destination)]
            for row in rows:
                _detach(db, row)
                revive(db, row.seq, now)
                db.execute("UPDATE outbox SET destination = ? WHERE seq = ?", (to, row.seq))
            return len(rows)

    def _chosen(self, db: sqlite3.Connection, seqs: Sequence[int] | None, states: Sequence[State]) -> list[Row]:
        if seqs is None:
            return list(select(db, f"o.state IN ({', '.join('?' * len(states))}) ORDER BY o.seq", states))
        found = [next(select(db, "o.seq = ?", (seq,)), None) for seq in seqs]
        for seq, row in zip(seqs, found, strict=True):
            if row is None:
                raise InputError(f"There is nothing under {seq} in the outbox; `lessonbook outbox` lists it.")
            if row.state not in states:
                raise InputError(f"{seq} is {row.state}; nothing was changed.")
        return [row for row in found if row is not None]


def _newer(db: sqlite3.Connection, row: Row) -> bool:
    query = "SELECT 1 FROM outbox WHERE destination = ? AND bank = ? AND document = ? AND seq > ?"
    return db.execute(query, (row.destination, row.bank, row.document, row.seq)).fetchone() is not None


def _detach(db: sqlite3.Connection, row: Row) -> None:
    """Let what was to go with a row that waits go without it, under an id of its own."""
    if row.state == State.QUEUED:
        db.execute("UPDATE outbox SET batch = NULL, round = round + 1 WHERE batch = ?", (row.batch,))


def revive(db: sqlite3.Connection, seq: int, now: float) -> None:
    """Put a row in line again, under a new id, as if it came now."""
    db.execute(
        "UPDATE outbox SET state = 'queued', batch = NULL, round = round + 1, attempts = 0, polls = 0,"
        " remote_retries = 0, next_at = ?, created = ?, lease_owner = NULL, lease_until = NULL, ended = NULL"
        " WHERE seq = ?",
        (now, now, seq),
    )
