"""The ``off`` backend: no memory is switched on, and every call says how to switch one on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from lessonbook.core.errors import SetupError
from lessonbook.core.lesson import Lesson, Recalled, Receipt

ADVICE = (
    "No memory is switched on: run `lessonbook config set memory.backend mnemopi` "
    "(or local, for a Markdown file you can edit)."
)


class OffMemory:
    """A memory that keeps nothing: every call but ``close`` raises ``SetupError`` with ``advice``."""

    scopes = frozenset({"project"})

    def __init__(self, name: str = "off", advice: str = ADVICE) -> None:
        self.name = name
        self._advice = advice

    def store(self, lesson: Lesson) -> Receipt:
        """Raise ``SetupError``: nothing is kept."""
        self._refuse()

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Raise ``SetupError``: there is nothing to recall from."""
        self._refuse()

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Raise ``SetupError``: there is nothing to list."""
        self._refuse()

    def count(self) -> int:
        """Raise ``SetupError``: there is nothing to count."""
        self._refuse()

    def close(self) -> None:
        """Do nothing."""

    def _refuse(self) -> NoReturn:
        raise SetupError(self._advice)
