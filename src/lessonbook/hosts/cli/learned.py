"""``lessonbook learned``: the review queue on the command line."""

from __future__ import annotations

from time import time
from types import SimpleNamespace

from lessonbook.core.errors import InputError, StoreError
from lessonbook.hosts.cli import learned_more
from lessonbook.hosts.cli.learned_more import GLOBAL, MORE, answer, headed
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from lessonbook.actions.review import NamedBook
    from lessonbook.core.pending import Candidate

    _Found = tuple[NamedBook, list[Candidate], bool]
    """A book, what waits in it, and whether anything in it is pinned."""

EXAMPLES = """
  lessonbook learned                                   what waits for review, in every book
  lessonbook learned review                            look at each, and decide with one letter
  lessonbook learned diff 20261130-210500-3fa2c1       what one would change, and why
  lessonbook learned accept 20261130-210500-3fa2c1     several ids: in one move
  lessonbook learned accept 3fa2c1@1f0c5d9             only if it still is what diff showed as that commit
  lessonbook learned edit 20261130-210500-3fa2c1       change it in your editor first
  lessonbook learned split 20261130-210500-3fa2c1      one candidate per file
  lessonbook learned reject 20261130-210500-3fa2c1
  lessonbook learned reject 20261130-210500-3fa2c1 --reason "only true on Windows"
  lessonbook learned undo 20261130-210500-3fa2c1       take an accepted one back into the queue
  lessonbook learned list --book project               only this project's book
  lessonbook learned compact                           propose a shorter AGENTS.md, by your editor model
  lessonbook learned expire --dry-run                  what nothing used for 30 days, and would leave the book
  lessonbook learned pin release-check                 this skill never expires
  lessonbook learned pin "before each commit"          nor does the paragraph with these words
  lessonbook learned off                               brief nothing that was accepted, until `on`
  lessonbook learned status                            whether learning is on or off"""

_SWITCH = ("on", "off", "status")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learned``."""
    actions = ["list", "review", "diff", "accept", "reject", "edit", "split", *MORE, *_SWITCH]
    parser.add_argument("do", nargs="?", choices=actions, default="list", help="what to do (default: list)")
    ids = parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="the candidate; ID@COMMIT: only as diff showed it; accept takes several; pull, push: remote; pin: what",
    )
    ids.completer = _ids  # type: ignore[attr-defined]  # where argcomplete looks for it
    parser.add_argument(
        "--book", metavar="BOOK", help="all (default), global, project (this folder's), a name or a path"
    )
    parser.add_argument("--all", action="store_true", help="accept: everything that waits in --book")
    parser.add_argument("--only", action="append", metavar="PATH", help="accept: only this file (repeatable)")
    parser.add_argument("--acknowledge", action="store_true", help="accept ID@COMMIT: I have seen the signs it shows")
    parser.add_argument("--reason", metavar="TEXT", help="reject: why, for whoever meets the same lesson again")
    parser.add_argument("--file", action="append", metavar="PATH=FILE", help="edit: PATH's new text (repeatable)")
    parser.add_argument("--delete", action="append", metavar="PATH", help="edit: leave PATH out (repeatable)")
    parser.add_argument("--by", choices=["file", "paragraph"], help="split: by what (default: file)")
    parser.add_argument("--to", metavar="PROJECT", help="promote: the folder of the project's repository")
    parser.add_argument("--signs", action="store_true", help="list: signs of poisoning and near twins too (slower)")
    parser.add_argument("--days", type=int, metavar="N", help="expire: unused for how many days (default: 30)")
    parser.add_argument("--dry-run", action="store_true", help="expire: only say what would leave")


def plain(words: Sequence[str]) -> SimpleNamespace | None:
    """Return what ``words`` ask for where that is the bare list, else ``None``.

    The list is what is asked for most, and loading ``argparse`` takes a third as long as listing a hundred candidates.
    """
    asked = [word for word in words if word != "--json"]
    options = {**dict.fromkeys(("book", *_OPTIONS)), **dict.fromkeys(_FLAGS, False)}
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
        return _list(books, out, args.signs)
    if args.do == "review":
        from lessonbook.hosts.cli import walk

        return walk.run(where, books, args.ids, out)
    if args.do in MORE:
        return learned_more.run(where, books, args, out)
    if args.do in ("accept", "edit", "split"):
        from lessonbook.hosts.cli import rework

        return answer(*rework.answer(args, books, where.config_file, int(time())), out)
    from lessonbook.book.exact import parted

    asked, commit = (args.ids[0], None) if args.do == "diff" else parted(args.ids[0])
    book, id = review.holding(books, asked)
    told, text = review.decide(book, args.do, id, int(time()), reason=args.reason, commit=commit)
    return answer({**told, "book": book.name}, text, out)


def _ids(**_: object) -> list[str]:
    """The ids a shell completes."""
    from lessonbook.actions.review import books
    from lessonbook.system.settings import places

    return [row.id for _, rows, _ in _read(books(places()), signs=False)[0] for row in rows]


_OPTIONS = {"all": "accept", "only": "accept", "file": "edit", "delete": "edit", "by": "split"}
_OPTIONS |= {"acknowledge": "accept", "reason": "reject", "to": "promote"}
_OPTIONS |= {"signs": "list", "days": "expire", "dry_run": "expire"}
_FLAGS = ("all", "acknowledge", "signs", "dry_run")
_ALONE = ("list", "rejected", "verify", "expire", *_SWITCH)


def _check(args: argparse.Namespace | SimpleNamespace) -> None:
    """Refuse options and ids that the action does not take, before anything is done."""
    for option, action in _OPTIONS.items():
        if getattr(args, option) and args.do != action:
            raise InputError(f"--{option.replace('_', '-')} belongs to `lessonbook learned {action}`.")
    if args.do in (*_ALONE, "compact"):
        if len(args.ids) > (args.do == "compact"):
            raise InputError(f"`lessonbook learned {args.do}` takes {'one id' if args.do == 'compact' else 'no id'}.")
    elif args.all:
        if args.ids or args.only or args.book is None:
            raise InputError(
                "Say which book: `lessonbook learned accept --all --book global|project|all`, without ids."
            )
    elif args.do == "review":
        return
    elif not args.ids and args.do not in ("pull", "push", "pin", "unpin"):
        raise InputError(f"Say which one: `lessonbook learned {args.do} ID`; `lessonbook learned` shows the ids.")
    elif len(args.ids) > 1 and args.do in ("pin", "unpin"):
        raise InputError(f'Say one thing, several words of it in quotes: `lessonbook learned {args.do} "before each"`.')
    elif len(args.ids) > 1 and (args.do != "accept" or args.only):
        raise InputError(f"Say one ID: `lessonbook learned {args.do} ID`; only accept takes several, without --only.")


def _list(books: list[NamedBook], out: Out, signs: bool) -> int:
    from lessonbook.book.wording import row_text

    found, broken = _read(books, signs)
    if len(broken) == len(books):
        raise next(iter(broken.values()))
    code = next((error.exit_code for error in broken.values()), 0)
    for error in broken.values() if not out.json else ():
        out.note(f"lessonbook: {error}")
    waiting = [(book, rows) for book, rows, _ in found if rows]
    named = len(books) > 1 and any(book.name != GLOBAL for book, _ in waiting)
    if out.on_terminal and waiting:
        head = ["id", *(["book"] if named else []), "files", "subject", ""]
        out.table({}, head, [_cells(book, row, named) for book, rows in waiting for row in rows], "")
    else:
        parts = ["\n".join([*([f"{book.name}:"] if named else []), *map(row_text, rows)]) for book, rows in waiting]
        document = {
            "ok": not broken,
            "books": [_document(book, rows, pinned, signs) for book, rows, pinned in found] if out.json else [],
            "problems": [{"book": name, "error": str(error)} for name, error in broken.items()],
        }
        out.result(document, "\n\n".join(parts) or "nothing is pending")
    _list_pins([book for book, _, pinned in found if pinned], out)
    return code


def _read(books: list[NamedBook], signs: bool) -> tuple[list[_Found], dict[str, StoreError]]:
    """Return what waits in each book that can be read, and what is wrong with each other by its name.

    Looking for signs takes twice as long as everything else of the list, so it is done where a person asks for it, or
    decides.
    """
    from lessonbook.book.queue import listed

    found: list[_Found] = []
    broken = {}
    for book in books:
        try:
            rows, pinned = listed(book.folder)
            found.append((book, _looked_at(book, rows) if signs and rows else rows, pinned))
        except StoreError as error:  # one bad book must not hide the others
            broken[book.name] = error
    return found, broken


def _looked_at(book: NamedBook, rows: list[Candidate]) -> list[Candidate]:
    from lessonbook.book.reviewing import reviewed

    return reviewed(book.folder)


def _list_pins(books: list[NamedBook], out: Out) -> None:
    if books and not out.json:
        from lessonbook.actions.tidying import pins_text

        found = [(book, "\n".join(pins_text(book))) for book in books]
        out.text("\n".join(headed([(book, text) for book, text in found if text])))


def _document(book: NamedBook, rows: list[Candidate], pinned: bool, signs: bool) -> dict[str, Any]:
    pins: list[dict[str, Any]] = []
    if pinned:
        from lessonbook.actions.tidying import pin_rows

        pins = pin_rows(book)
    found = {"pending": [_row(row, signs) for row in rows], "pinned": pins}
    return {"book": book.name, "folder": str(book.folder), **found}


def _row(row: Candidate, signs: bool) -> dict[str, Any]:
    fields = ("id", "at", "subject", "files", "stale", "over", "includes", "commit")
    plain = {name: getattr(row, name) for name in fields} | {"evidence": [list(pair) for pair in row.trailers]}
    if not signs:
        return plain
    from lessonbook.book.reviewing import look_dict

    return plain | look_dict(row)


def _cells(book: NamedBook, row: Candidate, named: bool) -> list[str]:
    from lessonbook.book.wording import notes

    return [row.id, *([book.name] if named else []), ", ".join(row.files), row.subject, "; ".join(notes(row))]


def _switch(do: str, out: Out) -> int:
    from lessonbook import learned

    if do != "status":
        learned.set_enabled(on=do == "on")
    on = learned.enabled()
    out.result({"ok": True, "learning": on}, f"learning is {'on' if on else 'off'}")
    return 0
