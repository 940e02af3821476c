"""What a person does with a team's bank as a whole: look through it, look it over, and carry lessons in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lessonbook.core.care import (
    Contradiction,
    Extracted,
    Finding,
    Imported,
    Pair,
    Shown,
    Slept,
    Stats,
    Summary,
    Taken,
    Wanted,
)
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Kept, Scope
from lessonbook.core.ports import Chat
from lessonbook.memory.importing import json_lines
from lessonbook.memory.postgres import counting, extracting, listing, noting, pairing, summing
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.receiving import Receiver, own_origin
from lessonbook.memory.postgres.rows import COLUMNS, kept
from lessonbook.memory.postgres.vectors import Vectors

AT_ONCE = 500
"""Lessons that are taken in within one transaction, so that other writers never wait long."""
SECONDS = 120.0
"""How long lessons are compared in one sleep; the rest is compared in the next."""
_MORE = "l.origin, s.id, s.bank, s.created, s.origin"


class PostgresCare:
    """The care of a team's schema, for a project that sees some of its banks. Meets ``core.care_ports.Care``."""

    def __init__(
        self,
        connection: Connection,
        vectors: Vectors,
        banks: Sequence[str],
        now: Callable[[], float],
        *,
        number: Callable[[Any, str], int],
        bank_for: Callable[[Scope], str],
    ) -> None:
        self.banks = tuple(banks)
        self.bank_for = bank_for
        self.place = f"{connection.address} {connection.schema}"
        self._used, self._lock = connection.used, connection.lock
        self._vectors, self._now, self._number = vectors, now, number

    def is_kept_in(self, path: Path) -> bool:
        """Whether a file is what the lessons are kept in: none is."""
        return False

    def lessons(self, wanted: Wanted, limit: int = 100, after: str | None = None) -> list[Kept]:
        """Return the lessons that are wanted, newest first; ``after`` is the last id of the page before."""
        with self._used() as db:
            place = None if after is None else self._number(db, after)
            return listing.lessons(db, self.banks, wanted, limit, place)

    def show(self, lesson: str) -> Shown:
        """Return one lesson with all that belongs to it."""
        with self._used() as db:
            return listing.show(db, self.banks, self._number(db, lesson))

    def contradictions(self) -> list[Contradiction]:
        """Return the pairs of lessons that may contradict each other and that nobody settled, newest first."""
        with self._used() as db:
            noting.catch_up(db, self.banks)
            return pairing.contradictions(db, self.banks)

    def dismiss(self, one: str, other: str) -> None:
        """Note that two lessons do not contradict each other, or may both stand."""
        with self._used() as db:
            pairing.dismiss(db, *self._pair(db, one, other), self._now())

    def merges(self) -> list[Pair]:
        """Return the pairs of near twins that are proposed for merging, likest first."""
        with self._used() as db:
            return pairing.twins(db, self.banks)

    def merge(self, kept: str, other: str) -> None:
        """Let one lesson take the place of another, and have its contexts too; ``undo`` of the other parts them."""
        with self._used() as db:
            for bank in sorted(self.banks):
                self._lock(db, bank)
            pairing.merge(db, *self._pair(db, kept, other), self._now())

    def apart(self, one: str, other: str) -> None:
        """Note that two lessons are to stay apart, so that they are not proposed for merging again."""
        with self._used() as db:
            pairing.decide(db, *self._pair(db, one, other), pairing.APART, self._now())

    def stats(self) -> Stats:
        """Return what the team's schema holds, all its banks together."""
        with self._used() as db:
            return counting.stats(db, self._vectors, self._now())

    def diagnose(self, *, deep: bool = False) -> list[Finding]:
        """Look the schema over and change nothing; ``deep`` compares every word with the lessons."""
        with self._used() as db:
            return list(counting.look(db, self._vectors, deep=deep))

    def sleep(self, step: Callable[[str], None] = lambda what: None) -> Slept:
        """Bring what is made of the lessons up to date and propose near twins, in every bank of the team."""
        with self._used() as db:
            banks = [row[0] for row in db.execute("SELECT DISTINCT bank FROM lessons ORDER BY bank").fetchall()]
        step("names")
        self._rounds(lambda db: noting.catch_up(db, banks, AT_ONCE))
        step("vectors")
        embedded = self._rounds(lambda db: self._vectors.catch_up(db, banks))
        step("twins")
        twins, uncompared = self._compare(banks)
        with self._used() as db:
            return Slept(
                embedded=embedded,
                unembedded=self._vectors.waiting(db),
                twins=twins,
                uncompared=uncompared,
                expired=counting.expired(db, self._now()),
            )

    def summarise(self, chat: Chat) -> tuple[list[Summary], int]:
        """Have groups of old episodes summed up; return what came of each, and how many are left."""
        return summing.summarise(self._used, self._lock, self._vectors, self.banks, self._now(), chat)

    def extract(self, chat: Chat) -> Extracted:
        """Have a model say what lessons name and state that no model was asked about yet."""
        return extracting.extract(self._used, self.banks, chat, self._now)

    @contextmanager
    def exported(self, *, forgotten: bool = False, every_bank: bool = False) -> Iterator[Iterator[str]]:
        """Give the lines of an export, read from one state of the schema."""
        with self._used() as db:
            yield self._lines(db, forgotten=forgotten, every_bank=every_bank)

    def receive(self, lessons: Iterable[tuple[str, Imported]]) -> Taken:
        """Take in lessons that were read from elsewhere, each with the bank it is to be in; return what became of them.

        In transactions of ``AT_ONCE``: where it is cut off, what was taken in stays, and doing it again adds the rest.
        """
        total = Taken()
        for batch in _batched(lessons):
            taken = Taken()
            with self._used() as db:
                for bank in sorted({bank for bank, _ in batch}):
                    self._lock(db, bank)
                receiver = Receiver(db, self._vectors, self._now(), taken)
                for bank, one in batch:
                    receiver.take(bank, one)
            total.add(taken)
        if total.links:
            with self._used() as db:
                Receiver(db, self._vectors, self._now(), Taken()).link(total.links, (*total.stored, *self.banks))
        return total

    def _rounds(self, act: Callable[[Any], int]) -> int:
        """Do ``act`` in short transactions, until one of them finds nothing to do; return how much it was together."""
        total = 0
        while True:
            with self._used() as db:
                done = act(db)
            if not done:
                return total
            total += done

    def _compare(self, banks: Sequence[str]) -> tuple[int, int]:
        end, new, left = self._now() + SECONDS, 0, 0
        for bank in banks:
            with self._used() as db:
                rows = pairing.compared(db, bank)
            found, more = pairing.find(rows, lambda: self._now() >= end)  # nobody waits for this one
            left += more
            with self._used() as db:
                new += pairing.note(db, found, self._now())
        return new, left

    def _lines(self, db: Any, *, forgotten: bool, every_bank: bool) -> Iterator[str]:
        yield json_lines.header()
        where, values = ("TRUE", []) if every_bank else ("l.bank = ANY(%s)", [list(self.banks)])
        where += "" if forgotten else " AND l.forgotten IS NULL"
        query = (
            f"SELECT {COLUMNS}, {_MORE} FROM lessons l LEFT JOIN lessons s ON s.id = l.superseded_by WHERE {where}"
            " AND l.id > %s ORDER BY l.id LIMIT %s"
        )
        after = 0
        while rows := db.execute(query, (*values, after, AT_ONCE)).fetchall():
            for row in rows:
                found, (origin, number, bank, created, other) = kept(row[:-5]), row[-5:]
                by = other or (own_origin(number, bank, created) if number is not None else "")
                yield json_lines.line(found.but(id=""), origin or json_lines.origin_of(found), by)
            after = rows[-1][0]

    def _pair(self, db: Any, one: str, other: str) -> tuple[int, int]:
        found = self._number(db, one), self._number(db, other)
        if found[0] == found[1]:
            raise InputError(f"Name two lessons; {found[0]} is one.")
        return found


def _batched(items: Iterable[tuple[str, Imported]]) -> Iterator[list[tuple[str, Imported]]]:
    batch: list[tuple[str, Imported]] = []
    for item in items:
        batch.append(item)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
