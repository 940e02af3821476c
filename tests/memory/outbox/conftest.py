"""What the tests of the outbox share: an outbox in an empty folder, lessons for it, and a server that keeps to no wire.

``Shelf`` meets ``outbox.sending.Sender`` as a real server does (operations once, documents replaced), and fails as it
is told to. What only a wire can do is in ``tests/memory/hindsight``, against sockets, and ``tests/real``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lessonbook.memory.outbox.items import Item, document_id
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.memory.outbox.sending import Became, Kind, SendError, Standing

SERVER = "http://127.0.0.1:8888"


def item(text: str, document: str | None = None, *, bank: str = "b", at: str = "t") -> Item:
    """One lesson on its way."""
    return Item(SERVER, bank, document or document_id(bank, text), {"content": text, "timestamp": at}, scope="p")


class Shelf:
    """A server. ``failing`` is asked before and after each request what to do: a ``SendError`` to raise, or nothing."""

    destination = SERVER

    def __init__(self, failing: Callable[[str], SendError | None] = lambda moment: None) -> None:
        self.failing = failing
        self.operations: dict[str, Standing] = {}
        self.documents: dict[tuple[str, str], str] = {}
        self.writes: list[tuple[str, str]] = []
        self.requests: list[list[str]] = []
        self.bad: frozenset[str] = frozenset()
        """Contents that the server takes as wrong, whatever they come with."""
        self.unreadable: frozenset[str] = frozenset()
        """Contents that it takes, and then fails at."""

    def send(self, bank: str, operation: str, items: Sequence[Mapping[str, Any]], limit: float) -> None:
        self._fail("send")
        self.requests.append([one["content"] for one in items])
        if any(one["content"] in self.bad for one in items):
            raise SendError(Kind.REFUSED, "422", "one of them is wrong")
        if operation not in self.operations:
            failed = any(one["content"] in self.unreadable for one in items)
            self.operations[operation] = Standing.FAILED if failed else Standing.DONE
            for one in () if failed else items:
                self.documents[bank, one["document_id"]] = one["content"]
                self.writes.append((one["document_id"], one["content"]))
        self._fail("sent")

    def ask(self, bank: str, operation: str, limit: float) -> Became:
        self._fail("ask")
        return Became(self.operations.get(operation, Standing.GONE), "")

    def retry(self, bank: str, operation: str, limit: float) -> None:
        self._fail("retry")

    def _fail(self, moment: str) -> None:
        error = self.failing(moment)
        if error is not None:
            raise error


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    """An outbox of this test's own."""
    made = Outbox(tmp_path / OUTBOX_FILE)
    yield made
    made.close()
