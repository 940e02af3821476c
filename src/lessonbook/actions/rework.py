"""Works on candidates before or while they are accepted: in an editor, by file or paragraph, many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessonbook.actions.review import NamedBook, holding, in_terminal
from lessonbook.book.wording import done_text, many_text
from lessonbook.core.errors import InputError
from lessonbook.core.pending import is_candidate_id
from lessonbook.core.reviewer import Reviewer

Answer = tuple[dict[str, Any], str]
Editor = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]


def accept_many(
    books: Sequence[NamedBook], ids: Sequence[str], now: int, by: Reviewer, acknowledged: bool = False
) -> Answer:
    """Accept the candidates, in one move per book that holds some: the result of each book, and the text.

    ``ids`` may be ``ID@COMMIT``. Raises ``InputError``, with nothing done, where no book of several holds one of them.
    """
    from lessonbook.book.exact import named, parted

    by_book: dict[NamedBook, list[str]] = {}
    for id, commit in map(parted, ids):
        # Of one book, the ids that do not wait are told beside the others.
        whole_of_one = len(books) == 1 and is_candidate_id(id)
        book, whole = (books[0], id) if whole_of_one else holding(list(books), id)
        by_book.setdefault(book, []).append(whole if commit is None else f"{whole}@{commit}")
    return _accepted({book: named(ids) for book, ids in by_book.items()}, now, by, acknowledged)


def accept_all(books: Sequence[NamedBook], now: int, by: Reviewer, acknowledged: bool = False) -> Answer:
    """Accept everything that waits in these books, oldest first, in one move per book."""
    from lessonbook.book.queue import candidates

    found = {book: [row.id for row in candidates(book.folder)] for book in books}
    return _accepted({book: (ids, {}) for book, ids in found.items() if ids}, now, by, acknowledged)


def edit(
    book: NamedBook,
    id: str,
    files: Mapping[str, str | bytes | None],
    now: int,
    by: Reviewer,
    commit: str | None = None,
) -> Answer:
    """Replace files of the candidate; see ``editing.edit``."""
    from lessonbook.book import editing

    told = editing.edit(book.folder, id, files, now, by, commit)
    return told, done_text("edit", told) if told["ok"] else in_terminal(told["error"])


def edit_in(editor: Editor, book: NamedBook, id: str, now: int, by: Reviewer, commit: str | None = None) -> Answer:
    """Let a person change the candidate's files in their editor; where they change none, nothing is done.

    A file that conflicts with HEAD is shown with both sides between markers. What they saved is laid on the candidate
    that they were shown (``commit``), and on no other. Raises what ``editor`` raises.
    """
    from lessonbook.book import editing

    drafts = editing.drafts(book.folder, id, commit)
    if not drafts["ok"]:
        return drafts, in_terminal(drafts["error"])
    if not drafts["files"]:
        raise InputError(f"{id} holds no text to edit; give new content with --file PATH=FILE.")
    left = editor(drafts["files"])
    changed = {path: data for path, data in left.items() if data != drafts["files"][path]}
    if not changed:
        as_it_was = {"ok": True, "id": id, "files": [], "redacted": 0, "changed": False, "commit": drafts["commit"]}
        return as_it_was, f"{id} is as it was"
    again = editing.drafts(book.folder, id, drafts["commit"])
    if not again["ok"]:
        return again, in_terminal(again["error"])
    return edit(book, id, _onto(again["files"], drafts["files"], changed), now, by, drafts["commit"])


def _onto(now: Mapping[str, bytes], then: Mapping[str, bytes], changed: Mapping[str, bytes]) -> dict[str, bytes]:
    """What the person changed, in the files as they are now: what was accepted while the editor was open stays.

    Raises ``InputError`` where it is in the same lines.
    """
    from lessonbook.core.merge import merge3

    merged = {path: merge3(then[path], now.get(path, b""), data) for path, data in changed.items()}
    both = ", ".join(path for path, data in merged.items() if data is None)
    if both:
        raise InputError(f"{both} changed in the book while you edited it, in the same lines; edit it again.")
    return {path: data for path, data in merged.items() if data is not None}


def split(book: NamedBook, id: str, way: str, now: int, by: Reviewer, commit: str | None = None) -> Answer:
    """Make several candidates of one; see ``splitting.split``."""
    from lessonbook.book import splitting

    told = splitting.split(book.folder, id, way, now, by, commit)
    return told, done_text("split", told) if told["ok"] else in_terminal(told["error"])


def _accepted(
    by_book: Mapping[NamedBook, tuple[list[str], dict[str, str]]], now: int, by: Reviewer, acknowledged: bool
) -> Answer:
    from lessonbook.book.many import accept_many as accept

    told = {book: accept(book.folder, ids, now, by, acknowledged, seen) for book, (ids, seen) in by_book.items()}
    rows = [{**answer, "book": book.name} for book, answer in told.items()]
    text = in_terminal("\n".join(map(many_text, told.values()))) or "nothing is pending"
    return {"ok": all(answer["ok"] for answer in told.values()), "books": rows}, text
