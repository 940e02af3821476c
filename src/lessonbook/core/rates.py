"""Rates with what they are worth: few events say little, and a trend has to be more than chance."""

from __future__ import annotations

import math

_Z = 1.959964
"""Both sides of a 95 % interval."""


def per_hundred(count: int, calls: int) -> float | None:
    """Return events per 100 calls; ``None`` where there were no calls."""
    return 100 * count / calls if calls else None


def interval(count: int, calls: int) -> tuple[float, float] | None:
    """Return the 95 % interval of events per 100 calls, events being rare and independent; ``None`` without calls.

    Byar's approximation of the exact Poisson limits.
    """
    if not calls:
        return None
    low = count * _cubed(1 - 1 / (9 * count) - _Z / (3 * math.sqrt(count))) if count else 0.0
    more = count + 1
    high = more * _cubed(1 - 1 / (9 * more) + _Z / (3 * math.sqrt(more)))
    return 100 * max(low, 0.0) / calls, 100 * high / calls


def _cubed(value: float) -> float:
    return value * value * value
