"""What was done on this page, to be told once the browser has gone on, and to be taken back."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from lessonbook.core.value import Value

_KEPT = 500


class Back(Value):
    """One decision that can be taken back: ``what`` is ``accept`` or ``reject``."""

    what: str
    book: str
    id: str
    title: str


class Notice(Value):
    """What to tell: ``refused`` where it was not done. ``backs`` are the decisions it speaks of."""

    text: str
    refused: bool = False
    backs: tuple[Back, ...] = ()


class Notices:
    """The notices of one run by their numbers, the oldest of many forgotten, and the decisions that still stand."""

    def __init__(self) -> None:
        self._told: OrderedDict[int, Notice] = OrderedDict()
        self._standing: list[Back] = []
        self._number = 0
        self._lock = Lock()

    def add(self, notice: Notice) -> int:
        """Keep a notice and return its number, to be shown by."""
        with self._lock:
            self._number += 1
            self._told[self._number] = notice
            while len(self._told) > _KEPT:
                self._told.popitem(last=False)
            self._standing = [*self._standing, *notice.backs][-_KEPT:]
            return self._number

    def get(self, number: str) -> Notice | None:
        """Return the notice of a number as an address says it; ``None`` for any other text."""
        found = self._told.get(int(number)) if number.isascii() and number.isdigit() and len(number) < 9 else None
        return found.but(backs=tuple(b for b in found.backs if b in self._standing)) if found else None

    def settled(self, what: str, book: str, id: str) -> None:
        """Note that a decision was taken back."""
        with self._lock:
            self._standing = [b for b in self._standing if (b.what, b.book, b.id) != (what, book, id)]

    @property
    def last(self) -> Back | None:
        """The last decision on this page that still stands, as far as this page knows."""
        return self._standing[-1] if self._standing else None
