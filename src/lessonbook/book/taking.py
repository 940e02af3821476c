"""Takes candidates one upon the other, in memory: what is accepted, in which parts, and why the rest is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lessonbook.book import working
from lessonbook.book.candidates import Waiting
from lessonbook.book.content import AGENTS, refusal, shown
from lessonbook.book.inclusion import folded_in
from lessonbook.book.picking import Pick, Target
from lessonbook.book.repository import Book
from lessonbook.book.sentences import LEARNED_MAX, STALE, TOO_LONG, UNCOMMITTED
from lessonbook.book.signs import Acknowledged, check_acknowledged, signs_of
from lessonbook.core.errors import InputError
from lessonbook.core.reviewer import Reviewer
from lessonbook.core.screen import PATH_MOST, short
from lessonbook.system.gitbatch import Change, Entry

if TYPE_CHECKING:
    from lessonbook.core.suspicion import Sign

_NAMED = 20
"""How many files a sentence names."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One candidate that is accepted: what picking it comes to, and which of its changes stay behind."""

    candidate: Waiting
    pick: Pick
    rest: tuple[Change, ...] = ()
    signs: tuple[Sign, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """All that accepting is decided on, and what has been taken so far."""

    book: Book
    head: str
    waiting: Sequence[Waiting]
    within: Mapping[str, tuple[str, ...]]
    tree: Mapping[bytes, Entry]
    """HEAD's tree; ``target`` starts as it and advances with each candidate taken."""
    target: Target
    index: working.Index
    by: Reviewer
    acknowledged: Acknowledged = False
    shown: Mapping[str, Waiting] = field(default_factory=dict)
    """The candidates, by id, as the person saw them; what is not in it nobody says to have seen."""
    taken: list[Taken] = field(default_factory=list)

    @property
    def ids(self) -> set[str]:
        """The ids of all that is taken, whole or in part."""
        return {taken.candidate.id for taken in self.taken}

    @property
    def written(self) -> set[str]:
        """The ids that get a commit of their own; others leave with one that carries them."""
        return {taken.candidate.id for taken in self.taken if taken.pick.writes}

    @property
    def gone(self) -> set[str]:
        """The ids that are accepted whole, and those that they carry with them."""
        ids = [taken.candidate.id for taken in self.taken if not taken.rest]
        return {*ids, *(id for one in ids for id in self.within.get(one, ()))}


def chosen(w: Waiting, only: Sequence[str]) -> tuple[Waiting, tuple[Change, ...]]:
    """Return the candidate with only the changes of those files, and its other changes. Raises ``InputError``."""
    if w.problem or w.held:
        raise InputError(w.problem or f"{w.id} cannot be accepted: {w.held}")
    wanted = set(only)
    missing = sorted(wanted - {shown(change.path) for change in w.changes})
    if missing:
        raise InputError(f"{w.id} does not change {_few(missing)}; it changes {_names(w.changes)}")
    part = tuple(change for change in w.changes if not wanted or shown(change.path) in wanted)
    why = refusal(part)
    if why:
        raise InputError(why)
    return w.but(changes=part), tuple(change for change in w.changes if change not in part)


def take(case: Case, w: Waiting, rest: tuple[Change, ...]) -> dict[str, Any] | None:
    """Add the candidate to what is taken, or return why it cannot be. Raises ``InputError`` likewise."""
    if w.id in case.gone:  # one that carries it was taken before it
        case.taken.append(Taken(w, Pick()))
        return None
    for id in folded_in(w):
        if id in case.ids:
            raise InputError(f"it folds in {id}, which was accepted just before; reject it and compact again")
    target = case.target
    if rest and case.within.get(w.id):
        raise InputError(f"{w.id} stands for {', '.join(case.within[w.id])} too, so it can only be accepted whole")
    dirty = working.uncommitted(case.book, case.index, (change.path for change in w.changes), case.tree)
    if dirty:
        raise InputError(UNCOMMITTED.format(folder=case.book.folder, names=", ".join(dirty)))
    # A commit that HEAD reaches is held, whatever was made of its lines since.
    pick = Pick() if w.base == w.commit else target.pick(w.changes)
    if pick is None:
        raise InputError(STALE)
    signs = signs_of(w, target.blobs) if pick.writes else ()
    check_acknowledged(w, signs, case.acknowledged, _signs_shown(case, w, signs))
    before, length = length_of(target), length_of(target, pick)
    if length > max(LEARNED_MAX, before):
        return {"error": TOO_LONG.format(length=length, limit=LEARNED_MAX, id=w.id), "length": length}
    target.advance(pick)
    case.taken.append(Taken(w, pick, rest, signs))
    return None


def _signs_shown(case: Case, w: Waiting, signs: Sequence[Sign]) -> Sequence[Sign]:
    """The signs that the person saw in what they saw of it: where it was moved since, in the commit it was then."""
    then = case.shown.get(w.id)
    if then is None or not signs:
        return ()
    return signs if then.commit == w.commit else signs_of(then, case.target.blobs)


def whole(taken: Sequence[Taken]) -> list[Change]:
    """Return what all picks together do to each path."""
    found: dict[bytes, Change] = {}
    for entry in (entry for one in taken for entry in one.pick.entries):
        found[entry.path] = Change(entry.path, found.get(entry.path, entry).old, entry.new)
    return [change for change in found.values() if change.old != change.new]


def _names(changes: Sequence[Change]) -> str:
    return _few([shown(change.path) for change in changes]) or "no file"


def _few(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return ", ".join([*(short(name, PATH_MOST) for name in names[:_NAMED]), *more])


def length_of(target: Target, pick: Pick | None = None) -> int:
    """Return how many characters ``AGENTS.md`` has, or would have after ``pick``."""
    data = target.text(AGENTS)
    for write in pick.writes if pick else ():
        if write.path == AGENTS:
            data = write.data if write.data is not None else target.blobs.get(write.oid or "", b"")
    return len(data.decode("utf-8", "replace"))
