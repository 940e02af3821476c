"""Takes an accepted candidate back: one commit that reverts it on HEAD, and the candidate waits in the queue again.

What was accepted or written since stays: the revert is merged three ways, and refused where it conflicts. The candidate
comes back under its own id, with its own author and message, so that it can be rejected, edited or accepted again;
that is also how an undo is undone. Candidates that left the queue with it come back too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessonbook.book import accepting, working
from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.content import refusal
from lessonbook.book.history import Step, accepted, history, undone
from lessonbook.book.marks import ALONG, UNDO, UNDONE, UNDONE_COMMIT, ids_of, unmarked
from lessonbook.book.moving import moved_commit, moves
from lessonbook.book.picking import Pick, Target
from lessonbook.book.queue import told
from lessonbook.book.repository import ALONG_REFS, PENDING_REFS, Book, PendingRef, pending_refs
from lessonbook.book.sentences import LEARNED_MAX, UNCOMMITTED
from lessonbook.book.swapping import swap
from lessonbook.book.taking import length_of
from lessonbook.core.errors import InputError
from lessonbook.system import git
from lessonbook.system.gitbatch import Change, NewCommit, RefMove, Write, compare, write_commits
from lessonbook.system.gitindex import read_index

CONFLICT = "it cannot be taken back by itself: what it wrote has been changed since; edit the book and commit that"
_LONG = (
    "taking it back would make AGENTS.md {length:,} characters long, past the {limit:,} it may have; shorten it first"
)


@dataclass(frozen=True, slots=True)
class _Case:
    """One acceptance to take back, and all it is decided on."""

    book: Book
    head: str
    id: str
    step: Step
    changes: tuple[Change, ...]
    """What it changed, backwards."""
    waiting: Sequence[Waiting]
    along: tuple[PendingRef, ...]
    target: Target
    index: working.Index


def undo(folder: Path, id: str, now: int) -> dict[str, Any]:
    """Take the accepted candidate back: ``{ok, id, commit, pending, moved, stale}``.

    ``commit`` is the new HEAD (7 hex digits), ``pending`` the ids that wait again, ``id`` first; the other candidates
    are moved onto the new HEAD. Never raises: ``{ok: False, id, error}``, with nothing changed.
    """
    return told(folder, id, lambda book, id: _undo(book, id, now), lock=True)


def _undo(book: Book, id: str, now: int) -> dict[str, Any]:
    head = accepting.head_of(book)
    accepting.check_nothing_in_progress(book)
    refs, kept = pending_refs(book, ALONG_REFS)
    steps = history(book)
    if any(ref.id == id for ref in refs):
        part = "the rest of it" if id in accepted(steps) else "it"
        raise InputError(f"{id} cannot be taken back while {part} waits for review; accept or reject that first")
    step = _step(steps, id)
    backwards = tuple(Change(c.path, c.new, c.old) for c in _changes(book, step))
    why = refusal(backwards)
    if why:
        raise InputError(why)
    waiting = read_waiting(book, refs)
    along = _along(step, kept, {ref.id for ref in refs})
    others = [*waiting, *read_waiting(book, along)]
    target = accepting.target_of(book, head, others, backwards)
    with working.index_held(book):
        case = _Case(book, head, id, step, backwards, others, along, target, read_index(book.folder))
        return _decide(case, now)


def _step(steps: Sequence[Step], id: str) -> Step:
    """The commit on HEAD that accepted the candidate. Raises ``InputError`` where none did, saying what is known."""
    found = accepted(steps).get(id)
    if found:
        return found
    back = undone(steps, id)
    if back:
        raise InputError(f"{id} was taken back already, by {back.commit[:7]}; it is not part of the book")
    raise InputError(f"no commit of the book says that it accepted {id}; `verify` lists what came another way")


def _changes(book: Book, step: Step) -> tuple[Change, ...]:
    return compare(book.folder, [(step.commit, step.parent)]).get(step.commit, ())


def _along(step: Step, kept: dict[str, str], present: set[str]) -> tuple[PendingRef, ...]:
    """The candidates that left the queue with it and are still known here."""
    ids = [id for id in ids_of(step.message, ALONG) if id not in present and ALONG_REFS + id in kept]
    return tuple(PendingRef(id, kept[ALONG_REFS + id], None) for id in dict.fromkeys(ids))


def _decide(case: _Case, now: int) -> dict[str, Any]:
    target = case.target
    dirty = working.uncommitted(case.book, case.index, (change.path for change in case.changes), target.tree)
    if dirty:
        raise InputError(UNCOMMITTED.format(folder=case.book.folder, names=", ".join(dirty)))
    pick = target.pick(case.changes)
    if pick is None:
        raise InputError(CONFLICT)
    if not pick.writes:
        raise InputError(f"nothing of {case.id} is left in the book, so there is nothing to take back")
    before = length_of(target)
    # The candidate is what leads from the revert back to the paths as HEAD has them now.
    again = Pick(tuple(Write(entry.path, None, entry.old.oid if entry.old else None) for entry in pick.entries))
    target.advance(pick)
    length = length_of(target)
    if length > max(LEARNED_MAX, before):
        error = _LONG.format(length=length, limit=LEARNED_MAX)
        return {"ok": False, "id": case.id, "error": error, "length": length}
    return _commit(case, pick, again, now)


def _commit(case: _Case, pick: Pick, again: Pick, now: int) -> dict[str, Any]:
    """Write the revert, the candidate on top of it and the others moved onto it; move everything at once."""
    found = moves(case.book, case.waiting, case.target, on=None)
    moved = [(w, move) for w, move in found.moved if not w.held]
    commits = [_revert(case, pick, now), _candidate(case.step, again)]
    commits += [moved_commit(w, move, 0) for w, move in moved]
    made = write_commits(case.book.folder, commits, now)
    tips = dict(zip((w.id for w, _ in moved), made[2:], strict=True))
    back = {ref.id for ref in case.along}
    steps = [RefMove(case.book.head_ref, case.head, made[0]), RefMove(PENDING_REFS + case.id, None, made[1])]
    steps += [RefMove(w.ref, w.commit, tips[w.id]) for w, _ in moved if w.id not in back]
    steps += [RefMove(ref.ref, None, tips.get(ref.id, ref.commit)) for ref in case.along]
    steps += [RefMove(ALONG_REFS + ref.id, ref.commit, None) for ref in case.along]
    done = f"it is taken back as {made[0][:7]}"
    swap(case.book, case.index, pick.entries, case.target.blobs, steps, f"lessonbook: undo {case.id}", done)
    return {
        "ok": True,
        "id": case.id,
        "commit": made[0][:7],
        "pending": [case.id, *(ref.id for ref in case.along)],
        "moved": [id for id in tips if id not in back],
        "stale": list(found.stale),
    }


def _revert(case: _Case, pick: Pick, now: int) -> NewCommit:
    author = f"{git.NAME} <{git.EMAIL}> {now} +0000".encode()
    subject = case.step.message.subject
    text = f"{UNDO}{subject}\n\n{UNDONE}: {case.id}\n{UNDONE_COMMIT}: {case.step.commit}\n"
    return NewCommit(case.head, author, text.encode("utf-8", "surrogateescape"), pick.writes)


def _candidate(step: Step, again: Pick) -> NewCommit:
    return NewCommit(0, step.message.author, unmarked(step.message.raw), again.writes, step.message.encoding)
