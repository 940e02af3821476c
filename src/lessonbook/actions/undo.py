"""What a person does to decisions that were made: takes back, puts back, lists and checks them, over all books."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from lessonbook.actions.review import NamedBook, the_one
from lessonbook.book.history import accepted, history
from lessonbook.book.rejecting import unreject
from lessonbook.book.remembered import newest_of, rejected
from lessonbook.book.repository import REJECTED_REFS, Book, pending_refs
from lessonbook.book.undoing import undo
from lessonbook.book.verifying import verified, verify
from lessonbook.book.wording import rejected_text, undone_text, verified_text
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import InputError


def that_accepted(books: Sequence[NamedBook], id: str) -> tuple[NamedBook, str]:
    """Return the book whose HEAD holds the accepted candidate, and the whole id, which may be short (``holding``).

    Of one book and a whole id nothing is asked: what is done with it says better what is wrong. Raises ``InputError``
    where no book accepted it, or two did, or several candidates are called so.
    """
    return _the_one(books, id, "accepted", lambda book: accepted(history(book)))


def that_rejected(books: Sequence[NamedBook], id: str) -> tuple[NamedBook, str]:
    """Return the book that remembers the rejected candidate, and the whole id; raises as ``that_accepted`` does."""
    return _the_one(books, id, "rejected", lambda book: newest_of(pending_refs(book, REJECTED_REFS)[1]))


def taken_back(book: NamedBook, id: str, now: int) -> tuple[dict[str, Any], str]:
    """Undo an accept: its result, with the text for a person."""
    told = undo(book.folder, id, now)
    return told, undone_text(told) if told["ok"] else told["error"]


def put_back(book: NamedBook, id: str) -> tuple[dict[str, Any], str]:
    """Undo a reject: its result, with the text for a person."""
    told = unreject(book.folder, id)
    return told, f"{id} waits for review again" if told["ok"] else told["error"]


def all_rejected(books: Sequence[NamedBook]) -> tuple[dict[str, Any], str]:
    """Return what every book remembers as rejected: a document, and the text for a person."""
    found = [(book, rejected(book.folder)) for book in books]
    rows = [
        {"book": book.name, "rejected": [asdict(row) | {"files": list(row.files)} for row in here]}
        for book, here in found
    ]
    text = "\n\n".join("\n".join(_headed(book, books, list(map(rejected_text, here)))) for book, here in found if here)
    return {"ok": True, "books": rows}, text or "nothing was rejected"


def all_verified(books: Sequence[NamedBook]) -> tuple[dict[str, Any], str]:
    """Check every book: ``ok`` where each change on each HEAD came through its queue."""
    told = [{"book": book.name, **verified(book.folder)} for book in books]
    texts = [
        "\n".join(_headed(book, books, [str(one["error"]) if "error" in one else verified_text(verify(book.folder))]))
        for book, one in zip(books, told, strict=True)
    ]
    return {"ok": all(one["ok"] for one in told), "books": told}, "\n\n".join(texts)


def _headed(book: NamedBook, books: Sequence[NamedBook], lines: list[str]) -> list[str]:
    return [f"{book.name}:", *lines] if len(books) > 1 else lines


def _the_one(
    books: Sequence[NamedBook], id: str, what: str, ids_of: Callable[[Book], Iterable[str]]
) -> tuple[NamedBook, str]:
    if len(books) == 1 and is_candidate_id(id):
        return books[0], id
    found = the_one(books, id, what, ids_of)
    if found is None:
        raise InputError(f"No book {what} a candidate {id}.")
    return found
