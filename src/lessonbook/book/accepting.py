"""Accepts candidates and restacks the others: everything is worked out in memory, then moved in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lessonbook.book import exact, working
from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.content import shown
from lessonbook.book.inclusion import founded, includes, kept_along
from lessonbook.book.marks import ACCEPTED as ACCEPTED_ID
from lessonbook.book.marks import ACKNOWLEDGED, ALONG
from lessonbook.book.messages import ACCEPTED, with_trailers
from lessonbook.book.moving import moved_commit, moves
from lessonbook.book.moving import target_of as target_of
from lessonbook.book.picking import Target
from lessonbook.book.repository import PENDING_REFS, Book, PendingRef, find, pending_refs
from lessonbook.book.sentences import NOT_PENDING, SECRET
from lessonbook.book.settling import move
from lessonbook.book.signs import Seen, recorded
from lessonbook.book.swapping import swap
from lessonbook.book.taking import Case, Taken, chosen, take, whole
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import (
    Change,
    NewCommit,
    RefMove,
    write_commits,
)
from lessonbook.system.gitindex import read_index

_NOTHING = Seen()


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of each id asked for: its commit (or ``None``) in order, or why it was refused."""

    commits: Mapping[str, str | None]
    refused: Mapping[str, dict[str, Any]]
    moved: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    acknowledged: Mapping[str, list[str]] = field(default_factory=dict)
    """The signs that candidates were accepted with, by id."""


def accept(
    book: Book,
    id: str,
    now: int,
    by: Reviewer = TOOL,
    only: Sequence[str] = (),
    seen: Seen = _NOTHING,
) -> dict[str, Any]:
    """Accept the candidate, or ``only`` some of its files; see ``queue.accept``.

    Call it with the book's lock held and nothing left unfinished. Raises ``LessonbookError``.
    """
    refs, _ = pending_refs(book)
    find(refs, id)
    done = _accept(book, refs, {id: only}, now, by, seen)
    if id in done.refused:
        return {"ok": False, "id": id, **done.refused[id]}
    told = {"ok": True, "id": id, "commit": done.commits[id], "moved": list(done.moved), "stale": list(done.stale)}
    told |= {"rest": list(done.rest)} if only else {}
    return told | _seen(done, id)


def _seen(done: _Done, id: str) -> dict[str, Any]:
    return {"acknowledged": done.acknowledged[id]} if done.acknowledged.get(id) else {}


def accept_many(book: Book, ids: Sequence[str], now: int, by: Reviewer = TOOL, seen: Seen = _NOTHING) -> dict[str, Any]:
    """Accept the candidates one upon the other, in one move; see ``many.accept_many``. Raises as ``accept`` does."""
    refs, _ = pending_refs(book)
    here = {ref.id for ref in refs}
    done = _accept(book, refs, {id: () for id in ids if id in here}, now, by, seen)
    lost = {id: {"error": NOT_PENDING.format(id=id)} for id in ids if id not in here}
    refused = {**done.refused, **lost}
    return {
        "ok": not refused,
        "accepted": [{"id": id, "commit": commit} | _seen(done, id) for id, commit in done.commits.items()],
        "refused": [{"id": id, **refused[id]} for id in ids if id in refused],
        "moved": list(done.moved),
        "stale": list(done.stale),
    }


def _accept(
    book: Book,
    refs: Sequence[PendingRef],
    ids: Mapping[str, Sequence[str]],
    now: int,
    by: Reviewer,
    seen: Seen,
) -> _Done:
    waiting = founded(book, read_waiting(book, refs))
    head = head_of(book)
    check_nothing_in_progress(book)
    by_id = {w.id: w for w in waiting}
    shown, changed = exact.shown(book, by_id, {id: seen.commits[id] for id in ids if id in seen.commits})
    refused: dict[str, dict[str, Any]] = {id: {"error": error} for id, error in changed.items()}
    parts: list[tuple[Waiting, tuple[Change, ...]]] = []
    for id, only in ids.items():
        try:
            parts += [chosen(by_id[id], only)] if id not in changed else []
        except InputError as error:
            refused[id] = {"error": str(error)}
    if not parts:
        return _Done({}, refused)
    accepted = [*(w for w, _ in parts), *shown.values()]
    target = target_of(book, head, waiting, [change for w in accepted for change in w.changes])
    within = includes(book, waiting)[0]
    with working.index_held(book):
        index = read_index(book.folder)
        case = Case(book, head, waiting, within, dict(target.tree), target, index, by, seen.acknowledged, shown)
        for w, rest in parts:
            try:
                check_secrets(w, target)
                problem = take(case, w, rest)
            except (InputError, StoreError) as error:
                problem = {"error": str(error)}
            if problem:
                refused[w.id] = problem
        return _commit(case, refused, now) if case.taken else _Done({}, refused)


def restack(book: Book, now: int) -> tuple[list[str], list[str]]:
    """Move every candidate of an older HEAD onto HEAD; see ``queue.restack``."""
    if book.head is None:
        return [], []
    head = head_of(book)
    waiting = read_waiting(book, pending_refs(book)[0])
    found = moves(book, waiting, target_of(book, head, waiting, ()), on=head)
    made = write_commits(book.folder, [moved_commit(w, pick, head) for w, pick in found.moved], now)
    steps = [RefMove(w.ref, w.commit, new) for (w, _), new in zip(found.moved, made, strict=True)]
    point("restack.written")
    move(book, steps, "lessonbook: restack")
    point("restack.moved")
    return [w.id for w, _ in found.moved], list(found.stale)


def head_of(book: Book) -> str:
    """Return HEAD's commit. Raises ``InputError`` where there is none, or where HEAD is on a pending branch."""
    if book.head is None:
        raise InputError(f"{book.folder} has no commit yet, so there is nothing to accept onto; commit something first")
    if book.head_ref.startswith(PENDING_REFS):
        raise InputError(f"{book.folder} is on the pending branch {book.head_ref}; switch it back to its own branch")
    return book.head


def check_nothing_in_progress(book: Book) -> None:
    """Raise ``InputError`` while a person's merge, rebase, cherry-pick or revert is unfinished: HEAD is theirs then."""
    for name in ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"):
        if (book.git_dir / name).exists():
            raise InputError(
                f"a merge, rebase, cherry-pick or revert in {book.folder} is not finished; finish or abort it first"
            )


def _commit(case: Case, refused: Mapping[str, dict[str, Any]], now: int) -> _Done:
    """Write one commit per candidate taken, restack the others onto the last one, and move all in one transaction."""
    written = [taken for taken in case.taken if taken.pick.writes]
    gone, parts = case.gone, {taken.candidate.id: taken.rest for taken in case.taken if taken.rest}
    dropped = [w for w in case.waiting if w.id in gone and not w.held]
    others = [w.but(changes=parts.get(w.id, w.changes)) for w in case.waiting if w not in dropped]
    found = moves(case.book, others, case.target, on=None if written else case.head)
    commits = [_accepted(case, taken, at - 1 if at else case.head) for at, taken in enumerate(written)]
    top = len(written) - 1 if written else case.head
    made = write_commits(case.book.folder, commits + [moved_commit(w, pick, top) for w, pick in found.moved], now)
    ours = {taken.candidate.id: commit[:7] for taken, commit in zip(written, made, strict=False)}
    new = made[len(written) - 1] if written else None
    steps = [RefMove(case.book.head_ref, case.head, new)] if new else []
    steps += [RefMove(w.ref, w.commit, None) for w in dropped]
    steps += kept_along(case.book, [w for w in dropped if w.id not in case.written])
    steps += [RefMove(w.ref, w.commit, to) for (w, _), to in zip(found.moved, made[len(written) :], strict=True)]
    _swap(case, steps, new)
    return _Done(
        commits={taken.candidate.id: ours.get(taken.candidate.id) for taken in case.taken},
        refused=refused,
        moved=tuple(w.id for w, _ in found.moved),
        stale=found.stale,
        rest=tuple(shown(change.path) for taken in case.taken for change in taken.rest),
        acknowledged={taken.candidate.id: recorded(taken.signs) for taken in case.taken},
    )


def _accepted(case: Case, taken: Taken, parent: str | int) -> NewCommit:
    """The candidate's own commit, author, date and message on another parent, and what a person decided on it."""
    proposal, id = taken.candidate.proposal, taken.candidate.id
    along = [] if taken.rest else [other for other in case.within.get(id, ()) if other not in case.written]
    rows = [(ACCEPTED, case.by.signature), *((ACKNOWLEDGED, row) for row in recorded(taken.signs))]
    rows += [(ACCEPTED_ID, id), *((ALONG, other) for other in along)]
    message = with_trailers(proposal, rows)
    return NewCommit(parent, proposal.author, message, taken.pick.writes, proposal.encoding, case.by.ident)


def _swap(case: Case, steps: Sequence[RefMove], new: str | None) -> None:
    """Move the branches, and the working files and index after them."""
    first, more = case.taken[0].candidate.id, len(case.taken) - 1
    reason = f"lessonbook: accept {first}" + (f" and {more} more" if more else "")
    swap(
        case.book,
        case.index,
        whole(case.taken),
        case.target.blobs,
        steps,
        reason,
        f"it is accepted as {(new or '')[:7]}",
    )


def check_secrets(w: Waiting, target: Target) -> None:
    """Raise ``InputError`` where a candidate would bring a secret to HEAD: a hand-made one went through no proposer.

    Raises ``StoreError`` where a file of it cannot be read.
    """
    from lessonbook.core.redact import redact

    for what, text in (
        ("its commit message", w.proposal.text),
        ("its author", w.proposal.author.decode("utf-8", "replace")),
    ):
        if redact(text).count:
            raise InputError(SECRET.format(name=what))
    for change in w.changes:
        if change.new and change.new.oid not in target.blobs:
            raise StoreError(
                f"{shown(change.path)} of {w.id} cannot be read: it is damaged or missing in the repository"
            )
        old, new = (target.blobs.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
        known = set(old.splitlines())
        added = b"\n".join(line for line in new.splitlines() if line not in known).decode("utf-8", "replace")
        if redact(added).count or (change.new and redact(shown(change.path)).count):
            raise InputError(SECRET.format(name=redact(shown(change.path)).text))
