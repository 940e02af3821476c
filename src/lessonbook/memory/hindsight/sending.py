"""A Hindsight server as the outbox sees it: what it is handed over, and asked after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.memory.hindsight.client import Client
from lessonbook.memory.outbox.sending import Became


class HindsightSender:
    """Meets ``outbox.sending.Sender``. Each bank is told its ``missions``, where there are any, before it is used."""

    def __init__(self, client: Client, missions: Mapping[str, str]) -> None:
        self.destination = client.destination
        self._client = client
        self._missions = missions
        self._told: set[str] = set()

    def send(self, bank: str, operation: str, items: Sequence[Mapping[str, Any]], limit: float) -> None:
        """Hand items over. Raises ``SendError``."""
        if self._missions and bank not in self._told:
            self._client.set_up(bank, self._missions, limit)
            self._told.add(bank)
        self._client.retain(bank, operation, items, limit)

    def ask(self, bank: str, operation: str, limit: float) -> Became:
        """Return what became of an operation. Raises ``SendError``."""
        return self._client.operation(bank, operation, limit)

    def retry(self, bank: str, operation: str, limit: float) -> None:
        """Have the server try it again. Raises ``SendError``."""
        self._client.try_again(bank, operation, limit)
