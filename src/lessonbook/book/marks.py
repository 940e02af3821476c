"""The trailers that say what a person decided, in the commit that did it, so that every clone knows it too.

The last one of a key counts: ours come after whatever a proposer wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lessonbook.book.candidates import Message
from lessonbook.core.candidate import is_candidate_id

ACCEPTED = "Accepted-id"
"""The candidate a commit on HEAD accepted."""
ALONG = "Accepted-with"
"""Another candidate that left the queue with it, because it was folded in or held already."""
FOLDED = "Includes-print"
"""What the candidate that a compaction folds in came to (``inclusion.print_of``)."""
ACKNOWLEDGED = "Acknowledged"
"""A sign of poisoning that the person had seen when they accepted."""
UNDO = "Undo: "
"""How the subject of a commit starts that takes an acceptance back."""
UNDONE = "Undone-id"
"""The candidate whose acceptance a commit on HEAD takes back."""
UNDONE_COMMIT = "Undone-commit"
EXPIRED = "Expired"
"""What an expiry removed, one trailer per part: ``<kind> <key or name> <the day since which nothing used it>``."""
REJECTED = "Rejected-id"
"""The candidate that a commit under ``refs/lessonbook/rejected/`` remembers; its parent is the candidate's commit."""
REASON = "Rejected-reason"
FINGERPRINT = "Fingerprint"
"""What the rejected text comes to when its wording and order are set aside (``core.twins``)."""

_OURS = re.compile(rb"(?:Accepted-[a-z]+|Acknowledged):")


def unmarked(raw: bytes) -> bytes:
    """Return a commit message as it was proposed: without the trailers that accepting adds."""
    head, gap, last = raw.rstrip(b"\n").rpartition(b"\n\n")
    kept = [line for line in last.split(b"\n") if not (gap and _OURS.match(line))]
    return (head + gap + b"\n".join(kept)).rstrip(b"\n") + b"\n"


def value_of(message: Message, key: str) -> str | None:
    """Return the last value of a trailer, or ``None``."""
    found = [value for name, value in message.trailers if name == key]
    return found[-1] if found else None


def id_of(message: Message, key: str) -> str | None:
    """Return the candidate id a trailer names last, or ``None`` where it names none."""
    value = value_of(message, key)
    return value if value is not None and is_candidate_id(value) else None


def ids_of(message: Message, key: str) -> Sequence[str]:
    """Return every candidate id that trailers of this key name."""
    return [value for name, value in message.trailers if name == key and is_candidate_id(value)]
