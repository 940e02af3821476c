"""Accepts one candidate and restacks the others: everything is worked out in memory, then moved in one transaction."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from lessonbook.book import working
from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.content import AGENTS, refusal, shown
from lessonbook.book.inclusion import includes
from lessonbook.book.picking import Pick, Target, needed
from lessonbook.book.repository import PENDING_REFS, Book, find, pending_refs
from lessonbook.book.sentences import CHANGED, LEARNED_MAX, SECRET, STALE, TOO_LONG, UNCOMMITTED
from lessonbook.book.swapping import swap
from lessonbook.core.errors import BusyError, InputError, StoreError
from lessonbook.system.gitbatch import (
    Change,
    NewCommit,
    RefMove,
    Write,
    existing,
    move_refs,
    read_index,
    read_objects,
    read_tree,
    write_commits,
)


@dataclass(frozen=True, slots=True)
class Moves:
    """What restacking comes to: the candidates to write anew with their picks, and those that no longer apply."""

    moved: tuple[tuple[Waiting, Pick], ...]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Case:
    """One candidate to accept, and all it is decided on."""

    book: Book
    head: str
    candidate: Waiting
    waiting: Sequence[Waiting]
    target: Target
    index: working.Index


def accept(book: Book, id: str, now: int) -> dict[str, Any]:
    """Accept the candidate; see ``queue.accept``. Call it with the book's lock held and nothing left unfinished."""
    refs, _ = pending_refs(book)
    find(refs, id)
    waiting = read_waiting(book, refs)
    w = next(w for w in waiting if w.id == id)
    head = head_of(book)
    check_nothing_in_progress(book)
    why = w.problem or (w.held and f"{id} cannot be accepted: {w.held}") or refusal(w.changes)
    if why:
        raise InputError(why)
    target = target_of(book, head, waiting, w.changes)
    with working.index_held(book):
        case = _Case(book, head, w, waiting, target, read_index(book.folder))
        return _decide(case, now)


def _decide(case: _Case, now: int) -> dict[str, Any]:
    w, target = case.candidate, case.target
    dirty = working.uncommitted(case.book, case.index, (change.path for change in w.changes), target.tree)
    if dirty:
        raise InputError(UNCOMMITTED.format(folder=case.book.folder, names=", ".join(dirty)))
    # A commit that HEAD reaches is held, whatever was made of its lines since.
    pick = Pick() if w.base == w.commit else target.pick(w.changes)
    if pick is None:
        raise InputError(STALE)
    unread = [shown(change.path) for change in w.changes if change.new and change.new.oid not in target.blobs]
    if unread:
        raise StoreError(f"{unread[0]} of {w.id} cannot be read: it is damaged or missing in {case.book.folder}")
    check_secrets(w, target)
    before = _length(target)
    target.advance(pick)
    length = _length(target)
    if length > max(LEARNED_MAX, before):
        error = TOO_LONG.format(length=length, limit=LEARNED_MAX, id=w.id)
        return {"ok": False, "id": w.id, "error": error, "length": length}
    return _commit(case, pick, now)


def restack(book: Book, now: int) -> tuple[list[str], list[str]]:
    """Move every candidate of an older HEAD onto HEAD; see ``queue.restack``."""
    if book.head is None:
        return [], []
    head = head_of(book)
    waiting = read_waiting(book, pending_refs(book)[0])
    moves = moves_onto(book, waiting, target_of(book, head, waiting, ()), on=head)
    made = write_commits(book.folder, [moved_commit(w, pick, head) for w, pick in moves.moved], now)
    steps = [RefMove(w.ref, w.commit, new) for (w, _), new in zip(moves.moved, made, strict=True)]
    if steps and not move_refs(book.folder, steps, "lessonbook: restack"):
        raise BusyError(CHANGED)
    return [w.id for w, _ in moves.moved], list(moves.stale)


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


def target_of(book: Book, head: str, waiting: Sequence[Waiting], accepted: Sequence[Change]) -> Target:
    """Return HEAD's tree with the blobs that accepting and restacking may have to look into."""
    tree = read_tree(book.folder, head)
    wanted = [entry.oid for change in accepted for entry in (change.old, change.new) if entry]
    if AGENTS in tree:
        wanted.append(tree[AGENTS].oid)
    touched = [change.path for change in accepted]
    for w in waiting:
        wanted += needed(w.changes, tree, touched)
    return Target(tree, {oid: found.data for oid, found in read_objects(book.folder, wanted).items()})


def moves_onto(book: Book, waiting: Sequence[Waiting], target: Target, on: str | None) -> Moves:
    """Return what becomes of each candidate on ``target``; ``on`` is the commit of that tree, where it exists yet."""
    moved, stale = [], []
    for w in waiting:
        if w.problem or refusal(w.changes):
            stale.append(w.id)
        elif not w.held and w.base != w.commit and not (w.direct and w.base == on):
            pick = target.pick(w.changes)
            if pick is None:
                stale.append(w.id)
            elif pick.writes:
                moved.append((w, pick))
    # Named by id they are written unread, and the first that is gone would stop all the others.
    there = existing(book.folder, (write.oid for _, pick in moved for write in pick.writes if write.oid))
    whole = [(w, pick) for w, pick in moved if all(_is_there(write, there) for write in pick.writes)]
    stale += [w.id for w, pick in moved if (w, pick) not in whole]
    return Moves(tuple(whole), tuple(sorted(stale)))


def _is_there(write: Write, there: Container[str]) -> bool:
    return write.data is not None or write.oid is None or write.oid in there


def moved_commit(w: Waiting, pick: Pick, parent: str | int) -> NewCommit:
    """Return the candidate's own commit, author, date and message, on another parent."""
    return NewCommit(parent, w.proposal.author, w.proposal.raw, pick.writes, w.proposal.encoding)


def _commit(case: _Case, pick: Pick, now: int) -> dict[str, Any]:
    book, head, w, waiting = case.book, case.head, case.candidate, case.waiting
    gone = {w.id, *includes(book, waiting)[0].get(w.id, ())}
    dropped = [other for other in waiting if other.id == w.id or (other.id in gone and not other.held)]
    others = [other for other in waiting if other not in dropped]
    moves = moves_onto(book, others, case.target, on=None if pick.writes else head)
    commits = [moved_commit(w, pick, head)] if pick.writes else []
    commits += [moved_commit(other, p, 0 if pick.writes else head) for other, p in moves.moved]
    made = write_commits(book.folder, commits, now)
    new = made.pop(0) if pick.writes else None
    steps = [RefMove(book.head_ref, head, new)] if new else []
    steps += [RefMove(other.ref, other.commit, None) for other in dropped]
    steps += [RefMove(other.ref, other.commit, to) for (other, _), to in zip(moves.moved, made, strict=True)]
    done = f"it is accepted as {(new or '')[:7]}"
    swap(book, case.index, pick.entries, case.target.blobs, steps, f"lessonbook: accept {w.id}", done)
    moved = [other.id for other, _ in moves.moved]
    return {"ok": True, "id": w.id, "commit": new[:7] if new else None, "moved": moved, "stale": list(moves.stale)}


def _length(target: Target) -> int:
    return len(target.text(AGENTS).decode("utf-8", "replace"))


def check_secrets(w: Waiting, target: Target) -> None:
    """Refuse a candidate that would bring a secret to HEAD: a hand-edited branch never went through the proposer."""
    from lessonbook.core.redact import redact

    for what, text in (
        ("its commit message", w.proposal.text),
        ("its author", w.proposal.author.decode("utf-8", "replace")),
    ):
        if redact(text).count:
            raise InputError(SECRET.format(name=what))
    for change in w.changes:
        old, new = (target.blobs.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
        known = set(old.splitlines())
        added = b"\n".join(line for line in new.splitlines() if line not in known).decode("utf-8", "replace")
        if redact(added).count or (change.new and redact(shown(change.path)).count):
            raise InputError(SECRET.format(name=redact(shown(change.path)).text))
