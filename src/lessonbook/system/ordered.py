"""Works that are done side by side, and their results one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


def in_order(start: Callable[[Work], Callable[[], Result]], works: Iterable[Work], ahead: int) -> Iterator[Result]:
    """Yield the result of each work in order, at most ``ahead`` of them begun and not yet yielded.

    ``start`` begins one and returns how to wait for it.
    """
    waiting: deque[Callable[[], Result]] = deque()
    for work in works:
        waiting.append(start(work))
        if len(waiting) >= ahead:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()
