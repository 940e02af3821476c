"""What was rejected and why, as refs under ``refs/lessonbook/rejected/`` remember it.

Such a ref holds a commit whose parent is the candidate's commit and whose message carries the reason and the text's
fingerprint; or the candidate's commit itself, as version 0.1 wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lessonbook.book.candidates import Message, message_of
from lessonbook.book.content import shown
from lessonbook.book.marks import REASON, REJECTED, value_of
from lessonbook.book.repository import REJECTED_REFS, open_book, pending_refs
from lessonbook.core.candidate import is_candidate_id
from lessonbook.system.gitbatch import Found, compare, read_objects

_COMMITTED = re.compile(rb"^committer [^\n]*> (\d{1,12}) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rejected:
    """One rejected candidate; ``rejected_at`` is 0 and ``reason`` empty where nobody said."""

    id: str
    at: int
    rejected_at: int
    subject: str
    files: tuple[str, ...]
    reason: str


def rejected(folder: Path) -> list[Rejected]:
    """Return what was rejected, oldest proposal first; ``[]`` where there is no repository.

    Four processes whatever the number. Raises ``StoreError`` and ``SetupError`` as the list does.
    """
    book = open_book(folder)
    refs = pending_refs(book, REJECTED_REFS)[1] if book else {}
    if book is None or not refs:
        return []
    newest = newest_of(refs)
    found = read_objects(book.folder, newest.values())
    commits = {id: candidate_commit(ref, found.get(ref)) for id, ref in newest.items()}
    texts = read_objects(book.folder, commits.values())
    changed = compare(book.folder, ((commit, None) for commit in dict.fromkeys(commits.values()) if commit in texts))
    rows = []
    for id, commit in sorted(commits.items()):
        message = message_of(texts[commit].data) if commit in texts else Message(b"", None, b"(its commit is missing)")
        files = tuple(shown(change.path) for change in changed.get(commit, ()))
        own = found.get(newest[id])
        rows.append(Rejected(id, message.at, _when(own), message.subject, files, reason_of(own)))
    return rows


def candidate_commit(ref: str, found: Found | None) -> str:
    """Return the candidate's commit that a ref under ``rejected/`` remembers: its parent, or itself."""
    if found is None or not is_record(found):
        return ref
    line = found.data.partition(b"\n\n")[0].partition(b"\nparent ")[2]
    return line.partition(b"\n")[0].decode() or ref


def is_record(found: Found) -> bool:
    """Whether a commit is what rejecting wrote, and not a candidate itself."""
    message = message_of(found.data)
    return message.subject.startswith("Rejected ") and any(key == REJECTED for key, _ in message.trailers)


def reason_of(found: Found | None) -> str:
    """Return why a candidate was rejected, from the commit that remembers it."""
    return (value_of(message_of(found.data), REASON) or "") if found and is_record(found) else ""


def newest_of(refs: Mapping[str, str]) -> dict[str, str]:
    """Return, by id, the commit of the last rejection of each candidate."""
    return {id_of_ref(name): refs[name] for name in sorted(refs, key=number_of) if is_candidate_id(id_of_ref(name))}


def id_of_ref(name: str) -> str:
    """Return the id that a ref under ``rejected/`` is about."""
    return name.removeprefix(REJECTED_REFS)[:22]


def number_of(name: str) -> int:
    """Return which rejection of its id a ref remembers, from 1."""
    tail = name.removeprefix(REJECTED_REFS)[22:].lstrip(".")
    return int(tail) if tail.isdecimal() and len(tail) < 9 else 1


def _when(found: Found | None) -> int:
    when = _COMMITTED.search(found.data.partition(b"\n\n")[0]) if found and is_record(found) else None
    return int(when[1]) if when else 0
