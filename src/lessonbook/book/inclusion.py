"""Which candidates another one already carries: older entries of one dated file, and what a compaction folded in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from lessonbook.book.candidates import COMPACTION, Waiting
from lessonbook.book.content import DATED
from lessonbook.book.repository import ALONG_REFS, Book, pending_refs
from lessonbook.core.pending import is_candidate_id
from lessonbook.system.gitbatch import RefMove, read_objects


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
