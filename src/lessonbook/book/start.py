"""Starts a book: a repository with a first commit that takes in what a person already wrote there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.book import working
from lessonbook.book.content import AGENTS, expected
from lessonbook.book.repository import Book, open_book
from lessonbook.book.swapping import swap
from lessonbook.core.errors import StoreError
from lessonbook.system import files, git
from lessonbook.system.gitbatch import (
    Change,
    Entry,
    NewCommit,
    RefMove,
    Write,
    blob_id,
    write_commits,
)
from lessonbook.system.gitindex import read_index


def ready(folder: Path, now: int) -> Book:
    """Return the folder's book, what a crash left finished, and made where it is missing; hold its lock."""
    book = open_book(folder)
    if book is not None and book.unfinished:
        working.finish(book)
    return start(folder, book, now) if book is None or book.head is None else book


def start(folder: Path, book: Book | None, now: int) -> Book:
    """Make the folder's repository where ``book`` is ``None``, and its first commit; return the book.

    Files of the expected names that lie there already are in that commit: a person wrote them, so they count as
    accepted. Nothing else is read, and no file of a person's is written. Call it with the book's lock held.
    """
    folder = folder.absolute()
    if book is None:
        git.init(folder)
        book = _opened(folder)
    texts = dict(_written(folder)) or {AGENTS: b""}
    author = f"{git.NAME} <{git.EMAIL}> {now} +0000".encode()
    writes = tuple(Write(path, data) for path, data in texts.items())
    commit = write_commits(book.folder, [NewCommit(None, author, b"Start the book\n", writes)], now)[0]
    entries = [Change(path, None, Entry("100644", blob_id(data, commit))) for path, data in texts.items()]
    blobs = {entry.new.oid: texts[entry.path] for entry in entries if entry.new}
    first = [RefMove(book.head_ref, None, commit)]
    with working.index_held(book):
        index = read_index(book.folder)
        swap(book, index, entries, blobs, first, "lessonbook: start the book", "the book is started", start_log=True)
    return _opened(folder)


def _opened(folder: Path) -> Book:
    book = open_book(folder)
    if book is None:
        raise StoreError(f"{folder} could not be made a book")
    return book


def _written(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    for path in sorted([*folder.glob("*.md"), *(folder / "skills").rglob("*")]):
        name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
        steps = [path, *(above for above in path.parents if folder in above.parents)]
        if path.is_file() and not any(step.is_symlink() for step in steps) and expected(name):
            yield name, files.read_bytes(path) or b""
