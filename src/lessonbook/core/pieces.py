"""One large file read in pieces side by side: where each begins and ends, and what one session has in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lessonbook.core.session import Session


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file, from the beginning of one line to that of another, in bytes."""

    start: int
    end: int | None
    """``None`` for the last piece: the rest of the file, however long it has grown."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one session has in one piece of a file, read as if the file held nothing else."""

    key: str
    """What tells the session from the others of its file."""
    rows: Sequence[int]
    """Where its lines begin."""
    copies: int
    """How many of its turns were left out as copies of others."""
    session: Session | None
    """``None`` where no turn is left."""
    asked: frozenset[bytes]
    """The digests of all that ``Seen`` was asked about for it, and remembers."""
