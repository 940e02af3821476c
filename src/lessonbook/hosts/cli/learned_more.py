"""The rest of ``lessonbook learned``: what undoes, checks and shares decisions."""

from __future__ import annotations

from time import time

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from types import SimpleNamespace
    from typing import Any

    from lessonbook.actions.review import NamedBook

    Args = argparse.Namespace | SimpleNamespace


def run(books: list[NamedBook], args: Args, out: Out) -> int:
    """Do one of ``MORE``. Exit code 1 where it was refused, or where ``verify`` found something."""
    return _ACTS[args.do](books, args, out)


def answer(document: dict[str, Any], text: str, out: Out) -> int:
    """Print a result, or what was refused as an error; return the exit code."""
    if document["ok"] or out.json or "books" in document:  # of many, each has its line
        out.result(document, text)
    else:
        out.error(text)
    return 0 if document["ok"] else 1


def _undo(books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import undo

    book = undo.that_accepted(books, _id(args))
    told, text = undo.taken_back(book, args.ids[0], int(time()))
    return answer({**told, "book": book.name}, text, out)


def _unreject(books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import undo

    book = undo.that_rejected(books, _id(args))
    told, text = undo.put_back(book, args.ids[0])
    return answer({**told, "book": book.name}, text, out)


def _rejected(books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions.undo import all_rejected

    return answer(*all_rejected(books), out)


def _verify(books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions.undo import all_verified

    told, text = all_verified(books)
    out.result(told, text)
    return 0 if told["ok"] else 1


def _promote(books: list[NamedBook], args: Args, out: Out) -> int:
    from pathlib import Path

    from lessonbook.actions import share, undo

    if not args.to:
        raise InputError("Say where: `lessonbook learned promote ID --to FOLDER` of the project.")
    book = undo.that_accepted(books, _id(args))
    told, text = share.promoted(book, args.ids[0], Path(args.to), int(time()))
    return answer({**told, "book": book.name}, text, out)


def _share(books: list[NamedBook], args: Args, out: Out) -> int:
    from lessonbook.actions import share

    if not args.ids:
        raise InputError(f"Say where: `lessonbook learned {args.do} REMOTE`, a folder or an ssh or https address.")
    if args.book in (None, "all"):
        books = books[:1]  # a team shares the global book, unless another one is named
    told, text = (
        share.pulled(books[0], args.ids[0], int(time())) if args.do == "pull" else share.pushed(books[0], args.ids[0])
    )
    return answer({**told, "book": books[0].name}, text, out)


def _id(args: Args) -> str:
    if not args.ids:
        raise InputError(f"Say which one: `lessonbook learned {args.do} ID`.")
    return str(args.ids[0])


_ACTS: dict[str, Callable[[list[NamedBook], Args, Out], int]] = {
    "undo": _undo,
    "rejected": _rejected,
    "unreject": _unreject,
    "verify": _verify,
    "promote": _promote,
    "pull": _share,
    "push": _share,
}
MORE = tuple(_ACTS)
