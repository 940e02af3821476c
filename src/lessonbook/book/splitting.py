"""Splits one candidate into several, by file or by paragraph: together they are what it was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lessonbook.book import single
from lessonbook.book.accepting import check_secrets
from lessonbook.book.candidates import COMPACTION
from lessonbook.book.content import AGENTS, DATED, refusal, shown
from lessonbook.book.messages import SPLIT, numbered, with_trailer
from lessonbook.book.queue import told
from lessonbook.book.repository import PENDING_REFS, REJECTED_REFS, Book, pending_refs
from lessonbook.book.sentences import STALE
from lessonbook.book.settling import move
from lessonbook.book.single import Single
from lessonbook.core.errors import InputError
from lessonbook.core.parts import parts
from lessonbook.core.pending import is_candidate_id
from lessonbook.core.reviewer import TOOL, Reviewer
from lessonbook.core.screen import quoted
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import NewCommit, RefMove, Write, write_commits

WAYS = ("file", "paragraph")

Part = tuple[Write, ...]


def split(folder: Path, id: str, way: str, now: int, by: Reviewer = TOOL, commit: str | None = None) -> dict[str, Any]:
    """Make several candidates of one: ``{ok, id, parts}`` with ``{id, files, commit}`` each; never raises.

    ``way`` is ``"file"``, or ``"paragraph"`` for what it does to ``AGENTS.md`` and dated files (its other files stay
    together). Each part has the author, date, message and evidence of the whole and a trailer ``Split-from``; its ids
    follow the old one, which is gone. Accepting all parts in order comes to what accepting the whole would have.
    ``commit`` is as for ``queue.accept``.
    """
    return told(folder, id, lambda book, id: _split(book, id, way, now, by, commit), lock=True)


def _split(book: Book, id: str, way: str, now: int, by: Reviewer, seen: str | None) -> dict[str, Any]:
    if way not in WAYS:
        raise InputError(f"a candidate is split by {' or '.join(WAYS)}, not {quoted(way)}")
    case = single.read(book, id, what="split", commit=seen)
    w = case.candidate
    pieces = _pieces(case, way)
    if len(pieces) < 2:
        raise InputError(f"{id} has nothing to split by {way}")
    ids = _ids_after(id, len(pieces), _taken(book))
    texts = [with_trailer(numbered(w.proposal, at + 1, len(ids)), SPLIT, id) for at in range(len(ids))]
    author, encoding = w.proposal.author, w.proposal.encoding
    commits = [
        NewCommit(case.head, author, text, piece, encoding, by.ident) for text, piece in zip(texts, pieces, strict=True)
    ]
    made = write_commits(book.folder, commits, now)
    point("split.written")
    moves = [RefMove(PENDING_REFS + new, None, commit) for new, commit in zip(ids, made, strict=True)]
    move(book, [*moves, RefMove(w.ref, w.commit, None)], f"lessonbook: split {id}")
    point("split.moved")
    parts = [
        {"id": new, "files": [shown(write.path) for write in piece], "commit": commit}
        for new, piece, commit in zip(ids, pieces, made, strict=True)
    ]
    return {"ok": True, "id": id, "parts": parts}


def _pieces(case: Single, way: str) -> list[Part]:
    w = case.candidate
    if w.proposal.subject.startswith(COMPACTION):
        raise InputError(f"{w.id} is a compaction, which is one change; edit it instead")
    why = refusal(w.changes)
    if why:
        raise InputError(why)
    pick = case.pick()
    if pick is None:
        raise InputError(STALE)
    check_secrets(w, case.target)
    return _by_file(pick.writes) if way == "file" else _by_paragraph(case, pick.writes)


def _by_file(writes: Sequence[Write]) -> list[Part]:
    """One part per file; a file that takes the place of a folder, or the other way round, stays with what is in it."""
    found: dict[bytes, list[Write]] = {}
    for write in sorted(writes, key=lambda write: write.path):
        root = next((path for path in found if write.path.startswith(path + b"/")), write.path)
        found.setdefault(root, []).append(write)
    return [tuple(group) for group in found.values()]


def _by_paragraph(case: Single, writes: Sequence[Write]) -> list[Part]:
    """One part per paragraph of ``AGENTS.md`` and dated files; all other files in one more part."""
    pieces: list[Part] = []
    rest: list[Write] = []
    for write in writes:
        data = write.data if write.data is not None else case.target.blobs.get(write.oid or "")
        if data is None or not (write.path == AGENTS or DATED.match(write.path)):
            rest.append(write)
        else:
            pieces += [(Write(write.path, text),) for text in parts(case.text(write.path), data)]
    return [*pieces, *([tuple(rest)] if rest else [])]


def _taken(book: Book) -> set[str]:
    refs, rejected = pending_refs(book, REJECTED_REFS)
    return {ref.id for ref in refs} | {ref.removeprefix(REJECTED_REFS)[:22] for ref in rejected}


def _ids_after(id: str, count: int, taken: Collection[str]) -> list[str]:
    """New ids that sort right after ``id``: before the next one of its second where there is room, else in later free
    places. Raises ``InputError`` where the id's time is none and its second is full.
    """
    stamp, number = id[:16], int(id[16:], 16)
    later = sorted(int(other[16:], 16) for other in taken if other.startswith(stamp) and other > id)
    room = (later[0] if later else 1 << 24) - number - 1
    if room >= count:
        return [f"{stamp}{number + step:06x}" for step in range(1, count + 1)]
    free = [at for at in range(number + 1, min(1 << 24, number + 1 + count + len(later))) if at not in later][:count]
    found = [f"{stamp}{at:06x}" for at in free]
    if len(found) == count:
        return found
    try:
        moment = datetime.strptime(id[:15], "%Y%m%d-%H%M%S") + timedelta(seconds=1)
    except (ValueError, OverflowError):
        raise InputError(f"there is no room for more ids after {id}; edit the candidate instead") from None
    following = f"{moment:%Y%m%d-%H%M%S}-000000"
    first = [] if following in taken or not is_candidate_id(following) else [following]
    found += first
    return found + _ids_after(following, count - len(found), taken) if len(found) < count else found
