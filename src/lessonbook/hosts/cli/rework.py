"""``lessonbook learned accept|edit|split``: what a reviewer signs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lessonbook.core.errors import InputError
from lessonbook.core.screen import PATH_MOST, quoted, short

if TYPE_CHECKING:
    import argparse
    from types import SimpleNamespace

    from lessonbook.actions.review import NamedBook
    from lessonbook.core.reviewer import Reviewer

Answer = tuple[dict[str, Any], str]


def answer(args: argparse.Namespace | SimpleNamespace, books: list[NamedBook], config_file: Path, now: int) -> Answer:
    """Do what was asked and return the document and the text for a person."""
    from lessonbook.actions import review, rework
    from lessonbook.book.exact import parted
    from lessonbook.system.settings import reviewer

    by = reviewer(config_file)
    if args.all:
        return rework.accept_all(books, now, by, args.acknowledge)
    if len(args.ids) > 1:
        return rework.accept_many(books, args.ids, now, by, args.acknowledge)
    asked, commit = parted(args.ids[0])
    book, id = review.holding(books, asked)
    told, text = _one(args, book, id, commit, now, by)
    return {**told, "book": book.name}, text


def _one(
    args: argparse.Namespace | SimpleNamespace, book: NamedBook, id: str, commit: str | None, now: int, by: Reviewer
) -> Answer:
    from lessonbook.actions import review, rework

    if args.do == "accept":
        only, seen = args.only or (), args.acknowledge
        return review.decide(book, "accept", id, now, by, only, acknowledged=seen, commit=commit)
    if args.do == "split":
        return rework.split(book, id, args.by or "file", now, by, commit)
    files = {**_read(args.file or ()), **dict.fromkeys(args.delete or ())}
    if files:
        return rework.edit(book, id, files, now, by, commit)
    from lessonbook.system.editor import edited

    return rework.edit_in(edited, book, id, now, by, commit)


def _read(pairs: Sequence[str]) -> dict[str, bytes | None]:
    """The new text of each ``PATH=FILE``; ``-`` is standard input."""
    import sys

    from lessonbook.system.files import expanded, read_bytes

    found: dict[str, bytes | None] = {}
    for pair in pairs:
        path, _, file = pair.partition("=")
        if not path or not file:
            raise InputError(f"{quoted(pair)} is not PATH=FILE, such as AGENTS.md=new-agents.md.")
        data = sys.stdin.buffer.read() if file == "-" and sys.stdin else read_bytes(expanded(Path(file)))
        if data is None:
            raise InputError(f"There is no file {short(file, PATH_MOST)} to take the new text from.")
        found[path] = data
    return found
