"""``lessonbook learned``: the review queue on the command line."""

from __future__ import annotations

import argparse
from time import time
from typing import TYPE_CHECKING, Any

from lessonbook.core.errors import InputError, StoreError
from lessonbook.hosts.cli.output import Out

if TYPE_CHECKING:
    from lessonbook.actions.review import NamedBook
    from lessonbook.core.candidate import Candidate
    from lessonbook.system.settings import Places

EXAMPLES = """
  lessonbook learned                                   what waits for review, in every book
  lessonbook learned diff 20261130-210500-3fa2c1       what one would change, and why
  lessonbook learned accept 20261130-210500-3fa2c1
  lessonbook learned reject 20261130-210500-3fa2c1
  lessonbook learned list --book project               only this project's book
  lessonbook learned expire --dry-run                  what nothing used for 30 days, and would leave the book
  lessonbook learned pin release-check                 this skill never expires
  lessonbook learned pin "before each commit"          nor does the paragraph with these words
  lessonbook learned off                               brief nothing that was accepted, until `on`
  lessonbook learned status                            whether learning is on or off"""

GLOBAL = "global"
_DAYS = 30
_SWITCH = ("on", "off", "status")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learned``."""
    actions = ["list", "diff", "accept", "reject", "compact", "expire", "pin", "unpin", *_SWITCH]
    parser.add_argument("do", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    what = "the candidate, for diff, accept, reject and compact; for pin and unpin, a skill or words of a paragraph"
    parser.add_argument("id", nargs="?", metavar="ID", help=what)
    parser.add_argument(
        "--book", default="all", metavar="BOOK", help="all (default), global, project (this folder's), a name or a path"
    )
    parser.add_argument("--days", type=int, default=_DAYS, metavar="N", help="for expire: unused for how long (30)")
    parser.add_argument("--dry-run", action="store_true", help="for expire: only say what would leave")


def run(args: argparse.Namespace, out: Out) -> int:
    """List or decide. Exit code 1 where a candidate could not be shown, accepted or rejected."""
    from lessonbook.actions import review
    from lessonbook.hosts.cli.here import folder
    from lessonbook.system.settings import places

    if args.id and args.do in ("list", *_SWITCH):
        raise InputError(f"`lessonbook learned {args.do}` takes no id.")
    if args.do in _SWITCH:
        return _switch(args.do, out)
    where = places()
    books = review.books(where, args.book, folder(None) if args.book == "project" else None)
    if args.do == "list":
        return _list(books, out)
    if args.do == "expire":
        return _expire(where, books, args, out)
    if args.do in ("pin", "unpin"):
        return _pin(books, args, out)
    if args.do == "compact":
        return _compact(review.holding(books, args.id) if args.id else books[0], args.id, out)
    if not args.id:
        raise InputError(f"Say which one: `lessonbook learned {args.do} ID`; `lessonbook learned` shows the ids.")
    book = review.holding(books, args.id)
    told, text = review.decide(book, args.do, args.id, int(time()))
    return _answer({**told, "book": book.name}, text, out)


def _list(books: list[NamedBook], out: Out) -> int:
    from lessonbook.book.wording import row_text

    found, broken = _read(books)
    if len(broken) == len(books):
        raise next(iter(broken.values()))
    code = next((error.exit_code for error in broken.values()), 0)
    for error in broken.values() if not out.json else ():
        out.note(f"lessonbook: {error}")
    waiting = [(book, rows) for book, rows in found if rows]
    named = len(books) > 1 and any(book.name != GLOBAL for book, _ in waiting)
    if out.on_terminal and waiting:
        head = ["id", *(["book"] if named else []), "files", "subject", ""]
        out.table({}, head, [_cells(book, row, named) for book, rows in waiting for row in rows], "")
        _list_pins([book for book, _ in found], out)
        return code
    parts = ["\n".join([*([f"{book.name}:"] if named else []), *map(row_text, rows)]) for book, rows in waiting]
    document = {
        "ok": not broken,
        "books": [_document(book, rows) for book, rows in found] if out.json else [],
        "problems": [{"book": name, "error": str(error)} for name, error in broken.items()],
    }
    out.result(document, "\n\n".join(parts) or "nothing is pending")
    _list_pins([book for book, _ in found], out)
    return code


def _read(books: list[NamedBook]) -> tuple[list[tuple[NamedBook, list[Candidate]]], dict[str, StoreError]]:
    """Return what waits in each book that can be read, and what is wrong with each other by its name."""
    from lessonbook.book.queue import candidates

    found, broken = [], {}
    for book in books:
        try:
            found.append((book, candidates(book.folder)))
        except StoreError as error:  # one bad book must not hide the others
            broken[book.name] = error
    return found, broken


def _list_pins(books: list[NamedBook], out: Out) -> None:
    from lessonbook.actions.tidying import pins_text

    if not out.json:
        found = [(book, pins_text(book)) for book in books]
        out.text("\n".join(_headed([(book, "\n".join(rows)) for book, rows in found if rows])))


def _headed(parts: list[tuple[NamedBook, str]]) -> list[str]:
    named = any(book.name != GLOBAL for book, _ in parts)
    return [f"{book.name}:\n{text}" if named else text for book, text in parts]


def _document(book: NamedBook, rows: list[Candidate]) -> dict[str, Any]:
    from lessonbook.actions.tidying import pin_rows

    found = {"pending": list(map(_row, rows)), "pinned": pin_rows(book)}
    return {"book": book.name, "folder": str(book.folder), **found}


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


def _expire(where: Places, books: list[NamedBook], args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.tidying import expire, expired_text

    if args.days < 1:
        raise InputError("--days takes a whole number from 1.")
    now = int(time())
    told = [(book, expire(where, book, now, args.days, dry_run=args.dry_run)) for book in books]
    ok = all(answer["ok"] for _, answer in told)
    done = [
        (book, text) for book, answer in told if answer["ok"] and (text := expired_text(answer, dry_run=args.dry_run))
    ]
    document = {"ok": ok, "books": [{"book": book.name, "folder": str(book.folder), **answer} for book, answer in told]}
    out.result(document, "\n\n".join(_headed(done)) or ("nothing expires" if ok else ""))
    for book, answer in told if not out.json else ():
        if not answer["ok"]:
            out.error(f"{book.name}: {answer['error']}")
    return 0 if ok else 1


def _pin(books: list[NamedBook], args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions.tidying import pin

    book, told = pin(books, args.id or "", unpin=args.do == "unpin")
    text = f"{args.do}ned {told['kind']} {told['text']}" if told["ok"] else told["error"]
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
