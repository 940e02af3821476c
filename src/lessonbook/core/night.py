"""A night as a value: what was tried, what came of it, what it cost; and which sessions are worth a try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

TRIES = 3
"""How often one session is tried at most: once, and twice again where a night failed at it."""


class TryState(StrEnum):
    """What became of a session's replay."""

    RUNNING = "running"
    """Begun: where no night runs, the one that began it was cut off."""
    FAILED = "failed"
    """It could not be finished; another night tries again."""
    DONE = "done"
    """Finished, with or without a candidate."""
    REFUSED = "refused"
    """It cannot be replayed, now or ever."""


@dataclass(frozen=True, slots=True)
class Try:
    """One session's tries so far."""

    state: TryState
    tries: int
    why: str
    night: str

    @property
    def is_over(self) -> bool:
        """Whether no night shall try it again."""
        return self.state in (TryState.DONE, TryState.REFUSED) or self.tries >= TRIES


@dataclass(frozen=True, slots=True)
class Played:
    """One round: a session replayed, and whether a candidate came of it."""

    agent: str
    session: str
    state: TryState
    why: str
    """One sentence for people."""
    by: str = ""
    """The agent that replayed it."""
    before: tuple[str, ...] = ()
    """What each base run cost (``RouteCost`` in words)."""
    after: str = ""
    spent: float = 0.0
    offered: str | None = None
    """The candidate's id."""
    book: str | None = None
    title: str = ""


def tries_of(document: object) -> dict[str, Try]:
    """Return the tries a file holds, by ``agent/session``; what is damaged counts as never tried."""
    found = document if isinstance(document, dict) else {}
    tries = {}
    for key, row in found.items():
        try:
            tries[key] = Try(TryState(row["state"]), int(row["tries"]), str(row["why"]), str(row["night"]))
        except (KeyError, TypeError, ValueError):
            continue
    return tries


def as_document(tries: Mapping[str, Try]) -> dict[str, Any]:
    """Return the tries as a file holds them."""
    return {key: asdict(one) for key, one in tries.items()}
