"""``lessonbook learned``: the review queue on the command line."""

from __future__ import annotations

from time import time
from types import SimpleNamespace

from lessonbook.core.errors import InputError, StoreError
from lessonbook.hosts.cli import learned_more
from lessonbook.hosts.cli.learned_more import MORE, answer
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from lessonbook.actions.review import NamedBook
    from lessonbook.core.pending import Candidate

EXAMPLES = """
  lessonbook learned                                   what waits for review, in every book
  lessonbook learned diff 20261130-210500-3fa2c1       what one would change, and why
  lessonbook learned accept 20261130-210500-3fa2c1     several ids: in one move
  lessonbook learned edit 20261130-210500-3fa2c1       change it in your editor first
  lessonbook learned split 20261130-210500-3fa2c1      one candidate per file
  lessonbook learned reject 20261130-210500-3fa2c1
  lessonbook learned reject 20261130-210500-3fa2c1 --reason "only true on Windows"
  lessonbook learned undo 20261130-210500-3fa2c1       take an accepted one back into the queue
  lessonbook learned list --book project               only this project's book
  lessonbook learned off                               brief nothing that was accepted, until `on`
  lessonbook learned status                            whether learning is on or off"""

GLOBAL = "global"
_SWITCH = ("on", "off", "status")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learned``."""
    actions = ["list", "diff", "accept", "reject", "edit", "split", "compact", *MORE, *_SWITCH]
    parser.add_argument("do", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    ids = parser.add_argument(
        "ids", nargs="*", metavar="ID", help="the candidate; accept takes several; pull, push: remote"
    )
    ids.completer = _ids  # type: ignore[attr-defined]  # where argcomplete looks for it
    parser.add_argument(
        "--book", metavar="BOOK", help="all (default), global, project (this folder's), a name or a path"
    )
    parser.add_argument("--all", action="store_true", help="accept: everything that waits in --book")
    parser.add_argument("--only", action="append", metavar="PATH", help="accept: only this file (repeatable)")
    parser.add_argument("--acknowledge", action="store_true", help="accept: I have seen the signs that diff shows")
    parser.add_argument("--reason", metavar="TEXT", help="reject: why, for whoever meets the same lesson again")
    parser.add_argument("--file", action="append", metavar="PATH=FILE", help="edit: PATH's new text (repeatable)")
    parser.add_argument("--delete", action="append", metavar="PATH", help="edit: leave PATH out (repeatable)")
    parser.add_argument("--by", choices=["file", "paragraph"], help="split: by what (default: file)")
    parser.add_argument("--to", metavar="PROJECT", help="promote: the folder of the project's repository")


def plain(words: Sequence[str]) -> SimpleNamespace | None:
    """Return what ``words`` ask for where that is the bare list, else ``None``.

    The list is what is asked for most, and loading ``argparse`` takes a third as long as listing a hundred candidates.
    """
    asked = [word for word in words if word != "--json"]
    options = {**dict.fromkeys(("book", *_OPTIONS)), "all": False, "acknowledge": False}
    return SimpleNamespace(do="list", ids=[], **options) if asked in ([], ["list"]) else None


def run(args: argparse.Namespace | SimpleNamespace, out: Out) -> int:
    """List or decide. Exit code 1 where a candidate could not be shown, accepted, rejected, edited or split."""
    from lessonbook.actions import review
    from lessonbook.hosts.cli.here import folder
    from lessonbook.system.settings import places

    _check(args)
    if args.do in _SWITCH:
        return _switch(args.do, out)
    where = places()
    books = review.books(
        where, "all" if args.book is None else args.book, folder(None) if args.book == "project" else None
    )
    if args.do == "list":
        return _list(books, out)
    id = args.ids[0] if args.ids else None
    if args.do in MORE:
        return learned_more.run(books, args, out)
    if args.do == "compact":
        book, whole = review.holding(books, id) if id else (books[0], None)
        return _compact(book, whole, out)
    if args.do in ("accept", "edit", "split"):
        from lessonbook.hosts.cli import rework

        return answer(*rework.answer(args, books, where.config_file, int(time())), out)
    book, id = review.holding(books, args.ids[0])
    told, text = review.decide(book, args.do, id, int(time()), reason=args.reason)
    return answer({**told, "book": book.name}, text, out)


def _ids(**_: object) -> list[str]:
    """The ids a shell completes."""
    from lessonbook.actions.review import books
    from lessonbook.system.settings import places

    return [row.id for _, rows in _read(books(places()))[0] for row in rows]


_OPTIONS = {"all": "accept", "only": "accept", "file": "edit", "delete": "edit", "by": "split"}
_OPTIONS |= {"acknowledge": "accept", "reason": "reject", "to": "promote"}


def _check(args: argparse.Namespace | SimpleNamespace) -> None:
    """Refuse options and ids that the action does not take, before anything is done."""
    for option, action in _OPTIONS.items():
        if getattr(args, option) and args.do != action:
            raise InputError(f"--{option} belongs to `lessonbook learned {action}`.")
    if args.do in ("list", "rejected", "verify", *_SWITCH, "compact"):
        if len(args.ids) > (args.do == "compact"):
            raise InputError(f"`lessonbook learned {args.do}` takes {'one id' if args.do == 'compact' else 'no id'}.")
    elif args.all:
        if args.ids or args.only or args.book is None:
            raise InputError(
                "Say which book: `lessonbook learned accept --all --book global|project|all`, without ids."
            )
    elif not args.ids and args.do not in ("pull", "push"):
        raise InputError(f"Say which one: `lessonbook learned {args.do} ID`; `lessonbook learned` shows the ids.")
    elif len(args.ids) > 1 and (args.do != "accept" or args.only):
        raise InputError(f"Say one ID: `lessonbook learned {args.do} ID`; only accept takes several, without --only.")


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
        return code
    parts = ["\n".join([*([f"{book.name}:"] if named else []), *map(row_text, rows)]) for book, rows in waiting]
    document = {
        "ok": not broken,
        "books": [_document(book, rows) for book, rows in found],
        "problems": [{"book": name, "error": str(error)} for name, error in broken.items()],
    }
    out.result(document, "\n\n".join(parts) or "nothing is pending")
    return code


def _read(books: list[NamedBook]) -> tuple[list[tuple[NamedBook, list[Candidate]]], dict[str, StoreError]]:
    """Return what waits in each book that can be read, and what is wrong with each other by its name."""
    from lessonbook.book.reviewing import reviewed

    found, broken = [], {}
    for book in books:
        try:
            found.append((book, reviewed(book.folder)))
        except StoreError as error:  # one bad book must not hide the others
            broken[book.name] = error
    return found, broken


def _document(book: NamedBook, rows: list[Candidate]) -> dict[str, Any]:
    return {"book": book.name, "folder": str(book.folder), "pending": list(map(_row, rows))}


def _row(row: Candidate) -> dict[str, Any]:
    from lessonbook.book.reviewing import look_dict

    fields = ("id", "at", "subject", "files", "stale", "over", "includes")
    plain = {name: getattr(row, name) for name in fields}
    return plain | {"evidence": [list(pair) for pair in row.trailers], **look_dict(row)}


def _cells(book: NamedBook, row: Candidate, named: bool) -> list[str]:
    from lessonbook.book.wording import notes

    return [row.id, *([book.name] if named else []), ", ".join(row.files), row.subject, "; ".join(notes(row))]


def _compact(book: NamedBook, id: str | None, out: Out) -> int:
    from lessonbook.actions.review import compacted

    told = compacted(book, id)
    text = f"proposed {told['id']}: {told['before']} → {told['after']} characters" if told["ok"] else told["error"]
    return answer({**told, "book": book.name}, text, out)


def _switch(do: str, out: Out) -> int:
    from lessonbook import learned

    if do != "status":
        learned.set_enabled(on=do == "on")
    on = learned.enabled()
    out.result({"ok": True, "learning": on}, f"learning is {'on' if on else 'off'}")
    return 0
