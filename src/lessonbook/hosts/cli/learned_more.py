"""The rest of ``lessonbook learned``: what undoes, checks and shares decisions, and what shortens a book."""

from __future__ import annotations

from time import time

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from types import SimpleNamespace
    from typing import Any

    from lessonbook.actions.review import NamedBook
    from lessonbook.system.settings import Places

    Args = argparse.Namespace | SimpleNamespace

GLOBAL = "global"


def run(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    """Do one of ``MORE``. Exit code 1 where it was refused, or where ``verify`` found something."""
    return _ACTS[args.do](where, books, args, out)


def answer(document: dict[str, Any], text: str, out: Out) -> int:
    """Print a result, or what was refused as an error; return the exit code."""
    if document["ok"] or out.json or "books" in document:  # of many, each has its line
        out.result(document, text)
    else:
        out.error(text)
    return 0 if document["ok"] else 1


def headed(parts: Sequence[tuple[NamedBook, str]]) -> list[str]:
    """Return the text of each book, under its name where not all of them are of the global one."""
    named = any(book.name != GLOBAL for book, _ in parts)
    return [f"{book.name}:\n{text}" if named else text for book, text in parts]


def _undo(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import undo

    book, id = undo.that_accepted(books, _id(args))
    told, text = undo.taken_back(book, id, int(time()))
    return answer({**told, "book": book.name}, text, out)


def _unreject(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import undo

    book, id = undo.that_rejected(books, _id(args))
    told, text = undo.put_back(book, id)
    return answer({**told, "book": book.name}, text, out)


def _rejected(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions.undo import all_rejected

    return answer(*all_rejected(books), out)


def _verify(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions.undo import all_verified

    told, text = all_verified(books)
    out.result(told, text)
    return 0 if told["ok"] else 1


def _promote(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from pathlib import Path

    from lessonbook.actions import share, undo

    if not args.to:
        raise InputError("Say where: `lessonbook learned promote ID --to FOLDER` of the project.")
    book, id = undo.that_accepted(books, _id(args))
    told, text = share.promoted(book, id, Path(args.to), int(time()))
    return answer({**told, "book": book.name}, text, out)


def _share(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import share

    if not args.ids:
        raise InputError(f"Say where: `lessonbook learned {args.do} REMOTE`, a folder or an ssh or https address.")
    if args.book in (None, "all"):
        books = books[:1]  # a team shares the global book, unless another one is named
    told, text = (
        share.pulled(books[0], args.ids[0], int(time())) if args.do == "pull" else share.pushed(books[0], args.ids[0])
    )
    return answer({**told, "book": books[0].name}, text, out)


def _compact(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import review, tidying

    book, id = review.holding(books, args.ids[0]) if args.ids else (books[0], None)
    told = tidying.compacted(book, id, int(time()))
    text = f"proposed {told['id']}: {told['before']:,} → {told['after']:,} characters"
    return answer({**told, "book": book.name}, text, out)


def _expire(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import tidying
    from lessonbook.core.expiry import DAYS, DAYS_MOST

    days = DAYS if args.days is None else args.days
    if not 1 <= days <= DAYS_MOST:
        raise InputError(f"--days takes a whole number from 1 to {DAYS_MOST:,}.")
    now = int(time())
    told = [(book, tidying.expire(where, book, now, days, dry_run=args.dry_run)) for book in books]
    done = [(book, tidying.expired_text(one, dry_run=args.dry_run)) for book, one in told if one["ok"]]
    ok = all(one["ok"] for _, one in told)
    document = {"ok": ok, "books": [{"book": book.name, "folder": str(book.folder), **one} for book, one in told]}
    text = "\n\n".join(headed([(book, said) for book, said in done if said]))
    out.result(document, text or ("nothing expires" if ok else ""))
    for book, one in told if not out.json else ():
        if not one["ok"]:
            out.error(f"{book.name}: {one['error']}")
    return 0 if ok else 1


def _pin(where: Places, books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions.tidying import pin

    book, told = pin(books, args.ids[0] if args.ids else "", unpin=args.do == "unpin")
    text = f"{args.do}ned {told['kind']} {told['text']}" if told["ok"] else told["error"]
    return answer({**told, "book": book.name}, text, out)


def _id(args: Args) -> str:
    if not args.ids:
        raise InputError(f"Say which one: `lessonbook learned {args.do} ID`.")
    return str(args.ids[0])


_ACTS: dict[str, Callable[[Places, list[NamedBook], Args, Out], int]] = {
    "compact": _compact,
    "expire": _expire,
    "pin": _pin,
    "unpin": _pin,
    "undo": _undo,
    "rejected": _rejected,
    "unreject": _unreject,
    "verify": _verify,
    "promote": _promote,
    "pull": _share,
    "push": _share,
}
MORE = tuple(_ACTS)
