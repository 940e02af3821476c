"""Which lesson may take the place of which: the rule that every bank keeps."""

from __future__ import annotations

from collections.abc import Callable

from lessonbook.core.errors import InputError


def check(number: int, replacement: int, next_of: Callable[[int], int | None]) -> None:
    """Raise ``InputError`` where lesson ``number`` takes, by any way, the place of its own ``replacement``.

    ``next_of`` tells which lesson took the place of one; ``None`` for none.
    """
    following: int | None = replacement
    met: set[int] = set()
    while following is not None and following not in met:
        if following == number:
            raise InputError(f"Lesson {number} cannot be replaced by {replacement}, which it replaces itself.")
        met.add(following)
        following = next_of(following)
