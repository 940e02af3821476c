"""Finds the books a person reviews, and the one among them that holds a candidate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessonbook.book import queue
from lessonbook.book.location import book_folder
from lessonbook.book.repository import exists, open_book, pending_refs
from lessonbook.book.sentences import LEARNED
from lessonbook.book.wording import done_text
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import InputError, StoreError
from lessonbook.system.settings import Places

GLOBAL = "global"
DECISIONS = ("diff", "accept", "reject")


@dataclass(frozen=True, slots=True)
class NamedBook:
    """A book and what a person calls it: ``global``, a project's name with its digest, or a path."""

    name: str
    folder: Path


def books(places: Places, which: str = "all", cwd: Path | None = None) -> list[NamedBook]:
    """Return the books ``which`` names: ``all`` there are, ``global``, the ``project`` of ``cwd``, a name, or a path.

    The global book comes first, whether or not it exists. Raises ``InputError`` for a name no book has.
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
        return [NamedBook(which, Path(which).expanduser().absolute())]
    if not named:
        names = ", ".join(book.name for book in known)
        raise InputError(f"No book is called {which!r}: say all, project, a path, or one of {names}.")
    return named


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


def decide(book: NamedBook, what: str, id: str, now: int) -> tuple[dict[str, Any], str]:
    """Do ``diff``, ``accept`` or ``reject`` and return the contract's result with the text for a person.

    ``diff`` also shows why: the ``evidence`` its commit carries, as ``[key, value]`` pairs.
    """
    if what == "diff":
        return _explained(book, id)
    told = queue.accept(book.folder, id, now) if what == "accept" else queue.reject(book.folder, id)
    return told, done_text(what, told) if told["ok"] else told["error"]


def _explained(book: NamedBook, id: str) -> tuple[dict[str, Any], str]:
    told = queue.diff(book.folder, id)
    if not told["ok"]:
        return told, told["error"]
    row = next((row for row in queue.candidates(book.folder) if row.id == id), None)
    lines = [row.subject, *(f"  {key}: {value}" for key, value in row.trailers), ""] if row else []
    evidence = [list(pair) for pair in row.trailers] if row else []
    return {**told, "evidence": evidence}, "\n".join([*lines, told["diff"] or "(no change)"])


def compacted(book: NamedBook, id: str | None) -> dict[str, Any]:
    """Propose a shorter ``AGENTS.md``: the contract's result."""
    from lessonbook.book.command import compact

    return compact(book.folder, id)


def _projects(places: Places) -> list[NamedBook]:
    folders = sorted((places.config / "projects").glob(f"*/{LEARNED}"))
    return [NamedBook(folder.parent.name, folder) for folder in folders if exists(folder)]


def _holds(folder: Path, id: str) -> bool:
    book = open_book(folder)
    return book is not None and any(ref.id == id for ref in pending_refs(book)[0])
