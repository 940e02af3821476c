"""Whether two versions or ranges of versions can both be right."""

from __future__ import annotations

import re

Parts = tuple[int, ...]
Range = tuple[Parts, Parts | None]
"""From the first version on, up to the second without it; ``None``: without end."""

_ONE = re.compile(r"(>=|<=|==|~=|!=|[<>=^~])?v?(\d{1,9}(?:\.(?:\d{1,9}|[x*]))*)")


def conflict(one: str, other: str) -> bool:
    """Whether no version meets both. ``18`` stands for every 18.x, so it goes with ``18.2`` and with ``>=16``."""
    first, second = _range(one), _range(other)
    low = max(first[0], second[0])
    return any(high is not None and low >= high for high in (first[1], second[1]))


def moved(one: str, other: str) -> bool:
    """Whether two lower bounds differ: ``>=3.8`` and ``>=3.11`` are the older and the newer of one rule."""
    return one.startswith(">=") and other.startswith(">=") and _range(one) != _range(other)


def _range(version: str) -> Range:
    """Return what a version rule allows; everything where it cannot be told."""
    low: Parts = ()
    high: Parts | None = None
    for match in _ONE.finditer(version):
        first, last = _bounds(match[1] or "", match[2])
        low = max(low, first)
        high = last if high is None else high if last is None else min(high, last)
    return low, high


def _bounds(sign: str, number: str) -> Range:
    parts = tuple(int(part) for part in number.split(".") if part.isdigit())
    if sign in ("", "=="):
        return _trimmed(parts), _next(parts)
    if sign == ">=" or sign == ">":
        return _trimmed(parts), None
    if sign == "<":
        return (), _trimmed(parts)
    if sign == "<=":
        return (), _next(parts)
    if sign == "^":
        kept = next((at for at, part in enumerate(parts) if part), len(parts) - 1)
        return _trimmed(parts), _next(parts[: kept + 1])
    if sign in ("~", "~="):
        return _trimmed(parts), _next(parts[: max(1, len(parts) - 1)] if len(parts) > 2 or sign == "~=" else parts)
    return (), None  # "!=", and a "=" whose other sign cleaning may have taken away


def _next(parts: Parts) -> Parts:
    return (*parts[:-1], parts[-1] + 1) if parts else parts


def _trimmed(parts: Parts) -> Parts:
    """Return the parts without zeros at the end: 3.0 starts where 3 does."""
    while parts and parts[-1] == 0:
        parts = parts[:-1]
    return parts
