"""Which candidates another one already carries: older entries of one dated file, and what a compaction folded in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lessonbook.book.candidates import COMPACTION, Waiting
from lessonbook.book.content import DATED
from lessonbook.book.repository import ALONG_REFS, Book, pending_refs
from lessonbook.core.pending import is_candidate_id
from lessonbook.system.gitbatch import Change, RefMove, read_objects


def includes(book: Book, waiting: Sequence[Waiting]) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """Return ``{id: ids it carries}``, and the ids whose rows are left out because a newer dated file holds them."""
    within, hidden = _dated(book, waiting)
    present = {w.id for w in waiting}
    for w in waiting:
        folded = tuple(id for id in folded_in(w) if id in present and id != w.id)
        if folded:
            within[w.id] = (*within.get(w.id, ()), *folded)
    return within, frozenset(hidden)


def folded_in(w: Waiting) -> tuple[str, ...]:
    """Return the ids a compaction says it folded in (trailer ``Includes``); any other candidate may not say so."""
    if not w.proposal.subject.startswith(COMPACTION):
        return ()
    return tuple(value for key, value in w.proposal.trailers if key == "Includes" and is_candidate_id(value))


def founded(book: Book, waiting: Sequence[Waiting]) -> list[Waiting]:
    """Return the candidates, each compaction with a ``problem`` whose folded-in candidate does not wait as it did then.

    ``waiting`` are all that wait. Had that one been accepted, its rule would stand twice, and were it rejected or
    edited, the compaction would bring what a person took out.
    """
    present = {w.id: w for w in waiting}
    folds = {w.id: folded_in(w) for w in waiting if not w.problem}
    inside = [present[id] for ids in folds.values() for id in ids if id in present]
    if not any(folds.values()):
        return list(waiting)
    oids = (side.oid for w in inside for change in w.changes for side in (change.old, change.new) if side)
    blobs = {oid: found.data for oid, found in read_objects(book.folder, oids).items()}
    prints = {w.id: print_of(w.changes, blobs) for w in inside}
    problems = {w.id: _unfounded(w, folds[w.id], prints) for w in waiting if folds.get(w.id)}
    return [w.but(problem=problems[w.id]) if problems.get(w.id) else w for w in waiting]


def _unfounded(w: Waiting, ids: Sequence[str], prints: Mapping[str, str]) -> str | None:
    from lessonbook.book.marks import FOLDED, value_of  # only a compaction's listing waits for what this loads

    then = value_of(w.proposal, FOLDED)
    for id in ids:
        if id not in prints:
            return f"it folds in {id}, which does not wait any more; reject it and compact again"
        if then and prints[id] != then:
            return f"it folds in {id} as that was before it was changed; reject it and compact again"
    return None


def print_of(changes: Iterable[Change], blobs: Mapping[str, bytes]) -> str:
    """Return what says the same of a candidate wherever it is moved: a digest of the lines it brings and takes."""
    import hashlib

    told = []
    for change in sorted(changes, key=lambda change: change.path):
        old, new = (_lines(blobs.get(side.oid, b"")) if side else [] for side in (change.old, change.new))
        told.append(repr((change.path, change.new is None, _but(new, old), _but(old, new))))
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _lines(data: bytes) -> list[bytes]:
    return [line.strip() for line in data.splitlines() if line.strip()]


def _but(lines: Sequence[bytes], others: Iterable[bytes]) -> list[bytes]:
    known = frozenset(others)
    return [line for line in lines if line not in known]


def _dated(book: Book, waiting: Sequence[Waiting]) -> tuple[dict[str, tuple[str, ...]], set[str]]:
    by_file: dict[bytes, list[tuple[str, str]]] = defaultdict(list)
    for w in waiting:
        change = w.changes[0] if len(w.changes) == 1 else None
        if change and change.new and not w.problem and DATED.match(change.path):
            by_file[change.path].append((w.id, change.new.oid))
    rows = {path: found for path, found in by_file.items() if len(found) > 1}
    texts = read_objects(book.folder, (oid for found in rows.values() for _, oid in found))
    within: dict[str, tuple[str, ...]] = {}
    for found in rows.values():
        entries = [(id, _entries(texts[oid].data)) for id, oid in found if oid in texts]
        for at, (id, holds) in enumerate(entries):
            older = tuple(old for old, theirs in entries[:at] if theirs <= holds)
            if older:
                within[id] = older
    return within, {id for older in within.values() for id in older}


def _entries(text: bytes) -> frozenset[bytes]:
    blocks = text.replace(b"\r\n", b"\n").split(b"\n\n")
    return frozenset(block.strip() for block in blocks if block.strip())


def kept_along(book: Book, dropped: Sequence[Waiting]) -> list[RefMove]:
    """Return what keeps the commits of candidates that leave the queue with another one, so that undo finds them."""
    if not dropped:
        return []
    kept = pending_refs(book, ALONG_REFS)[1]
    steps = [RefMove(ALONG_REFS + w.id, kept.get(ALONG_REFS + w.id), w.commit) for w in dropped]
    return [step for step in steps if step.old != step.new]
