"""What a bank does while nobody waits for it: it makes vectors, compares lessons, and has old episodes summed up.

Nothing is merged, removed or believed by itself. Long work is done between transactions, and every transaction is
short, so that agents can write all the while.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from lessonbook.core.care import Slept, Summary
from lessonbook.core.lesson import Outcome
from lessonbook.core.ports import Chat
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.memory import summing
from lessonbook.memory.mnemopi import caring, changing, index
from lessonbook.memory.mnemopi.editing import Transaction
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT
from lessonbook.memory.mnemopi.telling import Teller
from lessonbook.memory.mnemopi.vectors import Vectors

SECONDS = 120.0
"""How long lessons are compared in one sleep; the rest is compared in the next."""
_EMBEDDED_AT_ONCE = 1_000


class Sleeping:
    """One sleep of an open file: ``banks`` are compared, and for what has to do with time ``now`` is asked."""

    def __init__(self, reading: Transaction, writing: Transaction, vectors: Vectors, now: Callable[[], float]) -> None:
        self._reading = reading
        self._writing = writing
        self._vectors = vectors
        self._now = now

    def sleep(self, step: Callable[[str], None] = lambda what: None) -> Slept:
        """Bring what is made of the lessons up to date, and propose near twins; ``step`` hears what is next."""
        step("words")
        reindexed = self._index()
        step("vectors")
        embedded = self._embed()
        step("twins")
        twins = self._compare()
        with self._reading() as db:
            expired = "SELECT count(*) FROM lessons WHERE valid_until < ? AND forgotten IS NULL AND invalid IS NULL"
            return Slept(
                reindexed=reindexed,
                embedded=embedded,
                unembedded=_one(db, "SELECT count(*) FROM unembedded"),
                twins=twins,
                uncompared=len(caring.Looked.kept(db).fresh(db)),
                expired=_one(db, expired, self._now()),
            )

    def summarise(self, banks: Sequence[str], chat: Chat) -> tuple[list[Summary], int]:
        """Have groups of old episodes of ``banks`` summed up; return what came of each, and how many groups are left.

        The episodes are kept, and ``undo`` of one takes it out of its summary.
        """
        with self._reading() as db:
            groups = _episodes(db, banks, self._now() - summing.AGE)
        return summing.summarise(groups, chat, self._kept)

    def _index(self) -> bool:
        with self._reading() as db:
            if index.is_current(db):
                return False
        with self._writing() as db:
            index.bring_up_to_date(db)
        return True

    def _embed(self) -> int:
        total = 0
        while True:
            with self._reading() as db:
                if not self._vectors.is_waiting(db):
                    return total
            with self._writing() as db:
                made = self._vectors.catch_up(db, _EMBEDDED_AT_ONCE)
            if not made:
                return total
            total += made

    def _compare(self) -> int:
        end = self._now() + SECONDS
        with self._reading() as db:
            banks = [str(row[0]) for row in db.execute("SELECT DISTINCT bank FROM lessons ORDER BY bank").fetchall()]
            pairs, looked = caring.find(db, banks, caring.Looked.kept(db), lambda: self._now() >= end)
        with self._writing() as db:
            return caring.note(db, pairs, looked, self._now())

    def _kept(self, group: summing.Group, text: str) -> str | None:
        with self._writing() as db:
            return _keep(db, self._vectors, group, text, self._now())


def _keep(db: sqlite3.Connection, vectors: Vectors, group: summing.Group, text: str, now: float) -> str | None:
    """Keep what sums episodes up, and mark them as replaced by it; ``None`` where one of them was changed meanwhile."""
    marks = ", ".join("?" * len(group.numbers))
    query = (
        f"SELECT text, coalesce(forgotten, invalid), importance FROM lessons WHERE id IN ({marks}) ORDER BY seen, id"
    )
    rows = db.execute(query, group.numbers).fetchall()
    if tuple(tidy(told).text for told, gone, _ in rows if gone is None) != group.texts:
        return None
    lesson = group.lesson(text, max(float(row[2]) for row in rows))
    receipt = Teller(db, vectors, now).tell(group.bank, tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT).lesson)
    if receipt.outcome is not Outcome.STORED or receipt.id is None:
        return None
    replaced = {"invalid": now, "superseded_by": int(receipt.id)}
    for number in group.numbers:
        changing.change(db, vectors, number, summing.SUMMARISED, replaced, now)
    return receipt.id


def _episodes(db: sqlite3.Connection, banks: Sequence[str], before: float) -> list[summing.Group]:
    """Return the groups of episodes told last before ``before``; what a sleep summed up itself is in none."""
    marks = ", ".join("?" * len(banks))
    rows = db.execute(
        "SELECT id, bank, text, component,"
        " CASE WHEN json_valid(metadata) THEN coalesce(json_extract(metadata, '$.session_id'), '') ELSE '' END"
        f" FROM lessons WHERE bank IN ({marks}) AND memory_type = 'episode' AND seen < ? AND source <> ?"
        " AND NOT pinned AND forgotten IS NULL AND invalid IS NULL ORDER BY seen, id",
        (*banks, before, summing.SOURCE),
    )
    return summing.grouped(rows.fetchall())


def _one(db: sqlite3.Connection, query: str, *values: object) -> int:
    return int(db.execute(query, values).fetchone()[0])
