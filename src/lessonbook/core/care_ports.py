"""The Protocols of what looks after the lessons of a memory as a whole; ``memory.care`` meets those that it can.

An id that the memory does not have raises ``InputError``; every method may raise ``StoreError`` and ``BusyError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

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
from lessonbook.core.lesson import Kept, Scope
from lessonbook.core.ports import Chat


@runtime_checkable
class Looking(Protocol):
    """Lists lessons, and shows one whole."""

    def lessons(self, wanted: Wanted, limit: int = 100, after: str | None = None) -> Sequence[Kept]:
        """Return the lessons that are wanted, newest first; ``after`` is the last id of the page before."""
        ...

    def show(self, lesson: str) -> Shown:
        """Return one lesson with all that belongs to it."""
        ...


@runtime_checkable
class Erasing(Protocol):
    """Removes lessons for good."""

    def get(self, lesson: str) -> Kept:
        """Return one lesson."""
        ...

    def erase(self, lesson: str) -> None:
        """Remove it for good."""
        ...


@runtime_checkable
class Exporting(Protocol):
    """Gives lessons as the lines of an export."""

    def exported(self, *, forgotten: bool = False, every_bank: bool = False) -> AbstractContextManager[Iterator[str]]:
        """Give the lines, the first of which says what they are."""
        ...


@runtime_checkable
class Receiving(Protocol):
    """Takes in lessons that were read from elsewhere."""

    def bank_for(self, scope: Scope) -> str:
        """Return the bank that a lesson of a scope goes into."""
        ...

    def receive(self, lessons: Iterable[tuple[str, Imported]]) -> Taken:
        """Take in lessons, each with the bank it is to be in; return what became of them."""
        ...

    def is_kept_in(self, path: Any) -> bool:
        """Whether a file (a ``Path``) is the very one that the lessons are kept in."""
        ...


@runtime_checkable
class Counting(Protocol):
    """Counts what is kept."""

    @property
    def place(self) -> str:
        """Where it is kept, as a person knows it."""
        ...

    def stats(self) -> Stats:
        """Return what is kept."""
        ...


@runtime_checkable
class Pairing(Protocol):
    """Shows the pairs of lessons that wait for a decision, and notes what is decided."""

    def contradictions(self) -> Sequence[Contradiction]:
        """Return the pairs that may contradict each other and that nobody settled, newest first."""
        ...

    def dismiss(self, one: str, other: str) -> None:
        """Note that two lessons do not contradict each other, or may both stand."""
        ...

    def merges(self) -> Sequence[Pair]:
        """Return the pairs of near twins that are proposed for merging, likest first."""
        ...

    def merge(self, kept: str, other: str) -> None:
        """Let one lesson take the place of another, and have its contexts too; ``undo`` of the other parts them."""
        ...

    def apart(self, one: str, other: str) -> None:
        """Note that two lessons are to stay apart, so that they are not proposed for merging again."""
        ...


@runtime_checkable
class Tending(Protocol):
    """Looks everything over, and does what is best done while nobody waits."""

    def diagnose(self, *, deep: bool = False) -> Sequence[Finding]:
        """Look it over and change nothing; ``deep`` compares every word and vector with the lessons."""
        ...

    def sleep(self, step: Callable[[str], None] = lambda what: None) -> Slept:
        """Bring what is made of the lessons up to date, and propose near twins; ``step`` hears what is next."""
        ...

    def summarise(self, chat: Chat) -> tuple[list[Summary], int]:
        """Have groups of old episodes summed up; return what came of each, and how many are left."""
        ...

    def extract(self, chat: Chat) -> Extracted:
        """Have a model say what lessons name and state that no model was asked about yet."""
        ...


@runtime_checkable
class Filing(Protocol):
    """Looks after the file that the lessons are in."""

    def vacuum(self) -> tuple[int, int]:
        """Give back the room that nothing uses any more; return the bytes before and after."""
        ...

    def back_up(self, target: Any) -> int:
        """Copy the whole file to a new one (a ``Path``) while others use it, and return the copy's bytes."""
        ...


@runtime_checkable
class Care(Looking, Exporting, Receiving, Counting, Pairing, Tending, Protocol):
    """All that a bank offers, whatever it is kept in."""
