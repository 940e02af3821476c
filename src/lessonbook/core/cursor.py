"""How far a transcript was read, so that the next reading tells only what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Change(StrEnum):
    """What became of a file since it was read."""

    NEW = "new"
    SAME = "same"
    GROWN = "grown"
    """It holds what it held, and more behind it."""
    OTHER = "other"
    """It was cut, rewritten or replaced: nothing says that any of it is as it was."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a reader can go on: at the beginning of the last turn, which may not have been whole."""

    offset: int = 0
    """In bytes: the beginning of a line."""
    turns: Mapping[str, int] = field(default_factory=dict)
    """How many turns of each session stand before it."""
    note: str = ""
    """What the reader has to remember to understand the next line."""
