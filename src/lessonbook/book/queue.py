"""The queue of a book: list what waits, show one, accept it, reject it, and restack the rest.

What is accepted is HEAD; nothing pending has any effect. ``accept`` and ``reject`` take the lock a batch holds and
refuse while one runs; ``pending`` and ``diff`` never wait and never refuse for it (contract §2.3). Listing is what
hosts do most, so what only accepting needs is imported there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lessonbook.book.candidates import Asked, Waiting, read_waiting
from lessonbook.book.content import AGENTS, refusal, shown
from lessonbook.book.inclusion import founded, includes
from lessonbook.book.picking import Pick, Target, needed
from lessonbook.book.repository import PIN_REFS, Book, exists, find, open_book, pending_refs
from lessonbook.book.sentences import BATCH, LEARNED_MAX, STALE
from lessonbook.core.errors import BusyError, InputError, LessonbookError, StoreError, reason
from lessonbook.core.pending import Candidate, is_candidate_id
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.screen import quoted
from lessonbook.system import git
from lessonbook.system.gitbatch import read_objects, read_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.book.signs import Acknowledged

NO_ID = "{id} is not the id of a candidate; the list shows the ids"
_WAIT = 0.2


def candidates(folder: Path) -> list[Candidate]:
    """Return what waits for review, oldest proposal first; ``[]`` where there is no repository.

    A dated file's candidate that holds the entries of older ones names them in ``includes``, and they are left out.
    Never waits. Raises ``StoreError`` where git refuses the repository, ``SetupError`` where there is no git.
    """
    return listed(folder)[0]


def listed(folder: Path) -> tuple[list[Candidate], bool]:
    """Return ``candidates``, and whether anything is pinned (``pins``): asked at once, as the list shows both."""
    if not exists(folder):
        return [], False
    with Asked(folder) as asked:
        book = open_book(folder, asked.book)
        if book is not None and not book.unfinished:
            refs, pinned = pending_refs(book, started=asked.refs)
            return rows(book, read_waiting(book, refs, asked)), bool(pinned)
    # What was asked is older than what is finished now.
    book = recovered(folder)
    if book is None:
        return [], False
    refs, pinned = pending_refs(book, PIN_REFS)
    return rows(book, read_waiting(book, refs)), bool(pinned)


def rows(book: Book, waiting: Sequence[Waiting], only: str | None = None) -> list[Candidate]:
    """Return the rows of these candidates, as ``candidates`` does; or ``only`` that of one id, hidden there or not."""
    within, hidden = includes(book, waiting)
    waiting = [w for w in founded(book, waiting) if (w.id == only if only else w.id not in hidden)]
    tree = read_tree(book.folder, book.head) if book.head and any(w.base != book.head for w in waiting) else {}
    wanted = [oid for w in waiting for oid in (needed(w.changes, tree) if w.base != book.head else ())]
    rules = [change for w in waiting for change in w.changes if change.path == AGENTS]
    wanted += [side.oid for change in rules for side in (change.old, change.new) if side and side.mode != "160000"]
    blobs = {oid: found.data for oid, found in read_objects(book.folder, wanted).items()}
    target = Target(tree, blobs)
    return [_row(book, w, target, within.get(w.id, ())) for w in waiting]


def pending(folder: Path) -> list[dict[str, Any]]:
    """Return ``candidates`` as rows: exactly ``{id, at, subject, files, stale, over, includes, commit}``."""
    return [
        {
            "id": c.id,
            "at": c.at,
            "subject": c.subject,
            "files": list(c.files),
            "stale": c.stale,
            "over": c.over,
            "includes": list(c.includes),
            "commit": c.commit,
        }
        for c in candidates(folder)
    ]


def diff(folder: Path, id: str) -> dict[str, Any]:
    """Return what accepting the candidate would change: ``{ok, id, diff, commit}``; never locks, never raises.

    ``commit`` is the candidate's own: what was shown, for whoever decides on it.
    """
    return told(folder, id, _diff)


def accept(
    folder: Path,
    id: str,
    now: int,
    by: Reviewer = TOOL,
    only: Sequence[str] = (),
    acknowledged: Acknowledged = False,
    commit: str | None = None,
) -> dict[str, Any]:
    """Move the candidate onto HEAD and the others onto the new HEAD: ``{ok, id, commit, moved, stale}``.

    ``now`` (epoch seconds) becomes the commit time, ``by`` the committer, named in a trailer ``Accepted-by``.
    ``commit`` is ``None`` where HEAD already held the change. With ``only`` some of its files, the others stay pending
    under the same id, and ``rest`` names them. ``commit`` is the candidate's commit that was shown, or its first 7
    digits or more: what proposes anything else now is refused (``exact``). A candidate with signs of poisoning is
    refused unless they are ``acknowledged``, all of them or by kind, and were shown in that commit. Never raises:
    ``{ok: False, id, error}`` where it cannot be done, with nothing changed.
    """
    from lessonbook.book import accepting
    from lessonbook.book.signs import Seen

    def act(book: Book, id: str) -> dict[str, Any]:
        seen = Seen({} if commit is None else {id: commit}, acknowledged)
        return accepting.accept(book, id, now, by, only, seen)

    return told(folder, id, act, lock=True)


def reject(folder: Path, id: str, now: int = 0, reason: str | None = None, commit: str | None = None) -> dict[str, Any]:
    """Drop the candidate and remember it, and why, under ``refs/lessonbook/rejected/``: ``{ok, id}``; never raises.

    See ``rejecting.reject``; ``now`` (epoch seconds) is 0 where nobody says when, ``commit`` as for ``accept``.
    """
    from lessonbook.book import recording

    return told(folder, id, lambda book, id: recording.reject(book, id, now, reason, commit), lock=True)


def restack(folder: Path, now: int) -> tuple[list[str], list[str]]:
    """Move each candidate of an older HEAD onto HEAD where it picks cleanly; return ``(moved, stale)`` ids.

    Raises ``BusyError`` while a batch runs, ``StoreError`` and ``SetupError`` as ``candidates`` does.
    """
    from lessonbook.book import accepting

    if not exists(folder):
        return [], []
    with book_locked(folder):
        book = opened(folder)
        return accepting.restack(book, now)


@contextmanager
def book_locked(folder: Path, wait: float = _WAIT) -> Iterator[None]:
    """Hold the lock that a batch holds, the originals' own; raises ``BusyError`` that says a batch is running."""
    from lessonbook.system import locks

    folder = folder.absolute()
    with ExitStack() as held:
        try:
            handle = held.enter_context(locks.locked(folder.parent / f".{folder.name}.lock", wait=wait))
        except BusyError as error:
            raise BusyError(BATCH.format(folder=folder)) from error
        held.enter_context(git.keeping(handle))
        yield


def told(folder: Path, id: str, act: Callable[[Book, str], dict[str, Any]], *, lock: bool = False) -> dict[str, Any]:
    """Return what ``act`` does on an open book and a good id; every trouble becomes ``{ok: False, id, error}``.

    With ``lock`` the book's lock is held and nothing is left unfinished.
    """
    try:
        if not is_candidate_id(id):
            raise InputError(NO_ID.format(id=quoted(id)))
        if not exists(folder):
            raise InputError(f"{folder} holds nothing that waits for review")
        book = opened(folder, recover=False)
        if not lock:
            return act(book, id)
        # Opened again behind the lock; the first time, so that nothing is made beside a folder we may not work in.
        with book_locked(folder):
            return act(opened(folder), id)
    except LessonbookError as error:
        return {"ok": False, "id": id, "error": str(error)}
    except OSError as error:
        return {"ok": False, "id": id, "error": f"{folder} cannot be worked on: {reason(error)}"}


def opened(folder: Path, *, recover: bool = True) -> Book:
    """Return the book, what a crash left finished. Raises ``StoreError`` where it is none. Hold its lock to recover."""
    book = open_book(folder)
    if book is None:
        raise StoreError(f"{folder} is not a book any more")
    if recover and book.unfinished:
        from lessonbook.book import working

        working.finish(book)
    return book


def recovered(folder: Path) -> Book | None:
    """Return the book, ``None`` where there is none; what a crash left is finished where nobody holds the lock."""
    book = open_book(folder)
    if book is not None and book.unfinished:
        from lessonbook.book import working

        try:
            with book_locked(folder, wait=0):
                working.finish(book, wait=0)
        except (
            LessonbookError,
            OSError,
        ):  # a reader never waits for this and never fails by it; the next accept finishes it
            pass
    return book


def _row(book: Book, w: Waiting, target: Target, within: Sequence[str]) -> Candidate:
    stale = w.problem or w.held or refusal(w.changes)
    pick = Pick(entries=w.changes)
    if stale is None and w.base != book.head and w.base != w.commit:
        found = target.pick(w.changes)
        pick, stale = found or pick, None if found else STALE
    return Candidate(
        id=w.id,
        at=w.proposal.at,
        subject=w.proposal.subject,
        files=tuple(shown(change.path) for change in w.changes),
        commit=w.commit,
        stale=stale,
        over=_over(pick, target) if stale is None else None,
        includes=tuple(within),
        trailers=w.proposal.trailers,
    )


def _over(pick: Pick, target: Target) -> int | None:
    """How many characters ``AGENTS.md`` would have, where accepting refuses because of that."""
    written = {write.path: write for write in pick.writes}
    for change in pick.entries:
        if change.path == AGENTS and change.new:
            merged = written[AGENTS].data if AGENTS in written else None
            length = _characters(target.blobs.get(change.new.oid, b"") if merged is None else merged)
            before = _characters(target.blobs.get(change.old.oid, b"")) if change.old else 0
            return length if length > max(LEARNED_MAX, before) else None
    return None


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "replace"))


def _diff(book: Book, id: str) -> dict[str, Any]:
    return patch(book, read_waiting(book, [find(pending_refs(book)[0], id)])[0])


def patch(book: Book, w: Waiting) -> dict[str, Any]:
    """Return ``diff`` of a candidate that was read."""
    options = ("-p", "-r", "--root", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-textconv", "--text")
    plain = ("--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none")
    pair = [w.base, w.commit] if w.base else [w.commit]
    out = git.run(book.folder, "diff-tree", *options, *plain, "-O/dev/null", *pair)
    return {"ok": True, "id": w.id, "diff": out.decode("utf-8", "replace"), "commit": w.commit}
