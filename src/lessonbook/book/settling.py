"""Moves the branches of a book all at once, whatever dies in between.

git moves several branches under locks, one after the other: where it is killed, some have moved, and its locks are left
and would stop every later move. So what shall move is written down before (``intent``), and whoever takes the book's
lock next finishes the move or takes it back (``settle``). HEAD decides which: it is what was accepted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from lessonbook.book import intent
from lessonbook.book.repository import ALONG_REFS, PENDING_REFS, PIN_REFS, REJECTED_REFS, Book
from lessonbook.book.sentences import CHANGED
from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system import files, git
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import HELD, Change, RefMove, existing, move_refs

WAIT = 2.0
"""Seconds after which an empty lock that git left is taken for a dead one's; git itself holds one far shorter."""

_BESIDE = (PENDING_REFS, REJECTED_REFS, ALONG_REFS, PIN_REFS)


def move(
    book: Book, steps: Sequence[RefMove], reason: str, changes: Sequence[Change] = (), *, start_log: bool = False
) -> None:
    """Move, make and remove branches, all or none; call it with the book's lock held.

    Where paths follow HEAD (``changes``) the intent stays until they have. Raises ``BusyError`` with nothing done where
    a branch has moved meanwhile or is locked; ``StoreError`` for other trouble, with all or nothing done.
    """
    if not steps:
        return
    intent.write(book, steps, changes)
    point("branches.intended")
    try:
        if not move_refs(book.folder, steps, reason, git_dir=book.git_dir, start_log=start_log):
            raise BusyError(CHANGED)
    except BusyError:
        files.remove(book.intent)
        raise
    except StoreError:
        if not settle(book, steps, WAIT):
            files.remove(book.intent)
            raise
    point("branches.moved")
    if not changes:
        files.remove(book.intent)


def settle(book: Book, moves: Sequence[RefMove], wait: float) -> bool:
    """Finish a move that was cut off, or take it back; return whether it is done now.

    It goes on where HEAD moved with it or, where HEAD was not to move, any branch did. What somebody has moved since
    stays. Raises ``BusyError`` where a lock is left that may still be somebody's after ``wait`` seconds.
    """
    _release(book, moves, wait)
    now = _refs(book)
    done = [m for m in moves if now.get(m.ref) == m.new]
    forward = _goes_on(book, moves, done, now)
    due = [m for m in moves if now.get(m.ref) == m.old] if forward else [RefMove(m.ref, m.new, m.old) for m in done]
    there = existing(book.folder, (m.new for m in due if m.new))
    due = [m for m in due if m.new is None or m.new in there]
    if due and not move_refs(book.folder, due, "lessonbook: finish what was cut off", git_dir=book.git_dir):
        raise BusyError(CHANGED)
    return forward


def _goes_on(book: Book, moves: Sequence[RefMove], done: Sequence[RefMove], now: dict[str, str]) -> bool:
    head = next((m for m in moves if not m.ref.startswith(_BESIDE)), None)
    if head is None:
        return bool(done)
    if head.new is None or head.ref not in now:
        return head in done
    return (
        head in done or git.attempt(book.folder, "merge-base", "--is-ancestor", head.new, now[head.ref]).returncode == 0
    )


def _refs(book: Book) -> dict[str, str]:
    """Every ref that a move can be about, with what it leads to."""
    out = git.run(book.folder, "for-each-ref", "--format=%(refname)%00%(objectname)", "refs/heads", "refs/lessonbook")
    rows = (line.partition("\0") for line in out.decode("utf-8", "surrogateescape").splitlines())
    return {ref: oid for ref, _, oid in rows} | ({"HEAD": book.head} if book.head else {})


def _release(book: Book, moves: Sequence[RefMove], wait: float) -> None:
    """Remove the locks that the git left which was to make these moves; it is dead, for the book's lock is ours.

    A lock that holds what one of the moves writes is its own. An empty one might be another git's, which then has it
    for a moment only.
    """
    try:
        since = book.intent.stat().st_mtime
    except FileNotFoundError:
        return
    deadline = time.monotonic() + wait
    for lock, *texts in _locks(book, moves):
        while _may_be_held(lock, texts, since):
            if time.monotonic() >= deadline:
                raise BusyError(HELD.format(lock=lock))
            time.sleep(0.05)


def _may_be_held(lock: Path, texts: Sequence[str | None], since: float) -> bool:
    """Remove a lock that a dead git left. Whether it may be one that is only too young to be sure."""
    held = b"" if lock.name in _PACKED and lock.exists() else files.read_bytes(lock)
    if held is None:
        return False
    try:
        made = lock.stat().st_mtime
    except FileNotFoundError:  # somebody's, and given back meanwhile
        return False
    if made < since or (held and held.decode("utf-8", "replace").rstrip("\n") not in texts):
        return False
    if not held and time.time() < made + WAIT:
        return True
    files.remove(lock)
    return False


_PACKED = ("packed-refs.new", "packed-refs.lock")
"""What git writes packed refs anew in, and its lock of that; neither says whose it is."""


def _locks(book: Book, moves: Sequence[RefMove]) -> Iterator[tuple[Path, str | None, str | None]]:
    """Every lock that git takes for these moves or to take them back, and what it writes into it."""
    common = book.git_dir
    if (common / "commondir").exists():
        common = common / (common / "commondir").read_text().strip()
    for m in moves:
        yield (book.git_dir if m.ref == "HEAD" else common) / f"{m.ref}.lock", m.old, m.new
        if not m.ref.startswith(_BESIDE):
            yield book.git_dir / "HEAD.lock", m.old, m.new
    if any(m.old is None or m.new is None for m in moves):
        yield from ((common / name, None, None) for name in _PACKED)
