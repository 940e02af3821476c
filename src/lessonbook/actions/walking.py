"""Walks a person through what waits, one candidate at a time, as ``git add -p`` walks through changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lessonbook.actions import review, rework, undo
from lessonbook.actions.review import NamedBook
from lessonbook.book import queue
from lessonbook.book.reviewing import explained
from lessonbook.core.candidate import Candidate
from lessonbook.core.errors import StoreError
from lessonbook.core.reviewer import Reviewer


@dataclass(frozen=True, slots=True)
class Shown:
    """The candidate a person looks at: its book, its row with what to look at, and its change as a diff."""

    book: NamedBook
    row: Candidate
    diff: str


@dataclass(slots=True)
class Walk:
    """The way through the queue of some books. Each decision is about the commit that was shown, and no other.

    ``todo`` is what is still to be shown, ``done`` counts the decisions, ``gone`` says what could not be shown and why.
    """

    by: Reviewer
    clock: Callable[[], float]
    todo: list[tuple[NamedBook, str]]
    done: dict[str, int] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    total: int = 0
    _decided: list[tuple[str, NamedBook, str]] = field(default_factory=list)

    def look(self) -> Shown | None:
        """Return the next candidate as it is now, or ``None`` at the end; others may have decided on some meanwhile."""
        while self.todo:
            book, id = self.todo[0]
            told, row = explained(book.folder, id)
            if row is not None:
                return Shown(book, row, str(told["diff"]))
            self.gone.append(review.in_terminal(str(told["error"])))
            self.todo.pop(0)
        return None

    @property
    def place(self) -> int:
        """Which of ``total`` it is, from 1."""
        return self.total - len(self.todo) + 1

    @property
    def has_decided(self) -> bool:
        """Whether there is a decision to take back."""
        return bool(self._decided)

    def accept(self, shown: Shown, *, acknowledged: bool = False) -> str:
        """Accept it as it was shown, its signs seen where ``acknowledged``; return what happened."""
        return self._decide(shown, "accept", by=self.by, acknowledged=acknowledged)

    def reject(self, shown: Shown, reason: str) -> str:
        """Reject it as it was shown, and remember why; return what happened."""
        return self._decide(shown, "reject", reason=reason or None)

    def edit(self, shown: Shown, editor: rework.Editor) -> str:
        """Let a person change it; it is shown again. Raises what ``editor`` raises."""
        told, text = rework.edit_in(editor, shown.book, shown.row.id, int(self.clock()), self.by, shown.row.commit)
        self._count("edited", told["ok"] and told.get("changed", True))
        return text

    def split(self, shown: Shown) -> str:
        """Make several of one, by file or, where it is one file, by paragraph; they are shown in its place."""
        way = "file" if len(shown.row.files) > 1 else "paragraph"
        told, text = rework.split(shown.book, shown.row.id, way, int(self.clock()), self.by, shown.row.commit)
        if told["ok"]:
            parts = [(shown.book, str(part["id"])) for part in told["parts"]]
            self.todo[:1] = parts
            self.total += len(parts) - 1
            self._count("split")
        return text

    def skip(self) -> None:
        """Leave it undecided."""
        self.todo.pop(0)
        self._count("left")

    def undo(self) -> str:
        """Take back the last decision of this walk; its candidate is shown next."""
        if not self._decided:
            return "nothing was decided yet"
        what, book, id = self._decided[-1]
        now = int(self.clock())
        told, text = undo.taken_back(book, id, now) if what == "accept" else undo.put_back(book, id)
        if told["ok"]:
            self._decided.pop()
            self.done[_PAST[what]] -= 1
            self.todo.insert(0, (book, id))
        return text

    def summary(self) -> str:
        """Return how many were accepted, rejected and so on."""
        left = self.done.get("left", 0) + len(self.todo)
        counts = {**{name: count for name, count in self.done.items() if name != "left"}, "left": left}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count or name == "left")

    def _decide(self, shown: Shown, what: str, **options: Any) -> str:
        now, row = int(self.clock()), shown.row
        told, text = review.decide(shown.book, what, row.id, now, commit=row.commit, **options)
        if told["ok"]:
            self._decided.append((what, shown.book, row.id))
            self.todo.pop(0)
            self._count(_PAST[what])
        return text

    def _count(self, name: str, happened: bool = True) -> None:
        self.done[name] = self.done.get(name, 0) + happened


_PAST = {"accept": "accepted", "reject": "rejected"}


def start(books: Sequence[NamedBook], ids: Sequence[str], by: Reviewer, clock: Callable[[], float]) -> Walk:
    """Return the walk through everything that waits in the books, oldest first, or through ``ids``, which may be short.

    A book that cannot be read is told in ``gone``. Raises ``InputError`` for an id that no book holds.
    """
    todo: list[tuple[NamedBook, str]] = []
    gone: list[str] = []
    if ids:
        todo = [review.holding(list(books), id) for id in dict.fromkeys(ids)]
    for book in books if not ids else ():
        try:
            todo += [(book, row.id) for row in queue.candidates(book.folder)]
        except StoreError as error:  # one bad book must not keep the others from review
            gone.append(str(error))
    return Walk(by, clock, todo, gone=gone, total=len(todo))
