"""Writes what is remembered of a rejected candidate (``remembered`` says how), and takes it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lessonbook.book import exact
from lessonbook.book.candidates import read_waiting
from lessonbook.book.decided import brought_text
from lessonbook.book.marks import FINGERPRINT, REASON, REJECTED
from lessonbook.book.remembered import candidate_commit, id_of_ref, number_of
from lessonbook.book.repository import PENDING_REFS, REJECTED_REFS, Book, PendingRef, find, pending_refs
from lessonbook.book.settling import move
from lessonbook.core.errors import InputError, StoreError
from lessonbook.system import git
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import Change, Found, NewCommit, RefMove, read_objects, write_commits

REASON_MAX = 500
"""How many characters of a reason are kept."""


def reject(book: Book, id: str, now: int, reason: str | None, commit: str | None = None) -> dict[str, Any]:
    """Drop the candidate and write what is remembered; see ``rejecting.reject``. Raises ``LessonbookError``."""
    refs, kept = pending_refs(book, REJECTED_REFS)
    ref = find(refs, id)
    if commit is not None:
        exact.check(book, read_waiting(book, [ref])[0], commit)
    if ref.held:
        raise InputError(f"{id} cannot be rejected: {ref.held}")
    said = cleaned(reason or "")
    record = _record(book, ref, said, now)
    point("reject.recorded")
    moves = [RefMove(PENDING_REFS + id, ref.commit, None)]
    moves += [RefMove(_free_name(id, kept), None, record)] if record else []
    move(book, moves, f"lessonbook: reject {id}")
    point("reject.moved")
    return {"ok": True, "id": id, **({"reason": said} if said else {})}


def _record(book: Book, ref: PendingRef, reason: str, now: int) -> str | None:
    """Write what is remembered, and return it: what the branch leads to itself where nothing can be built upon that.

    ``None`` where that is gone or damaged: nothing can be remembered then, and the branch can still go.
    """
    found = read_objects(book.folder, [ref.commit]).get(ref.commit)
    if found is None:
        return None
    try:
        return _written(book, ref, reason, now) if found.kind == "commit" else ref.commit
    except StoreError:  # its files are damaged, which must not keep it in the queue
        return ref.commit


def _written(book: Book, ref: PendingRef, reason: str, now: int) -> str:
    from lessonbook.core.twins import print_of

    changes = read_waiting(book, [ref])[0].changes
    text = brought_text(changes, {oid: found.data for oid, found in _blobs(book, changes).items()})
    rows = [(REJECTED, ref.id), *([(REASON, reason)] if reason else []), (FINGERPRINT, print_of(text).digest)]
    body = "".join(f"{key}: {value}\n" for key, value in rows)
    author = f"{git.NAME} <{git.EMAIL}> {now} +0000".encode()
    message = f"Rejected {ref.id}\n\n{body}".encode()
    return write_commits(book.folder, [NewCommit(ref.commit, author, message, ())], now)[0]


def _blobs(book: Book, changes: Iterable[Change]) -> Mapping[str, Found]:
    return read_objects(book.folder, (e.oid for change in changes for e in (change.old, change.new) if e))


def unreject(book: Book, id: str) -> dict[str, Any]:
    """Put the candidate back; see ``rejecting.unreject``. Raises ``LessonbookError``."""
    refs, kept = pending_refs(book, REJECTED_REFS)
    if any(ref.id == id for ref in refs):
        raise InputError(f"{id} waits for review already")
    names = [name for name in kept if id_of_ref(name) == id]
    if not names:
        raise InputError(f"nothing was rejected as {id}; `rejected` lists what was")
    name = max(names, key=number_of)
    commit = candidate_commit(kept[name], read_objects(book.folder, [kept[name]]).get(kept[name]))
    moves = [RefMove(PENDING_REFS + id, None, commit), RefMove(name, kept[name], None)]
    move(book, moves, f"lessonbook: unreject {id}")
    point("unreject.moved")
    return {"ok": True, "id": id}


def cleaned(reason: str) -> str:
    """Return a reason as it is kept: one safe line, without secrets, at most ``REASON_MAX`` characters."""
    from lessonbook.core.clean import bound, clean_line
    from lessonbook.core.redact import redact

    return bound(redact(clean_line(reason)).text, REASON_MAX)[0]


def _free_name(id: str, kept: Mapping[str, str]) -> str:
    """A name for one more rejection of this id: the earlier ones stay remembered."""
    name, number = REJECTED_REFS + id, 1
    while name in kept:
        number += 1
        name = f"{REJECTED_REFS}{id}.{number}"
    return name
