"""Lists what is in a book without having come through its queue."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lessonbook.book.candidates import COMPACTION, EXPIRY, LESSON
from lessonbook.book.content import shown
from lessonbook.book.history import Step, history
from lessonbook.book.marks import EXPIRED, UNDONE, id_of, value_of
from lessonbook.book.repository import open_book
from lessonbook.core.errors import LessonbookError
from lessonbook.system.gitbatch import Change, blob_id, compare


@dataclass(frozen=True, slots=True)
class Outside:
    """One change on HEAD that did not come through the queue. ``at`` is when it was committed (epoch seconds)."""

    commit: str
    author: str
    at: int
    subject: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found on HEAD: how many changes were accepted here, by the originals, and all others."""

    accepted: int = 0
    by_originals: int = 0
    outside: tuple[Outside, ...] = ()


def verify(folder: Path) -> Verified:
    """Return every change on HEAD that did not come through the queue, newest first, in four processes.

    What was taken back (``undoing``) or expired (``expiring``) here did not go round it, and is not counted. A merge
    that a person made is one change. The originals leave no mark but the subject of what they accept, so that is what
    theirs are known by. Whoever can write to the repository can write such a subject or mark: this finds what went
    round the queue, not who lied about it. Raises ``StoreError`` and ``SetupError`` as the list does.
    """
    book = open_book(folder)
    steps = history(book) if book else []
    if book is None or not steps:
        return Verified()
    ours, theirs, rest = 0, 0, list[Step]()
    for step in steps:
        if _came_through(step):
            ours += step.accepted is not None
        elif _by_the_originals(step):
            theirs += 1
        else:
            rest.append(step)
    changed = compare(book.folder, ((step.commit, step.parent) for step in rest))
    found = [(step, changed.get(step.commit, ())) for step in rest]
    outside = tuple(_outside(step, changes) for step, changes in found if not _is_start(step, changes))
    return Verified(ours, theirs, outside)


def verified(folder: Path) -> dict[str, Any]:
    """Return what ``verify`` finds: ``{ok, accepted, by_originals, changes}``, or ``{ok: False, error}``."""
    try:
        found = verify(folder)
    except LessonbookError as error:
        return {"ok": False, "error": str(error)}
    changes = [asdict(change) | {"files": list(change.files)} for change in found.outside]
    counts = {"accepted": found.accepted, "by_originals": found.by_originals}
    return {"ok": not changes, **counts, "changes": changes}


def _came_through(step: Step) -> bool:
    if len(step.parents) != 1:
        return False
    expiry = step.message.subject == EXPIRY and value_of(step.message, EXPIRED) is not None
    return step.accepted is not None or (step.ours and (expiry or id_of(step.message, UNDONE) is not None))


def _by_the_originals(step: Step) -> bool:
    return len(step.parents) == 1 and step.message.subject.startswith((LESSON, COMPACTION))


def _is_start(step: Step, changes: tuple[Change, ...]) -> bool:
    """Whether it is the first commit, and holds no text yet."""
    return not step.parents and all(
        change.new is not None and change.new.oid == blob_id(b"", change.new.oid) for change in changes
    )


def _outside(step: Step, changes: tuple[Change, ...]) -> Outside:
    author = step.message.author.rpartition(b">")[0].decode("utf-8", "replace") + ">"
    files = tuple(shown(change.path) for change in changes)
    return Outside(step.commit, author, step.at, step.message.subject, files)
