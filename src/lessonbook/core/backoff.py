"""How long to wait before something is tried again: longer each time, and at random, so that many do not come at once.

Full jitter: any moment between none and the bound, which doubles with each failure.
"""

from __future__ import annotations

FIRST = 1.0
LONGEST = 300.0
ASKED_MOST = 3_600.0
"""Seconds a server may ask to be left alone; one that asks for more is asked again after them."""


def delay(failures: int, chance: float, asked: float | None = None) -> float:
    """Return how many seconds to wait after so many ``failures`` in a row.

    ``chance`` is a random number from 0 to 1. ``asked`` is what the server asked for (``Retry-After``): never less than
    that, up to ``ASKED_MOST``.
    """
    bound = min(LONGEST, FIRST * 2.0 ** min(max(failures, 1) - 1, 30))
    return max(bound * chance, min(max(asked or 0.0, 0.0), ASKED_MOST))


def poll_delay(polls: int) -> float:
    """Return how many seconds until a server is asked again what became of something: 1, 2, 4, … 60."""
    return min(60.0, 2.0 ** min(max(polls, 0), 6))
