"""What a scripted model says, and what it has to know of a provider's wire format to say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

Body = Mapping[str, Any]
Events = Iterator[tuple[str, Any]]
_NUMBERS = count(1)


@dataclass(frozen=True)
class Call:
    """Call the first tool that is offered under a name one of these patterns fits."""

    tools: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    space: str = ""
    """The group the tool was offered in, where the format groups them."""

    @property
    def name(self) -> str:
        """The tool's own name."""
        return self.tools[0]


@dataclass(frozen=True)
class Say:
    """Say this, and leave it at that."""

    text: str


Step = Call | Say


@dataclass(frozen=True)
class Offered:
    """A tool a request offers."""

    name: str
    space: str = ""


@dataclass(frozen=True)
class Wire:
    """One provider's format: ``path`` is the pattern of its address, ``events`` the parts of a streamed answer."""

    path: str
    offered: Callable[[Body], Iterable[Offered]]
    results: Callable[[Body], int]
    """How many results of tools a request holds."""
    streams: Callable[[Body, str], bool]
    events: Callable[[Step, str], Events]
    whole: Callable[[Step, str], Body]


def new_id(prefix: str) -> str:
    """Return an id no answer had before."""
    return f"{prefix}{next(_NUMBERS):024d}"


def wants_stream(body: Body, path: str) -> bool:
    """Whether the request says it wants a stream."""
    return body.get("stream") is True


def tables(value: object) -> list[dict[str, Any]]:
    """Return the objects among the items of a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
