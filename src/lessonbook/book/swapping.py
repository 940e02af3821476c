"""Moves a book from one state to the next: all branches in one transaction, then the working files and the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lessonbook.book import working
from lessonbook.book.repository import Book
from lessonbook.book.settling import move
from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system.gitbatch import Change, RefMove


def swap(
    book: Book,
    index: working.Index,
    entries: Sequence[Change],
    blobs: Mapping[str, bytes],
    steps: Sequence[RefMove],
    reason: str,
    done: str,
    *,
    start_log: bool = False,
) -> None:
    """Move the branches, and bring the paths of ``entries`` along to what ``blobs`` holds for them.

    Raises ``BusyError``, with nothing done, where a branch has moved; ``StoreError`` that says ``done`` where only the
    working files could not follow. Call it with git's index lock held (``working.index_held``).
    """
    if entries:
        working.lay_ready(book, index, entries)
    try:
        move(book, steps, reason, entries, start_log=start_log)
    except (BusyError, StoreError):
        working.discard(book)
        raise
    if entries:
        try:
            working.carry_out(book, entries, blobs)
        except StoreError as error:
            raise StoreError(
                f"{done}, but the working files could not be brought along ({error}); "
                "the next accept, reject or list will do that"
            ) from error
