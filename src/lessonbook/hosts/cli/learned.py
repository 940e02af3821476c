"""``lessonbook learned``: the review queue on the command line."""

from __future__ import annotations

import argparse
from time import time
from typing import TYPE_CHECKING, Any

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

if TYPE_CHECKING:
    from lessonbook.actions.review import NamedBook
    from lessonbook.core.candidate import Candidate

EXAMPLES = """
  lessonbook learned                                   what waits for review, in every book
  lessonbook learned diff 20261130-210500-3fa2c1       what one would change, and why
  lessonbook learned accept 20261130-210500-3fa2c1
  lessonbook learned reject 20261130-210500-3fa2c1
  lessonbook learned list --book project               only this project's book
  lessonbook learned off                               brief nothing that was accepted, until `on`
  lessonbook learned status                            whether learning is on or off"""

GLOBAL = "global"
_SWITCH = ("on", "off", "status")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learned``."""
    actions = ["list", "diff", "accept", "reject", "compact", *_SWITCH]
    parser.add_argument("do", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    parser.add_argument("id", nargs="?", metavar="ID", help="the candidate, for diff, accept, reject and compact")
    parser.add_argument(
        "--book", default="all", metavar="BOOK", help="all (default), global, project (this folder's), a name or a path"
    )


def run(args: argparse.Namespace, out: Out) -> int:
    """List or decide. Exit code 1 where a candidate could not be shown, accepted or rejected."""
    from lessonbook.actions import review
    from lessonbook.hosts.cli.here import folder
    from lessonbook.system.settings import places

    if args.do in _SWITCH:
        return _switch(args.do, out)
    where = places()
    books = review.books(where, args.book, folder(None) if args.book == "project" else None)
    if args.do == "list":
        return _list(books, out)
    if args.do == "compact":
        return _compact(review.holding(books, args.id) if args.id else books[0], args.id, out)
    if not args.id:
        raise InputError(f"Say which one: `lessonbook learned {args.do} ID`; `lessonbook learned` shows the ids.")
    book = review.holding(books, args.id)
    told, text = review.decide(book, args.do, args.id, int(time()))
    return _answer({**told, "book": book.name}, text, out)


def _list(books: list[NamedBook], out: Out) -> int:
    from lessonbook.book.queue import candidates
    from lessonbook.book.wording import row_text

    found = [(book, candidates(book.folder)) for book in books]
    waiting = [(book, rows) for book, rows in found if rows]
    named = len(books) > 1 and any(book.name != GLOBAL for book, _ in waiting)
    if out.on_terminal and waiting:
        head = ["id", *(["book"] if named else []), "files", "subject", ""]
        out.table({}, head, [_cells(book, row, named) for book, rows in waiting for row in rows], "")
        return 0
    parts = ["\n".join([*([f"{book.name}:"] if named else []), *map(row_text, rows)]) for book, rows in waiting]
    document = {"ok": True, "books": [_document(book, rows) for book, rows in found]}
    out.result(document, "\n\n".join(parts) or "nothing is pending")
    return 0


def _document(book: NamedBook, rows: list[Candidate]) -> dict[str, Any]:
    return {"book": book.name, "folder": str(book.folder), "pending": list(map(_row, rows))}


def _row(row: Candidate) -> dict[str, Any]:
    fields = ("id", "at", "subject", "files", "stale", "includes")
    return {name: getattr(row, name) for name in fields} | {"evidence": [list(pair) for pair in row.trailers]}


def _cells(book: NamedBook, row: Candidate, named: bool) -> list[str]:
    stale = f"stale: {row.stale}" if row.stale else ""
    return [row.id, *([book.name] if named else []), ", ".join(row.files), row.subject, stale]


def _compact(book: NamedBook, id: str | None, out: Out) -> int:
    from lessonbook.actions.review import compacted

    told = compacted(book, id)
    text = f"proposed {told['id']}: {told['before']} → {told['after']} characters" if told["ok"] else told["error"]
    return _answer({**told, "book": book.name}, text, out)


def _answer(document: dict[str, Any], text: str, out: Out) -> int:
    if document["ok"] or out.json:
        out.result(document, text)
    else:
        out.error(text)
    return 0 if document["ok"] else 1


def _switch(do: str, out: Out) -> int:
    from lessonbook import learned

    if do != "status":
        learned.set_enabled(on=do == "on")
    on = learned.enabled()
    out.result({"ok": True, "learning": on}, f"learning is {'on' if on else 'off'}")
    return 0
