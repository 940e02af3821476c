"""What a person does with a bank as a whole: look through it, look after it, copy it, and carry lessons in and out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from lessonbook.core.care import (
    Contradiction,
    Extracted,
    Finding,
    Imported,
    Link,
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
from lessonbook.memory.mnemopi import backup, caring, checks, contradicting, erasing, exporting, listing, stats
from lessonbook.memory.mnemopi.connection import BankFile, DamagedError
from lessonbook.memory.mnemopi.editing import Editing, Transaction
from lessonbook.memory.mnemopi.extracting import extract
from lessonbook.memory.mnemopi.receiving import Receiver
from lessonbook.memory.mnemopi.rows import SHARED
from lessonbook.memory.mnemopi.sleep import Sleeping
from lessonbook.memory.mnemopi.vectors import Vectors
from lessonbook.system import newfile

AT_ONCE = 500
"""Lessons that are taken in within one transaction, so that other writers never wait long."""
_T = TypeVar("_T")


class Mended(Protocol):
    """Does something with a file, and once more where it was damaged and could be mended."""

    def __call__(self, act: Callable[[], _T], /) -> _T:
        """Return what ``act`` returns."""
        ...


class Care:
    """The care of one bank's file, for a project that sees ``banks`` of it.

    An id that these banks do not have raises ``InputError``; every method may raise what ``BankFile`` raises. Where
    there is no file yet nothing is made but by ``receive``.
    """

    def __init__(
        self,
        file: BankFile,
        vectors: Vectors,
        banks: Sequence[str],
        now: Callable[[], float],
        editing: Editing,
        mended: Mended,
    ) -> None:
        self.path = file.path
        self.banks = tuple(banks)
        self._file = file
        self._vectors = vectors
        self._now = now
        self._number = editing.number
        self._mended = mended

    @property
    def place(self) -> str:
        """Where the file is."""
        return str(self.path)

    def is_kept_in(self, path: Path) -> bool:
        """Whether a file is this bank's own."""
        return self.path.exists() and path.exists() and path.samefile(self.path)

    def bank_for(self, scope: Scope) -> str:
        """Return the bank that a lesson of a scope goes into."""
        return SHARED if scope is Scope.GLOBAL and SHARED in self.banks else self.banks[0]

    def lessons(self, wanted: Wanted, limit: int = 100, after: str | None = None) -> list[Kept]:
        """Return the lessons that are wanted, newest first; ``after`` is the last id of the page before."""

        def read(db: sqlite3.Connection) -> list[Kept]:
            place = None if after is None else self._number(db, after)
            return listing.lessons(db, self.banks, wanted, limit, place)

        return self._read(read) if self._file.exists() else []

    def show(self, lesson: str) -> Shown:
        """Return one lesson with all that belongs to it."""
        return self._there(lambda db: listing.show(db, self.banks, self._number(db, lesson)))

    def contradictions(self) -> list[Contradiction]:
        """Return the pairs of lessons that may contradict each other and that nobody settled, newest first."""
        return self._read(lambda db: contradicting.waiting(db, self.banks)) if self._file.exists() else []

    def dismiss(self, one: str, other: str) -> None:
        """Note that two lessons do not contradict each other, or may both stand."""
        self._write(lambda db: contradicting.dismiss(db, *self._pair(db, one, other), self._now()))

    def merges(self) -> list[Pair]:
        """Return the pairs of near twins that are proposed for merging, likest first."""
        return self._read(lambda db: caring.proposed(db, self.banks)) if self._file.exists() else []

    def merge(self, kept: str, other: str) -> None:
        """Let one lesson take the place of another, and have its contexts too; ``undo`` of the other parts them."""
        self._write(lambda db: caring.merge(db, self._vectors, *self._pair(db, kept, other), self._now()))

    def apart(self, one: str, other: str) -> None:
        """Note that two lessons are to stay apart, so that they are not proposed for merging again."""
        self._write(lambda db: caring.decide(db, *self._pair(db, one, other), caring.APART, self._now()))

    def stats(self) -> Stats:
        """Return what the file holds, all its banks together."""
        if not self._file.exists():
            return stats.NOTHING
        return self._read(lambda db: stats.count(db, self.path, self._now()))

    def diagnose(self, *, deep: bool = False) -> list[Finding]:
        """Look the file over and change nothing; ``deep`` compares every word and vector with the lessons.

        Never mends: what is damaged is found, and the next use of the bank does something about it.
        """
        if not self._file.exists():
            return [Finding("file", f"{self.path} is not there yet: nothing was remembered")]
        try:
            found = _undone(self._file, lambda db: checks.look(db, self._vectors))
        except DamagedError as error:
            return [Finding("file", str(error), True)]
        return [*found, *self._compared()] if deep else found

    def vacuum(self) -> tuple[int, int]:
        """Give back the room that nothing uses any more; return the bytes of the file before and after.

        The whole file is written anew for that; readers go on meanwhile, writers wait.
        """
        self._check_there()
        before = stats.size(self.path)
        self._mended(lambda: erasing.shrink(self._file))
        return before, stats.size(self.path)

    def back_up(self, target: Path) -> int:
        """Copy the whole file while others use it, and return the copy's bytes; never overwrites anything."""
        self._check_there()
        return self._mended(lambda: backup.back_up(self._file, target))

    def sleep(self, step: Callable[[str], None] = lambda what: None) -> Slept:
        """Bring what is made of the lessons up to date and propose near twins, in every bank of the file."""
        if not self._file.exists():
            return Slept()
        return self._mended(lambda: self._sleeping().sleep(step))

    def summarise(self, chat: Chat) -> tuple[list[Summary], int]:
        """Have groups of old episodes summed up; return what came of each, and how many are left."""
        if not self._file.exists():
            return [], 0
        return self._mended(lambda: self._sleeping().summarise(self.banks, chat))

    def extract(self, chat: Chat) -> Extracted:
        """Have a model say what lessons name and state, those told last first; return what came of it."""
        if not self._file.exists():
            return Extracted()
        return self._mended(lambda: extract(self._file.reading, self._file.writing, self.banks, chat, self._now))

    @contextmanager
    def exported(self, *, forgotten: bool = False, every_bank: bool = False) -> Iterator[Iterator[str]]:
        """Give the lines of an export, read from one state of the file."""
        if not self._file.exists():
            yield iter([exporting.header()])
            return
        with self._file.reading() as db:
            yield exporting.lines(db, None if every_bank else self.banks, forgotten=forgotten)

    def receive(self, lessons: Iterable[tuple[str, Imported]]) -> Taken:
        """Take in lessons that were read from elsewhere, each with the bank it is to be in; return what became of them.

        In transactions of ``AT_ONCE``: where it is cut off, what was taken in stays, and doing it again adds the rest.
        """
        total = Taken()
        for batch in _batched(lessons):
            total.add(self._mended(partial(self._take, batch)))
        for links in _batched(total.links):
            self._write(partial(self._link, links, (*total.stored, *self.banks)))
        return total

    def _compared(self) -> list[Finding]:
        """Compare words and vectors in a copy: it takes long, and writers would wait for it."""
        vectors = Vectors(self._vectors.embedder)
        try:
            with newfile.scratch_folder() as folder:
                copy = backup.copied(self._file, folder / self.path.name)
                with closing(BankFile(copy)) as file:
                    return _undone(file, lambda db: checks.compare(db, vectors))
        except DamagedError:
            return [Finding("words", "cannot be compared: what they are kept in is damaged", True)]

    def _take(self, batch: Sequence[tuple[str, Imported]]) -> Taken:
        taken = Taken()
        with self._file.writing() as db:
            receiver = Receiver(db, self._vectors, self._now(), taken)
            for bank, lesson in batch:
                receiver.take(bank, lesson)
        return taken

    def _link(self, links: Sequence[Link], banks: Sequence[str], db: sqlite3.Connection) -> None:
        Receiver(db, self._vectors, self._now(), Taken()).link(links, banks)

    def _sleeping(self) -> Sleeping:
        return Sleeping(self._file.reading, self._file.writing, self._vectors, self._now)

    def _pair(self, db: sqlite3.Connection, one: str, other: str) -> tuple[int, int]:
        found = self._number(db, one), self._number(db, other)
        if found[0] == found[1]:
            raise InputError(f"Name two lessons; {found[0]} is one.")
        return found

    def _there(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        self._check_there()
        return self._read(act)

    def _check_there(self) -> None:
        if not self._file.exists():
            raise InputError(f"{self.path} is not there yet: nothing was remembered.")

    def _read(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        return self._mended(lambda: _within(self._file.reading, act))

    def _write(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        self._check_there()
        return self._mended(lambda: _within(self._file.writing, act))


def _undone(file: BankFile, act: Callable[[sqlite3.Connection], _T]) -> _T:
    """Do ``act`` in a transaction that is undone afterwards."""
    with file.alone() as db:
        db.execute("BEGIN IMMEDIATE")
        return act(db)


def _within(transaction: Transaction, act: Callable[[sqlite3.Connection], _T]) -> _T:
    with transaction() as db:
        return act(db)


def _batched(items: Iterable[_T]) -> Iterator[list[_T]]:
    batch: list[_T] = []
    for item in items:
        batch.append(item)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
