"""A team's bank that is told also while its server is away: what cannot be kept there now waits in the outbox.

A lesson is kept on the server before ``store`` returns, as always, where that answers. Where it does not within its
bound, the lesson is in the outbox before ``store`` returns, and goes to the server once, later, as of when it was told.
One that would replace, or be replaced by, another that waits already waits behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from lessonbook.core.errors import LessonbookError, SetupError
from lessonbook.core.lesson import Lesson, Outcome, Recalled, Receipt
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory import scoring
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT
from lessonbook.memory.outbox.delivery import Delivery
from lessonbook.memory.outbox.items import WAITING, Row, State
from lessonbook.memory.outbox.outbox import Became, Outbox
from lessonbook.memory.outbox.sending import Kind
from lessonbook.memory.postgres import items
from lessonbook.memory.postgres.bank import PostgresMemory
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.sending import PostgresSender, send_error
from lessonbook.memory.postgres.vectors import Vectors
from lessonbook.memory.vectors.embedder import Embedder

LIMIT = 10.0
"""Seconds that handing over a batch may take."""
LOOK = 0.7
"""Seconds that the newest lessons and their number may take: the start of a session waits for them."""
_BEHIND = "Another one of its words or key waits for the server."
_HERE = 5_000
_T = TypeVar("_T")


class QueueingPostgres(PostgresMemory):
    """A ``PostgresMemory`` with an outbox. Meets ``core.ports.Bank`` and ``Delivering``.

    ``owner`` names this process among those that share the outbox; ``chance`` gives random numbers from 0 to 1.
    """

    def __init__(
        self,
        connection: Connection,
        project: str,
        now: Callable[[], float],
        outbox: Outbox,
        owner: str,
        chance: Callable[[], float],
        *,
        embedder: Embedder | None = None,
        scoping: str = "per-project-tagged",
        branch: str | None = None,
    ) -> None:
        super().__init__(connection, project, now, embedder=embedder, scoping=scoping, branch=branch)
        self._outbox = outbox
        # On a line of its own: who tells and asks does not wait for what is being delivered.
        self._line = Connection(connection.address, connection.team)
        sender = PostgresSender(self._line, Vectors(embedder), now)
        self.delivery = Delivery(outbox, sender, owner, now, chance, LIMIT)

    @property
    def trouble(self) -> str:
        """One sentence where the last answer in this thread lacks what the server knows; else empty."""
        return self.delivery.trouble

    def store(self, lesson: Lesson) -> Receipt:
        """Keep the lesson on the server; ``QUEUED`` where it does not answer: then it is in the outbox, durably."""
        self.delivery.trouble = ""
        told = tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT).lesson
        if not told.text:
            return super().store(lesson)
        bank = self.bank_for(told.scope)
        waits = self._outbox.has(self.delivery.destination, bank, items.document(bank, told), WAITING)
        receipt = None if waits else self._tried(lambda: super(QueueingPostgres, self).store(lesson))
        return receipt or self._queued(lesson, bank, self.trouble or _BEHIND)

    def search(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons that fit ``query``; those that wait here where the server does not answer."""
        self.delivery.trouble = ""
        found = self._tried(lambda: super(QueueingPostgres, self).search(query, limit))
        if found is not None:
            return found
        here = self._here()
        ranked = scoring.rank(query, [f"{one.text} {one.context or ''}" for one in here])
        return [here[place].but(score=score) for place, score in ranked[: max(limit, 0)]]

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the newest lessons; those that wait here where the server does not answer."""
        self.delivery.trouble = ""
        with self._connection.within(LOOK):
            found = self._tried(lambda: super(QueueingPostgres, self).recent(limit))
        return self._here()[: max(limit, 0)] if found is None else found

    def count(self) -> int:
        """Return how many different lessons this project can recall; those that wait here where it does not answer."""
        self.delivery.trouble = ""
        with self._connection.within(LOOK):
            found = self._tried(super().count)
        return len(self._here()) if found is None else found

    def close(self) -> None:
        """Deliver what can be within two seconds, where a thread does that, and close; the rest waits in the file."""
        self.delivery.close()
        self._line.close()
        super().close()

    def _tried(self, ask: Callable[[], _T]) -> _T | None:
        """What the server answers; ``None`` where it cannot be asked, with the reason in ``trouble``.

        What it takes as wrong, and an extra that is missing, is raised as it is.
        """

        def asked() -> _T:
            try:
                return ask()
            except SetupError:
                raise
            except LessonbookError as error:
                failed = send_error(error)
                if failed.kind is Kind.REFUSED:
                    raise
                raise failed from error

        return self.delivery.asked(asked)

    def _queued(self, lesson: Lesson, bank: str, why: str) -> Receipt:
        tidied = tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT)
        told = tidied.lesson if tidied.lesson.branch else tidied.lesson.but(branch=self._branch)
        item = items.lesson_item(told, bank, self.delivery.destination, self._now())
        put = self.delivery.hand_over([item])[0]
        if put.became is Became.REFUSED:
            return Receipt(Outcome.REFUSED, reason=f"The lesson cannot be queued. {put.reason} {why}")
        notes = (*tidied.notes, *filter(None, (self._outbox.told(),)), f"{why} It waits here and is delivered later.")
        return Receipt(Outcome.QUEUED, item.document, notes=notes)

    def _here(self) -> list[Recalled]:
        """Return what waits here for the server, or was set aside, newest first."""
        to = self.delivery.destination
        rows = [row for bank in self._banks for row in self._outbox.newest(to, bank, None, _HERE)]
        left: list[Row] = [row for row in rows if row.state != State.DONE]
        return [items.from_row(row) for row in sorted(left, key=lambda row: -row.seen)]
