"""Starts a book: a repository with a first commit that takes in what a person already wrote there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.book.content import AGENTS, expected
from lessonbook.book.repository import Book, open_book
from lessonbook.book.sentences import CHANGED
from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system import files, git
from lessonbook.system.gitbatch import (
    Entry,
    NewCommit,
    RefMove,
    Write,
    blob_id,
    move_refs,
    write_commits,
)
from lessonbook.system.gitindex import edit_index


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
    if files.read_bytes(folder / AGENTS.decode()) is None and AGENTS in texts:
        files.write_atomic(folder / AGENTS.decode(), texts[AGENTS])
    entries = {path: Entry("100644", blob_id(data, commit)) for path, data in texts.items()}
    edit_index(book.git_dir, book.index, entries, commit)
    first = [RefMove(book.head_ref, None, commit)]
    if not move_refs(book.folder, first, "lessonbook: start the book", start_log=True):
        raise BusyError(CHANGED)
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
