"""The queue of a book: list what waits, show one, accept it, reject it, and restack the rest.

What is accepted is HEAD; nothing pending has any effect. ``accept`` and ``reject`` take the lock a batch holds and
refuse while one runs; ``pending`` and ``diff`` never wait and never refuse for it (contract §2.3). Listing is what
hosts do most, so what only accepting needs is imported there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.content import refusal, shown
from lessonbook.book.inclusion import includes
from lessonbook.book.picking import Target, needed
from lessonbook.book.repository import PENDING_REFS, REJECTED_REFS, Book, exists, find, open_book, pending_refs
from lessonbook.book.sentences import BATCH, CHANGED, STALE
from lessonbook.core.candidate import Candidate, is_candidate_id
from lessonbook.core.errors import BusyError, InputError, LessonbookError, StoreError, reason
from lessonbook.system import git
from lessonbook.system.gitbatch import RefMove, move_refs, read_objects, read_tree

_WAIT = 0.2


def candidates(folder: Path) -> list[Candidate]:
    """Return what waits for review, oldest proposal first; ``[]`` where there is no repository.

    A dated file's candidate that holds the entries of older ones names them in ``includes``, and they are left out.
    Never waits. Raises ``StoreError`` where git refuses the repository, ``SetupError`` where there is no git.
    """
    book = _recovered(folder)
    if book is None:
        return []
    waiting = read_waiting(book, pending_refs(book)[0])
    tree = read_tree(book.folder, book.head) if book.head and any(w.base != book.head for w in waiting) else {}
    wanted = [oid for w in waiting for oid in (needed(w.changes, tree) if w.base != book.head else ())]
    within, hidden = includes(book, waiting)
    blobs = {oid: found.data for oid, found in read_objects(book.folder, wanted).items()}
    target = Target(tree, blobs)
    return [_row(book, w, target, within.get(w.id, ())) for w in waiting if w.id not in hidden]


def pending(folder: Path) -> list[dict[str, Any]]:
    """Return ``candidates`` as rows: exactly ``{id, at, subject, files, stale, includes}``."""
    return [
        {
            "id": c.id,
            "at": c.at,
            "subject": c.subject,
            "files": list(c.files),
            "stale": c.stale,
            "includes": list(c.includes),
        }
        for c in candidates(folder)
    ]


def diff(folder: Path, id: str) -> dict[str, Any]:
    """Return what accepting the candidate would change, as ``{ok, id, diff}``; never locks, never raises."""
    return _told(folder, id, _diff)


def accept(folder: Path, id: str, now: int) -> dict[str, Any]:
    """Move the candidate onto HEAD and the others onto the new HEAD: ``{ok, id, commit, moved, stale}``.

    ``now`` (epoch seconds) becomes the commit time. ``commit`` is ``None`` where HEAD already held the change. Never
    raises: ``{ok: False, id, error}`` where it cannot be done, with nothing changed.
    """
    from lessonbook.book import accepting

    return _told(folder, id, lambda book, id: accepting.accept(book, id, now), lock=True)


def reject(folder: Path, id: str) -> dict[str, Any]:
    """Drop the candidate and remember it under ``refs/lessonbook/rejected/``: ``{ok, id}``; never raises."""
    return _told(folder, id, _reject, lock=True)


def restack(folder: Path, now: int) -> tuple[list[str], list[str]]:
    """Move each candidate of an older HEAD onto HEAD where it picks cleanly; return ``(moved, stale)`` ids.

    Raises ``BusyError`` while a batch runs, ``StoreError`` and ``SetupError`` as ``candidates`` does.
    """
    from lessonbook.book import accepting

    if not exists(folder):
        return [], []
    with book_locked(folder):
        book = _opened(folder)
        return accepting.restack(book, now)


@contextmanager
def book_locked(folder: Path, wait: float = _WAIT) -> Iterator[None]:
    """Hold the lock that a batch holds, the originals' own; raises ``BusyError`` that says a batch is running."""
    from lessonbook.system import locks

    folder = folder.absolute()
    with ExitStack() as held:
        try:
            held.enter_context(locks.locked(folder.parent / f".{folder.name}.lock", wait=wait))
        except BusyError as error:
            raise BusyError(BATCH.format(folder=folder)) from error
        yield


def _told(folder: Path, id: str, act: Callable[[Book, str], dict[str, Any]], *, lock: bool = False) -> dict[str, Any]:
    """Do ``act`` on an open book and a good id; every trouble becomes ``{ok: False, id, error}``."""
    try:
        if not is_candidate_id(id):
            raise InputError(f"{id!r} is not the id of a candidate; the list shows the ids")
        if not exists(folder):
            raise InputError(f"{folder} holds nothing that waits for review")
        book = _opened(folder, recover=False)
        if not lock:
            return act(book, id)
        # Opened again behind the lock; the first time, so that nothing is made beside a folder we may not work in.
        with book_locked(folder):
            return act(_opened(folder), id)
    except LessonbookError as error:
        return {"ok": False, "id": id, "error": str(error)}
    except OSError as error:
        return {"ok": False, "id": id, "error": f"{folder} cannot be worked on: {reason(error)}"}


def _opened(folder: Path, *, recover: bool = True) -> Book:
    book = open_book(folder)
    if book is None:
        raise StoreError(f"{folder} is not a book any more")
    if recover and book.unfinished:
        from lessonbook.book import working

        working.finish(book)
    return book


def _recovered(folder: Path) -> Book | None:
    """The book, after finishing what a crash left, where nobody else holds the lock."""
    book = open_book(folder)
    if book is not None and book.unfinished:
        from lessonbook.book import working

        try:
            with book_locked(folder, wait=0):
                working.finish(book)
        except (
            LessonbookError,
            OSError,
        ):  # a reader never waits for this and never fails by it; the next accept finishes it
            pass
    return book


def _row(book: Book, w: Waiting, target: Target, within: Sequence[str]) -> Candidate:
    stale = w.problem or w.held or refusal(w.changes)
    if stale is None and w.base != book.head and w.base != w.commit and target.pick(w.changes) is None:
        stale = STALE
    return Candidate(
        id=w.id,
        at=w.proposal.at,
        subject=w.proposal.subject,
        files=tuple(shown(change.path) for change in w.changes),
        commit=w.commit,
        stale=stale,
        includes=tuple(within),
        trailers=w.proposal.trailers,
    )


def _diff(book: Book, id: str) -> dict[str, Any]:
    ref = find(pending_refs(book)[0], id)
    w = read_waiting(book, [ref])[0]
    options = ("-p", "-r", "--root", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-textconv", "--text")
    plain = ("--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none")
    pair = [w.base, w.commit] if w.base else [w.commit]
    out = git.run(book.folder, "diff-tree", *options, *plain, "-O/dev/null", *pair)
    return {"ok": True, "id": id, "diff": out.decode("utf-8", "replace")}


def _reject(book: Book, id: str) -> dict[str, Any]:
    refs, rejected = pending_refs(book, REJECTED_REFS)
    ref = find(refs, id)
    if ref.held:
        raise InputError(f"{id} cannot be rejected: {ref.held}")
    kept, number = REJECTED_REFS + id, 1
    while kept in rejected and rejected[kept] != ref.commit:
        number += 1
        kept = f"{REJECTED_REFS}{id}.{number}"
    moves = [RefMove(PENDING_REFS + id, ref.commit, None)]
    # A commit that is gone or damaged cannot be kept; its branch can still go.
    if kept not in rejected and ref.commit in read_objects(book.folder, [ref.commit]):
        moves.append(RefMove(kept, None, ref.commit))
    if not move_refs(book.folder, moves, f"lessonbook: reject {id}"):
        raise BusyError(CHANGED)
    return {"ok": True, "id": id}
