"""What a server must offer to be delivered to, and the ways in which that can fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from lessonbook.core.value import Value


class Kind(StrEnum):
    """What a failure means for what was to be sent."""

    AWAY = "away"
    """The server cannot be reached, is overloaded, or breaks off: the same again, later. Whether it took it is open."""
    TROUBLED = "troubled"
    """The server failed at this request: the same again, later; in the end in parts."""
    REFUSED = "refused"
    """The server takes this as wrong: the same again would be wrong again."""
    DENIED = "denied"
    """The server does not let us: nothing goes there until a person changes something."""
    STRANGE = "strange"
    """What answers is not the server we know how to speak to: as for ``DENIED``."""


class SendError(Exception):
    """A request failed. ``asked`` is how many seconds the server asked to be left alone."""

    def __init__(self, kind: Kind, status: str, said: str, asked: float | None = None) -> None:
        super().__init__(said)
        self.kind = kind
        self.status = status
        self.said = said
        self.asked = asked


class Standing(StrEnum):
    """What became of something that the server took."""

    GOING = "going"
    DONE = "completed"
    FAILED = "failed"
    GONE = "not_found"
    CANCELLED = "cancelled"


class Became(Value):
    """What a server says about an operation."""

    standing: Standing
    said: str = ""


class Sender(Protocol):
    """One server. ``limit`` is how many seconds a request may take at most. Every method may raise ``SendError``."""

    destination: str

    def send(self, bank: str, operation: str, items: Sequence[Mapping[str, Any]], limit: float) -> None:
        """Hand over items under an operation id; the same id again is the same operation."""
        ...

    def ask(self, bank: str, operation: str, limit: float) -> Became:
        """Return what became of an operation."""
        ...

    def retry(self, bank: str, operation: str, limit: float) -> None:
        """Have the server try a failed operation again."""
        ...
