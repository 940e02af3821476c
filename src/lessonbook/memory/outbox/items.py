"""What waits in the outbox, and the ids that make sending it twice the same as sending it once.

A document's id comes from what it says, so that the server holds one document however often it is sent. An operation's
id comes from everything that is sent, so that it is never used for anything else.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from lessonbook.core.value import Value

NAMESPACE = uuid.UUID("6f2a1c54-3f0e-5d0b-9b6e-1f4f7a3d2c10")
ITEM_MOST = 256 << 10
"""Bytes of one item; more is refused before it is queued."""
LESSON = "lesson"
TRANSCRIPT = "transcript"
TORN = "its words were damaged with the outbox's file; what is left of them is shown"
"""Why what was torn with the file is set aside and not sent."""
_OF_THE_TELLING = ("session_id", "tool")


class State(StrEnum):
    """Where an item is on its way: in line, being sent, taken by the server, known to be there, set aside."""

    QUEUED = "queued"
    LEASED = "leased"
    ACCEPTED = "accepted"
    DONE = "done"
    DEAD = "dead"


WAITING = (State.QUEUED, State.LEASED, State.ACCEPTED)
"""The states of what is not yet known to be on the server."""


class Item(Value):
    """One thing to hand to a server: ``payload`` is what is sent, without ids; ``document`` what it is kept under."""

    destination: str
    """The server's address."""
    bank: str
    document: str
    payload: Mapping[str, Any]
    kind: str = LESSON
    scope: str = ""
    """Which project it is about."""

    @property
    def text(self) -> str:
        """The payload as it is kept and sent, the same for equal payloads."""
        return json.dumps(dict(self.payload), sort_keys=True, ensure_ascii=False)

    @property
    def identity(self) -> str:
        """What another item must have in common to be the same one: everything but when and where it was told."""
        told = {key: value for key, value in self.payload.items() if key != "timestamp"}
        if isinstance(beside := told.get("metadata"), Mapping):
            told["metadata"] = {key: value for key, value in beside.items() if key not in _OF_THE_TELLING}
        return json.dumps([self.destination, self.bank, self.document, told], sort_keys=True)


class Row(Value):
    """One item in the outbox. Times are epoch seconds."""

    seq: int
    destination: str
    bank: str
    document: str
    operation: str
    kind: str
    scope: str
    payload: str
    size: int
    """Bytes of the payload as it was put in."""
    state: State
    batch: str | None
    round: int
    attempts: int
    polls: int
    remote_retries: int
    next_at: float
    last_status: str | None
    last_error: str | None
    created: float
    seen: float
    ended: float | None

    @property
    def told(self) -> dict[str, Any]:
        """The payload; empty where it is kept no longer, or cannot be read."""
        try:
            found = json.loads(self.payload) if self.payload else {}
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def is_torn(self) -> bool:
        """Whether the payload is not the one that was put in: the file was damaged."""
        return not self.told or len(self.payload.encode("utf-8", "replace")) != self.size


class Batch(Value):
    """Rows of one bank that go under one operation id, in order; ``is_sent`` once the server has taken them."""

    id: str
    destination: str
    bank: str
    rows: tuple[Row, ...]
    owner: str
    is_sent: bool

    @property
    def attempts(self) -> int:
        """How often the rows were sent in vain."""
        return max(row.attempts for row in self.rows)

    @property
    def items(self) -> list[dict[str, Any]]:
        """What is sent: each payload with the id of its document."""
        return [{**row.told, "document_id": row.document} for row in self.rows]


def document_id(*parts: str) -> str:
    """Return the id of what ``parts`` say: the same on every machine, without a clock."""
    return f"h:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]}"


def operation_id(outbox: str, item: Item, generation: int) -> str:
    """Return the id of one item of one outbox; ``generation`` counts how often it was done before."""
    return str(uuid.uuid5(NAMESPACE, f"{outbox}\n{generation}\n{item.identity}"))


def batch_id(rows: Sequence[tuple[str, int]]) -> str:
    """Return the id that these rows, each its operation and round, are sent under together."""
    return str(uuid.uuid5(NAMESPACE, "\n".join(f"{operation}:{round}" for operation, round in rows)))
