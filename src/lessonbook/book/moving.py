"""What restacking comes to, in memory: which candidates move onto a tree, and which no longer apply."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from lessonbook.book.candidates import Waiting
from lessonbook.book.content import AGENTS, refusal
from lessonbook.book.inclusion import founded
from lessonbook.book.picking import Pick, Target, needed
from lessonbook.book.repository import Book
from lessonbook.system.gitbatch import Change, NewCommit, Write, existing, read_objects, read_tree


@dataclass(frozen=True, slots=True)
class Moves:
    """What restacking comes to: the candidates to write anew with their picks, and those that no longer apply."""

    moved: tuple[tuple[Waiting, Pick], ...]
    stale: tuple[str, ...]


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


def moves(book: Book, waiting: Sequence[Waiting], target: Target, on: str | None) -> Moves:
    """Return what becomes of each candidate on ``target``; ``on`` is the commit whose tree that is, if it exists."""
    moved, stale = [], []
    for w in founded(book, waiting):
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
    whole: list[tuple[Waiting, Pick]] = []
    for w, pick in moved:
        if all(_is_there(write, there) for write in pick.writes):
            whole.append((w, pick))
        else:
            stale.append(w.id)
    return Moves(tuple(whole), tuple(sorted(stale)))


def _is_there(write: Write, there: Container[str]) -> bool:
    return write.data is not None or write.oid is None or write.oid in there


def moved_commit(w: Waiting, pick: Pick, parent: str | int) -> NewCommit:
    """Return the candidate's own commit, author, date and message, on another parent."""
    return NewCommit(parent, w.proposal.author, w.proposal.raw, pick.writes, w.proposal.encoding)
