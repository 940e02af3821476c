"""What a search for skills finds."""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Origin: TypeAlias = Literal["authored", "learned", "managed"]


class Found(Value):
    """One skill. ``agents`` read its folder; ``shadowed_by`` is the file of the skill that wins over it, if any.

    A learned skill's path is its path inside the book.
    """

    name: str
    description: str
    origin: Origin
    agents: tuple[str, ...]
    path: Path
    shadowed_by: Path | None = None


class Seen:
    """One real file while it is collected: the skill, every name it answers to, and what is wrong with it."""

    def __init__(self, found: Found, names: set[str], *, usable: bool) -> None:
        self.found = found
        self.names = names
        self.usable = usable
        self.problems: list[str] = []
