"""The queue as a person who decides sees it: each row with its signs of poisoning and its near twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lessonbook.book import queue
from lessonbook.book.candidates import COMPACTION, Waiting, read_waiting
from lessonbook.book.decided import Decided, brought_text, decided, keys_of
from lessonbook.book.repository import REJECTED_REFS, Book, find, pending_refs
from lessonbook.book.signs import signs_of
from lessonbook.core.candidate import Candidate
from lessonbook.core.twins import print_of
from lessonbook.system.gitbatch import read_objects


def reviewed(folder: Path, only: str | None = None) -> list[Candidate]:
    """Return ``queue.candidates`` with ``signs`` and ``twins``; with ``only`` just the row of that id.

    The number of processes does not grow with the queue. Raises as ``queue.candidates`` does.
    """
    book = queue.recovered(folder)
    if book is None:
        return []
    refs, rejected = pending_refs(book, REJECTED_REFS)
    waiting = read_waiting(book, refs)
    rows = queue.rows(book, waiting, only)
    return _looked_at(book, waiting, rows, decided(book, waiting, rejected)) if rows else []


def explained(folder: Path, id: str) -> tuple[dict[str, Any], Candidate | None]:
    """Return ``queue.diff`` of the candidate, and its row with what to look at: both of one and the same commit.

    The row is ``None`` where the candidate cannot be shown. Never raises, never locks.
    """
    rows: list[Candidate] = []

    def look(book: Book, id: str) -> dict[str, Any]:
        refs, rejected = pending_refs(book, REJECTED_REFS)
        find(refs, id)
        waiting = read_waiting(book, refs)
        rows.extend(_looked_at(book, waiting, queue.rows(book, waiting, id), decided(book, waiting, rejected)))
        return queue.patch(book, next(w for w in waiting if w.id == id))

    told = queue.told(folder, id, look)
    return told, rows[0] if told["ok"] else None


def texts(folder: Path) -> dict[str, str]:
    """Return, by id, the lines that each candidate brings, to be searched. Raises as ``queue.candidates`` does."""
    book = queue.recovered(folder)
    if book is None:
        return {}
    waiting = read_waiting(book, pending_refs(book)[0])
    found = read_objects(book.folder, (e.oid for w in waiting for c in w.changes for e in (c.old, c.new) if e))
    blobs = {oid: item.data for oid, item in found.items()}
    return {w.id: brought_text(w.changes, blobs) for w in waiting}


def row_dict(row: Candidate) -> dict[str, Any]:
    """Return a row as ``{id, at, subject, files, stale, over, includes, commit, signs, twins}``."""
    return {
        "id": row.id,
        "at": row.at,
        "subject": row.subject,
        "files": list(row.files),
        "stale": row.stale,
        "over": row.over,
        "includes": list(row.includes),
        "commit": row.commit,
        **look_dict(row),
    }


def look_dict(row: Candidate) -> dict[str, Any]:
    """Return what to look at: ``signs`` ``{kind, path, line, excerpt, why}`` and ``twins`` ``{id, became, reason}``."""
    return {"signs": [asdict(sign) for sign in row.signs], "twins": [twin.as_dict() for twin in row.twins]}


def _looked_at(book: Book, waiting: Sequence[Waiting], rows: Sequence[Candidate], known: Decided) -> list[Candidate]:
    by_id = {w.id: w for w in waiting}
    changes = [change for row in rows for change in by_id[row.id].changes]
    found = read_objects(book.folder, (entry.oid for c in changes for entry in (c.old, c.new) if entry))
    blobs = {oid: item.data for oid, item in found.items()}
    looked = []
    for row in rows:
        w = by_id[row.id]
        text = print_of(brought_text(w.changes, blobs))
        compacts = w.proposal.subject.startswith(COMPACTION)  # every line of it is like what it shortens
        twins = () if compacts else known.twins(keys_of(w.proposal), text, but=w)
        looked.append(row.but(signs=signs_of(w, blobs), twins=twins))
    return looked
