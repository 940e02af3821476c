"""Takes items on their way: hands out batches under a lease, and notes what became of each.

Every step is one transaction that is written before what it makes possible: a batch has its id on the disk before it is
sent, so that who comes after a crash sends the same again. A lease that ran out is anybody's. An item waits for the
earlier ones of its document, and for nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from lessonbook.memory.outbox.file import mended
from lessonbook.memory.outbox.items import TRANSCRIPT, Batch, Row, State, batch_id
from lessonbook.memory.outbox.outbox import KEPT, KEPT_SECONDS, Outbox
from lessonbook.memory.outbox.rows import select
from lessonbook.system.faults import point

BATCH_ITEMS = 16
BATCH_BYTES = 256 << 10
LEASE = 10.0
"""Seconds one process has for a batch, beside what its requests may take, before another may take it over."""
FAR = 2 * 3_600.0
"""A moment further ahead than any wait: the clock was set back, and it is taken for now."""

_FIRST_OF_ITS_DOCUMENT = (
    "NOT EXISTS (SELECT 1 FROM outbox e WHERE e.destination = o.destination AND e.bank = o.bank"
    " AND e.document = o.document AND e.seq < o.seq AND e.state IN ('queued', 'leased', 'accepted'))"
)
_DUE = (
    "(o.next_at <= :now OR o.next_at > :far) AND (o.lease_until IS NULL OR o.lease_until <= :now"
    " OR o.lease_until > :far)"
)


class Moving:
    """The way of the items of one outbox to one ``destination``, as the process ``owner`` takes them on."""

    def __init__(self, outbox: Outbox, destination: str, owner: str) -> None:
        self._file = outbox.file
        self._destination = destination
        self._owner = owner

    @mended
    def claim(self, now: float, lease: float = LEASE) -> Batch | None:
        """Return what is to be sent or asked after next, ours for ``lease`` seconds; ``None`` where nothing is due."""
        if not self._file.exists():
            return None
        with self._file.writing() as db:
            rows = self._asked_after(db, now) or self._to_send(db, now)
            if not rows:
                return None
            sent = rows[0].state == State.ACCEPTED
            id = rows[0].batch or batch_id([(row.operation, row.round) for row in rows])
            self._set(
                db,
                rows,
                "batch = ?, state = ?, lease_owner = ?, lease_until = ?",
                (id, State.ACCEPTED if sent else State.LEASED, self._owner, now + lease),
            )
        point("outbox.leased")
        return Batch(id, self._destination, rows[0].bank, tuple(rows), self._owner, sent)

    @mended
    def next_due(self, now: float) -> float | None:
        """Return when something is due next, in epoch seconds; ``None`` where nothing waits."""
        if not self._file.exists():
            return None
        query = (
            "SELECT min(max(next_at, coalesce(lease_until, 0))) FROM outbox"
            " WHERE destination = ? AND state IN ('queued', 'leased', 'accepted')"
        )
        with self._file.reading() as db:
            (found,) = db.execute(query, (self._destination,)).fetchone()
        return None if found is None else min(float(found), now + FAR)

    @mended
    def is_held(self, now: float) -> bool:
        """Whether anybody is at a batch right now."""
        if not self._file.exists():
            return False
        query = (
            "SELECT 1 FROM outbox WHERE destination = ? AND state IN ('leased', 'accepted') AND lease_until > ? LIMIT 1"
        )
        with self._file.reading() as db:
            return db.execute(query, (self._destination, now)).fetchone() is not None

    @mended
    def accepted(self, batch: Batch, now: float) -> None:
        """Note that the server has taken the batch, and is to be asked what became of it."""
        with self._file.writing() as db:
            self._move(db, batch, State.LEASED, State.ACCEPTED, now + 1.0, status="accepted")
        point("outbox.accepted")

    @mended
    def done(self, batch: Batch, now: float, remark: str | None = None) -> None:
        """Note that all of the batch is on the server; ``remark`` is what there is to say of it."""
        with self._file.writing() as db:
            ended = (State.DONE, now, remark, batch.id)
            db.execute(
                "UPDATE outbox SET state = ?, ended = ?, lease_owner = NULL, lease_until = NULL,"
                " last_status = 'completed', last_error = ? WHERE batch = ? AND state IN ('leased', 'accepted')",
                ended,
            )
            # What a session said is not kept here any longer than it takes.
            db.execute("UPDATE outbox SET payload = '' WHERE batch = ? AND kind = ?", (batch.id, TRANSCRIPT))
            _clear_old(db, now)
        point("outbox.done")

    @mended
    def later(self, batch: Batch, now: float, wait: float, status: str, error: str) -> None:
        """Put the batch back as it is, to be tried again under the same id after ``wait`` seconds."""
        with self._file.writing() as db:
            state = State.ACCEPTED if batch.is_sent else State.QUEUED
            self._back(db, batch, state, now + wait, "attempts = attempts + 1", status, error)

    @mended
    def polled(self, batch: Batch, now: float, wait: float, status: str) -> None:
        """Note that the server is still at it."""
        with self._file.writing() as db:
            self._back(db, batch, State.ACCEPTED, now + wait, "polls = polls + 1", status, None)

    @mended
    def retried(self, batch: Batch, now: float, wait: float, error: str) -> None:
        """Note that the server failed at it, and was asked to try once more."""
        with self._file.writing() as db:
            self._back(db, batch, State.ACCEPTED, now + wait, "remote_retries = remote_retries + 1", "retried", error)

    @mended
    def forgotten(self, batch: Batch, now: float) -> None:
        """Note that the server knows nothing of what it took, and send it again under the same ids."""
        with self._file.writing() as db:
            self._back(db, batch, State.QUEUED, now, "polls = 0", "not_found", "the server no longer knew of it")

    @mended
    def split(self, batch: Batch, now: float, status: str, error: str, *, used: bool) -> None:
        """Put each half of the batch in line by itself; ``used`` says that the server has seen its id."""
        if used:
            batch = batch.but(rows=tuple(row.but(round=row.round + 1) for row in batch.rows))
        middle = (len(batch.rows) + 1) // 2
        with self._file.writing() as db:
            if not self._is_ours(db, batch):
                return
            for half in filter(None, (batch.rows[:middle], batch.rows[middle:])):
                told = (batch_id([(row.operation, row.round) for row in half]), State.QUEUED, now, status, error)
                self._set(
                    db,
                    half,
                    "batch = ?, state = ?, next_at = ?, last_status = ?, last_error = ?, attempts = 0, polls = 0,"
                    f" remote_retries = 0, round = round + {int(used)}, lease_owner = NULL, lease_until = NULL",
                    told,
                )

    @mended
    def dead(self, batch: Batch, now: float, status: str, error: str) -> None:
        """Set the batch aside with the reason; nothing waits for it any more."""
        with self._file.writing() as db:
            if self._is_ours(db, batch):
                self._set(
                    db,
                    batch.rows,
                    "state = ?, ended = ?, last_status = ?, last_error = ?, lease_owner = NULL, lease_until = NULL",
                    (State.DEAD, now, status, error),
                )

    def _asked_after(self, db: sqlite3.Connection, now: float) -> list[Row]:
        """The batch the server has taken that is to be asked after next."""
        return self._whole(db, f"o.state = 'accepted' AND {_DUE}", now)

    def _to_send(self, db: sqlite3.Connection, now: float) -> list[Row]:
        """The batch to send next: one that was begun, else a new one of what waits, oldest first."""
        return self._whole(
            db, f"o.state IN ('queued', 'leased') AND o.batch IS NOT NULL AND {_DUE}", now
        ) or self._gathered(db, now)

    def _whole(self, db: sqlite3.Connection, where: str, now: float) -> list[Row]:
        named = {"to": self._destination, "now": now, "far": now + FAR}
        query = f"SELECT o.batch FROM outbox o WHERE o.destination = :to AND {where} ORDER BY o.next_at, o.seq LIMIT 1"
        found = db.execute(query, named).fetchone()
        return (
            list(select(db, "o.batch = ? AND o.state IN ('queued', 'leased', 'accepted') ORDER BY o.seq", found))
            if found
            else []
        )

    def _gathered(self, db: sqlite3.Connection, now: float) -> list[Row]:
        due = f"o.destination = :to AND o.state = 'queued' AND o.batch IS NULL AND {_DUE} AND {_FIRST_OF_ITS_DOCUMENT}"
        named = {"to": self._destination, "now": now, "far": now + FAR}
        first = db.execute(f"SELECT o.bank FROM outbox o WHERE {due} ORDER BY o.seq LIMIT 1", named).fetchone()
        if first is None:
            return []
        query = f"SELECT o.seq, o.size FROM outbox o WHERE {due} AND o.bank = :bank ORDER BY o.seq LIMIT {BATCH_ITEMS}"
        chosen: list[int] = []
        size = 0
        for seq, bytes_ in db.execute(query, {**named, "bank": first[0]}):
            size += bytes_
            if chosen and size > BATCH_BYTES:
                break
            chosen.append(seq)
        return list(select(db, f"o.seq IN ({', '.join('?' * len(chosen))}) ORDER BY o.seq", chosen))

    def _back(
        self, db: sqlite3.Connection, batch: Batch, state: State, at: float, more: str, status: str, error: str | None
    ) -> None:
        """Give the batch back, unless its lease ran out and somebody else took it on."""
        if self._is_ours(db, batch):
            self._set(
                db,
                batch.rows,
                f"state = ?, next_at = ?, last_status = ?, last_error = coalesce(?, last_error), {more},"
                " lease_owner = NULL, lease_until = NULL",
                (state, at, status, error),
            )

    def _move(self, db: sqlite3.Connection, batch: Batch, of: State, to: State, at: float, *, status: str) -> None:
        """Note what the server has done, whoever holds the lease by now: it is so all the same."""
        db.execute(
            "UPDATE outbox SET state = ?, next_at = ?, attempts = 0, polls = 0, last_status = ?, lease_owner = NULL,"
            " lease_until = NULL WHERE batch = ? AND state IN (?, 'queued')",
            (to, at, status, batch.id, of),
        )

    def _is_ours(self, db: sqlite3.Connection, batch: Batch) -> bool:
        query = "SELECT count(*) FROM outbox WHERE batch = ? AND lease_owner = ? AND state IN ('leased', 'accepted')"
        return bool(db.execute(query, (batch.id, self._owner)).fetchone()[0] == len(batch.rows))

    def _set(self, db: sqlite3.Connection, rows: Sequence[Row], what: str, values: Sequence[object]) -> None:
        marks = ", ".join("?" * len(rows))
        db.execute(f"UPDATE outbox SET {what} WHERE seq IN ({marks})", (*values, *(row.seq for row in rows)))


def _clear_old(db: sqlite3.Connection, now: float) -> None:
    """Remove what arrived long ago, and the oldest of what is more than is kept."""
    db.execute("DELETE FROM outbox WHERE state = 'done' AND ended < ?", (now - KEPT_SECONDS,))
    db.execute(
        "DELETE FROM outbox WHERE state = 'done' AND seq <= (SELECT seq FROM outbox WHERE state = 'done'"
        " ORDER BY seq DESC LIMIT 1 OFFSET ?)",
        (KEPT,),
    )
