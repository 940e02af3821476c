"""Whether a lesson helped: how often what it is about happened before it was accepted, and since."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lessonbook.core.rates import interval, per_hundred

_EXPECTED = 5.0
"""How many of a mistake must have been due since, before its absence or presence says anything."""
_AS_OFTEN = 0.8
"""From which share of what was due on a lesson counts as one that changed nothing."""


class Effect(StrEnum):
    """What can be said of a lesson so far."""

    HELPS = "helps"
    NO_HELP = "does not help"
    OPEN = "too early to say"
    UNSEEN = "cannot be counted"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts before and since: of what the lesson is about, of calls, and of sessions that read the lesson."""

    before: int
    calls_before: int
    since: int
    calls_since: int
    read: int = 0
    counted: bool = True
    """Whether what it is about can be counted at all: a correction in words cannot."""

    @property
    def due(self) -> float:
        """How many would have been due since, had nothing changed."""
        return self.before * self.calls_since / self.calls_before if self.calls_before else 0.0

    @property
    def effect(self) -> Effect:
        """What the counts say, chance left aside where they are too few."""
        if not self.counted:
            return Effect.UNSEEN
        sure = interval(self.since, self.calls_since)
        rate = per_hundred(self.before, self.calls_before)
        if self.due < _EXPECTED or sure is None or rate is None:
            return Effect.OPEN
        if sure[1] < rate:
            return Effect.HELPS
        return Effect.NO_HELP if self.since >= _AS_OFTEN * self.due else Effect.OPEN
