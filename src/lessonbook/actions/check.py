"""What looking at one thing comes to: how it stands, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a check ended: nothing to do, worth knowing, or something that does not work."""

    FINE = "fine"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was found, and what to do about it where there is something to do."""

    what: str
    level: Level
    found: str
    do: str = ""
