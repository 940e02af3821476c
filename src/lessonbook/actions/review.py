"""Finds the books a person reviews, and the one among them that holds a candidate."""

from __future__ import annotations

import re
from pathlib import Path

from lessonbook.book import queue
from lessonbook.book.location import book_folder
from lessonbook.book.repository import Book, exists, open_book, pending_refs
from lessonbook.book.sentences import LEARNED
from lessonbook.book.wording import commit_line, done_text, look_lines
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.screen import PATH_MOST, quoted, short
from lessonbook.core.value import Value
from lessonbook.system.settings import Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from lessonbook.book.signs import Acknowledged

_SOME_ID = re.compile(r"[0-9][0-9a-f-]{0,21}\Z|[0-9a-f]{6}\Z", re.ASCII)
_TAIL = 6
"""How many hex digits an id ends with."""
_NAMED_MOST = 5
_DIGEST = re.compile(r"-[0-9a-f]{8}\Z")
GLOBAL = "global"
DECISIONS = ("diff", "accept", "reject")


class NamedBook(Value):
    """A book and what a person calls it: ``global``, a project's name with its digest, or a path."""

    name: str
    folder: Path


def books(places: Places, which: str = "all", cwd: Path | None = None) -> list[NamedBook]:
    """Return the books ``which`` names: ``all`` there are, ``global``, the ``project`` of ``cwd``, a name, or a path.

    A name may go without its digest where only one book is called so. The global book comes first, whether or not it
    exists. Raises ``InputError`` for a name no book has, or several, and for a path where there is no folder.
    """
    if which == "project":
        from lessonbook.system.projects import identify

        project = identify(cwd or Path.cwd())
        return [NamedBook(project.slug, book_folder(places, project))]
    known = [NamedBook(GLOBAL, places.learned), *_projects(places)]
    if which == "all":
        return known
    named = [book for book in known if book.name == which] or _called(known, which)
    if not named and which and ("/" in which or which.startswith((".", "~")) or _is_folder(which)):
        return [NamedBook(which, _at(which))]
    if not named:
        names = ", ".join(book.name for book in known)
        raise InputError(f"No book is called {quoted(which)}: say all, project, a path, or one of {names}.")
    return named


def _is_folder(path: str) -> bool:
    from lessonbook.system.files import is_folder

    return is_folder(Path(path))


def _at(path: str) -> Path:
    from lessonbook.system.files import expanded, is_folder

    folder = expanded(Path(path))
    if not is_folder(folder):
        raise InputError(f"There is no folder {short(folder, PATH_MOST)}; `lessonbook status` names the books.")
    return folder


def _called(known: list[NamedBook], which: str) -> list[NamedBook]:
    named = [book for book in known if _DIGEST.sub("", book.name) == which]
    if len(named) > 1:
        raise InputError(f"Several books are called {quoted(which)}: say {' or '.join(book.name for book in named)}.")
    return named


def holding(candidates_of: list[NamedBook], id: str) -> tuple[NamedBook, str]:
    """Return the book that holds candidate ``id``, and the whole id: its last six digits or its beginning are enough.

    Raises ``InputError`` where no book holds it, or two do, or several candidates are called so; ``StoreError`` where
    none does and one cannot be opened. Nothing but a whole id leaves here.
    """
    found = the_one(candidates_of, id, "hold", _waiting)
    if found is None:
        raise InputError(_absent(candidates_of, id))
    return found


def the_one(
    books: Sequence[NamedBook], id: str, what: str, ids_of: Callable[[Book], Iterable[str]]
) -> tuple[NamedBook, str] | None:
    """Return the one candidate among ``ids_of`` the books that ``id`` calls, with its book, or ``None``.

    ``what`` says what a book does that has it, for the sentence. Raises as ``holding`` does where it is not one.
    """
    if not _SOME_ID.match(id):
        raise InputError(f"{quoted(id)} is not the id of a candidate; `lessonbook learned` shows the ids.")
    found, broken = list[tuple[NamedBook, str]](), list[StoreError]()
    for book in books:
        try:
            opened = open_book(book.folder)
            found += [(book, one) for one in (ids_of(opened) if opened else ()) if _is_called(one, id)]
        except StoreError as error:  # one book that cannot be opened must not keep the others from review
            broken.append(error)
    ids = sorted({one for _, one in found})
    if len(ids) > 1:
        named = ", ".join(ids[:_NAMED_MOST]) + (f" and {len(ids) - _NAMED_MOST} more" if ids[_NAMED_MOST:] else "")
        raise InputError(f"{id} may be each of {named}; say more of it.")
    if len(found) > 1:
        named = " and ".join(book.name for book, _ in found)
        raise InputError(f"Books {named} both {what} {ids[0]}; say which with --book.")
    if not found and broken:
        raise broken[0]
    return found[0] if found else None


def _is_called(id: str, text: str) -> bool:
    return id.startswith(text) or (len(text) == _TAIL and id.endswith(text))


def _waiting(book: Book) -> list[str]:
    return [ref.id for ref in pending_refs(book)[0]]


def _absent(books: list[NamedBook], id: str) -> str:
    """Why no candidate of that id waits: it was accepted, where a book's HEAD says so."""
    from lessonbook.book.history import accepted, history

    for book in (open_book(named.folder) for named in books):
        steps = accepted(history(book)) if book is not None else {}
        done = {one: step for one, step in steps.items() if _is_called(one, id)}
        if len(done) == 1:
            ((whole, step),) = done.items()
            return f"{whole} does not wait any more: it was accepted as {step.commit[:7]}."
    why = f"No book holds a candidate {id}" if len(books) > 1 else f"Nothing is pending as {id} in {books[0].name}"
    return f"{why}; `lessonbook learned` shows what waits."


def decide(
    book: NamedBook,
    what: str,
    id: str,
    now: int,
    by: Reviewer = TOOL,
    only: Sequence[str] = (),
    *,
    acknowledged: Acknowledged = False,
    reason: str | None = None,
    commit: str | None = None,
) -> tuple[dict[str, Any], str]:
    """Do ``diff``, ``accept`` or ``reject`` and return the contract's result with the text for a person.

    ``by`` accepts, and with ``only`` no more than those files, having seen the signs that are ``acknowledged``;
    ``reason`` is for ``reject``; ``commit`` is what was shown before either. ``diff`` also shows why, the ``evidence``
    its commit carries as ``[key, value]`` pairs, and what to look at: ``signs`` and ``twins``.
    """
    if what == "diff":
        return _explained(book, id)
    if what == "accept":
        told = queue.accept(book.folder, id, now, by, only, acknowledged, commit)
    else:
        told = queue.reject(book.folder, id, now, reason, commit)
    return told, done_text(what, told) if told["ok"] else in_terminal(told["error"])


def in_terminal(text: str) -> str:
    """Return a sentence of the queue with its commands as they are typed in a shell."""
    return text.replace("`/learned ", "`lessonbook learned ")


def _explained(book: NamedBook, id: str) -> tuple[dict[str, Any], str]:
    from lessonbook.book.reviewing import explained, look_dict

    told, row = explained(book.folder, id)
    if row is None:
        return told, told["error"]
    evidence_lines = [f"  {key}: {value}" for key, value in row.trailers]
    lines = [row.subject, commit_line(row), *evidence_lines, *look_lines(row), ""]
    evidence = [list(pair) for pair in row.trailers]
    return {**told, "evidence": evidence, **look_dict(row)}, "\n".join([*lines, told["diff"] or "(no change)"])


def _projects(places: Places) -> list[NamedBook]:
    folders = sorted((places.config / "projects").glob(f"*/{LEARNED}"))
    return [NamedBook(folder.parent.name, folder) for folder in folders if _there(folder)]


def _there(folder: Path) -> bool:
    try:
        return exists(folder)
    except StoreError:  # whoever opens it says why it cannot be read
        return True
