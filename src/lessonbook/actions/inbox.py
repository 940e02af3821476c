"""What waits in every book, for a page that is open: read once per change, marked in the background.

Listing is quick; looking for signs of poisoning and near twins reads every text. So a list is shown at once with what
is known, and the marks follow. Nobody decides by this: a decision goes by the commit, and looks for signs itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from threading import Lock, Thread
from time import monotonic, time_ns

from lessonbook.actions.review import NamedBook
from lessonbook.book import queue
from lessonbook.book.head import read
from lessonbook.book.pulse import Pulse, pulse
from lessonbook.book.reviewing import reviewed, texts
from lessonbook.core.candidate import Candidate
from lessonbook.core.errors import LessonbookError
from lessonbook.core.value import Value

ONLY = ("", "signs", "stale", "over", "twins")
"""What a list can be narrowed to."""
_REST = 3.0
"""How many times as long as looking took the next look waits: a queue that changes all the time is not a busy loop."""


class Entry(Value):
    """A candidate with its book; ``looked`` is whether its signs and twins are known for this very commit."""

    book: NamedBook
    row: Candidate
    looked: bool
    text: str = ""
    """What it brings; filled where words are looked for."""


class Meter(Value):
    """A book's ``AGENTS.md``: its characters, how many candidates wait for it, and what is wrong with it, if so."""

    book: NamedBook
    characters: int
    waiting: int
    trouble: str = ""


class Inbox(Value):
    """Everything that waits, oldest first over all books."""

    entries: tuple[Entry, ...]
    meters: tuple[Meter, ...]
    state: str
    """Another text after every change of any book, and when marks have come."""


class Filter(Value):
    """Which candidates a list shows. Empty fields leave that open."""

    book: str = ""
    text: str = ""
    only: str = ""

    def fits(self, entry: Entry) -> bool:
        """Whether a candidate is one of them."""
        row = entry.row
        if self.book and entry.book.name != self.book:
            return False
        if self.only and not {"signs": row.signs, "stale": row.stale, "over": row.over, "twins": row.twins}[self.only]:
            return False
        words = self.text.casefold().split()
        if not words:
            return True
        told = "\n".join(
            [entry.text, row.id, row.subject, *row.files, *(value for _, value in row.trailers)]
        ).casefold()
        return all(word in told for word in words)


class _Book(Value):
    """What is known of one book as of one moment."""

    pulse: Pulse
    settled: bool
    rows: tuple[Candidate, ...]
    characters: int
    trouble: str


class Desk:
    """The inbox of the books that ``books`` names each time; may be asked by many threads at once."""

    def __init__(self, books: Callable[[], Sequence[NamedBook]]) -> None:
        self._books = books
        self._known: dict[str, _Book] = {}
        self._marks: dict[tuple[str, str], Candidate] = {}
        self._marked: dict[str, str] = {}
        self._brought: dict[str, tuple[str, Mapping[str, str]]] = {}
        self._turns = 0
        self._looking = False
        self._rested = 0.0
        self._lock = Lock()

    def inbox(self) -> Inbox:
        """Return what waits now. Raises what naming the books raises; a book that cannot be read says so."""
        books = self._books()
        state = self.state(books)
        read_now = {book: self._read(book) for book in books}
        entries = [self._entry(book, row) for book, known in read_now.items() for row in known.rows]
        meters = [Meter(book, k.characters, len(k.rows), k.trouble) for book, k in read_now.items()]
        entries.sort(key=lambda entry: (entry.row.at, entry.row.id))
        return Inbox(tuple(entries), tuple(meters), state)

    def fitting(self, found: Inbox, wanted: Filter) -> list[Entry]:
        """Return the candidates of an inbox that are wanted; what they bring is read where words are looked for."""
        if not wanted.text.strip():
            return [entry for entry in found.entries if wanted.fits(entry)]
        brought = {meter.book.name: self._texts(meter.book) for meter in found.meters if meter.waiting}
        return [
            entry
            for entry in found.entries
            if wanted.fits(entry.but(text=brought.get(entry.book.name, {}).get(entry.row.id, "")))
        ]

    def state(self, books: Sequence[NamedBook] | None = None) -> str:
        """Return ``Inbox.state`` without reading anything, or starting a program."""
        told = [f"{book.name}\0{_now(book)}" for book in (self._books() if books is None else books)]
        return sha256("\0".join([*told, str(self._turns)]).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def is_marked(self) -> bool:
        """Whether the marks of everything that waits are known."""
        return all(self._marked.get(book.name) == _now(book) for book in self._books())

    def look_soon(self) -> None:
        """Look for marks in the background where some are missing, unless that was done a moment ago."""
        with self._lock:
            if self._looking or monotonic() < self._rested or self.is_marked():
                return
            self._looking = True
        Thread(target=self._look_all, daemon=True).start()

    def look_now(self) -> None:
        """Look for marks where some are missing, and come back when they are known."""
        for book in self._books():
            self._look(book)

    def _look_all(self) -> None:
        started = monotonic()
        try:
            self.look_now()
        finally:
            with self._lock:
                self._looking = False
                self._rested = monotonic() + _REST * (monotonic() - started)

    def _look(self, book: NamedBook) -> None:
        now = _now(book)
        if self._marked.get(book.name) == now:
            return
        try:
            rows = reviewed(book.folder)
        except (LessonbookError, OSError):  # its meter says what is wrong
            rows = []
        with self._lock:
            self._marks = {key: row for key, row in self._marks.items() if key[0] != book.name}
            self._marks |= {(book.name, row.id): row for row in rows}
            self._marked[book.name] = now
            self._turns += 1

    def _texts(self, book: NamedBook) -> Mapping[str, str]:
        now = _now(book)
        known = self._brought.get(book.name)
        if known is None or known[0] != now:
            try:
                known = (now, texts(book.folder))
            except (LessonbookError, OSError):  # its meter says what is wrong
                known = (now, {})
            self._brought[book.name] = known
        return known[1]

    def _read(self, book: NamedBook) -> _Book:
        now = time_ns()
        moment = pulse(book.folder)
        known = self._known.get(book.name)
        if known is not None and known.settled and known.pulse == moment:
            return known
        try:
            rows, characters, trouble = tuple(queue.candidates(book.folder)), len(read(book.folder).agents), ""
        except (LessonbookError, OSError) as error:  # one bad book must not keep the others from review
            rows, characters, trouble = (), 0, str(error)
        found = _Book(moment, moment.is_settled(now), rows, characters, trouble)
        self._known[book.name] = found
        return found

    def _entry(self, book: NamedBook, row: Candidate) -> Entry:
        marks = self._marks.get((book.name, row.id))
        if marks is None:
            return Entry(book, row, looked=False)
        # One that was only moved keeps the marks it had until they are known anew.
        return Entry(book, row.but(signs=marks.signs, twins=marks.twins), looked=marks.commit == row.commit)


def _now(book: NamedBook) -> str:
    """What stands for the moment a book is at; another one while a second change could still look like the first."""
    found = pulse(book.folder)
    return found.mark if found.is_settled(time_ns()) else f"{found.mark}~"
