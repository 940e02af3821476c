"""The lessons a book has accepted: when, and what each is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lessonbook.book.decided import keys_of
from lessonbook.book.history import accepted, history
from lessonbook.book.repository import open_book


@dataclass(frozen=True, slots=True)
class Accepted:
    """One candidate that is accepted now."""

    id: str
    at: int
    """When it was accepted, in epoch seconds."""
    title: str
    keys: frozenset[str]
    """What it is about, as its proposer put it; none where no proposer wrote it."""


def accepted_lessons(folder: Path) -> tuple[Accepted, ...]:
    """Return the book's accepted lessons, oldest first; none where there is no repository.

    Raises ``StoreError`` where git refuses the repository and ``SetupError`` where there is no git.
    """
    book = open_book(folder)
    if book is None:
        return ()
    steps = accepted(history(book))
    found = [Accepted(id, step.at, step.message.subject, keys_of(step.message)) for id, step in steps.items()]
    return tuple(sorted(found, key=lambda one: (one.at, one.id)))
