"""Finds the books a person reviews, and the one among them that holds a candidate."""

from __future__ import annotations

from pathlib import Path

from lessonbook.book import queue
from lessonbook.book.location import book_folder
from lessonbook.book.repository import exists, open_book, pending_refs
from lessonbook.book.sentences import LEARNED
from lessonbook.book.wording import done_text, look_lines
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.pending import is_candidate_id
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.value import Value
from lessonbook.system.settings import Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lessonbook.book.signs import Acknowledged

GLOBAL = "global"
DECISIONS = ("diff", "accept", "reject")


class NamedBook(Value):
    """A book and what a person calls it: ``global``, a project's name with its digest, or a path."""

    name: str
    folder: Path


def books(places: Places, which: str = "all", cwd: Path | None = None) -> list[NamedBook]:
    """Return the books ``which`` names: ``all`` there are, ``global``, the ``project`` of ``cwd``, a name, or a path.

    The global book comes first, whether or not it exists. Raises ``InputError`` for a name no book has and
    for a path where there is no folder.
    """
    if which == "project":
        from lessonbook.system.projects import identify

        project = identify(cwd or Path.cwd())
        return [NamedBook(project.slug, book_folder(places, project))]
    known = [NamedBook(GLOBAL, places.learned), *_projects(places)]
    if which == "all":
        return known
    named = [book for book in known if book.name == which]
    if not named and which and ("/" in which or which.startswith((".", "~")) or Path(which).is_dir()):
        return [NamedBook(which, _at(which))]
    if not named:
        names = ", ".join(book.name for book in known)
        raise InputError(f"No book is called {which!r}: say all, project, a path, or one of {names}.")
    return named


def _at(path: str) -> Path:
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; `lessonbook status` names the books.")
    return folder


def holding(candidates_of: list[NamedBook], id: str) -> NamedBook:
    """Return the book that holds candidate ``id``; the only book, where there is one, whatever it holds.

    Raises ``InputError`` where no book holds it, or two do; ``StoreError`` where none does and one cannot be opened.
    """
    if len(candidates_of) == 1:
        return candidates_of[0]
    if not is_candidate_id(id):
        raise InputError(f"{id!r} is not the id of a candidate; `lessonbook learned` shows the ids.")
    found, broken = [], list[StoreError]()
    for book in candidates_of:
        try:
            found += [book] if _holds(book.folder, id) else []
        except StoreError as error:  # one book that cannot be opened must not keep the others from review
            broken.append(error)
    if len(found) > 1:
        raise InputError(f"Books {' and '.join(book.name for book in found)} both hold {id}; say which with --book.")
    if not found and broken:
        raise broken[0]
    if not found:
        raise InputError(f"No book holds a candidate {id}; `lessonbook learned` shows what waits.")
    return found[0]


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
) -> tuple[dict[str, Any], str]:
    """Do ``diff``, ``accept`` or ``reject`` and return the contract's result with the text for a person.

    ``by`` accepts, and with ``only`` no more than those files, having seen the signs that are ``acknowledged``;
    ``reason`` is for ``reject``. ``diff`` also shows why, the ``evidence`` its commit carries as ``[key, value]``
    pairs, and what to look at: ``signs`` and ``twins``.
    """
    if what == "diff":
        return _explained(book, id)
    if what == "accept":
        told = queue.accept(book.folder, id, now, by, only, acknowledged)
    else:
        told = queue.reject(book.folder, id, now, reason)
    return told, done_text(what, told) if told["ok"] else told["error"].replace("`/learned ", "`lessonbook learned ")


def _explained(book: NamedBook, id: str) -> tuple[dict[str, Any], str]:
    from lessonbook.book.reviewing import look_dict, reviewed

    told = queue.diff(book.folder, id)
    if not told["ok"]:
        return told, told["error"]
    row = next(iter(reviewed(book.folder, only=id)), None)
    if row is None:
        return {**told, "evidence": [], "signs": [], "twins": []}, told["diff"] or "(no change)"
    lines = [row.subject, *(f"  {key}: {value}" for key, value in row.trailers), *look_lines(row), ""]
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


def _holds(folder: Path, id: str) -> bool:
    book = open_book(folder)
    return book is not None and any(ref.id == id for ref in pending_refs(book)[0])
