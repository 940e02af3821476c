"""Which lesson may take the place of which: the rule that every bank keeps."""

from __future__ import annotations

from collections.abc import Callable

from lessonbook.core.errors import InputError


def check(number: int, replacement: int, next_of: Callable[[int], int | None]) -> None:
    """Raise ``InputError`` where lesson ``number`` takes, by any way, the place of its own ``replacement``.

    ``next_of`` tells which lesson took the place of one; ``None`` for none.
    """
    if leads_to(replacement, number, next_of):
        raise InputError(f"Lesson {number} cannot be replaced by {replacement}, which it replaces itself.")


def leads_to(number: int, end: int, next_of: Callable[[int], int | None]) -> bool:
    """Whether ``end`` is what holds, by any way, in the place of ``number``, or is it itself."""
    following: int | None = number
    met: set[int] = set()
    while following is not None and following not in met:
        if following == end:
            return True
        met.add(following)
        following = next_of(following)
    return False
