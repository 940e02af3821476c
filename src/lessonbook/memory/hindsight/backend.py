"""The memory of a project on a Hindsight server. What is told goes into the outbox; what is asked, to the server.

A server that is away costs nothing but itself: telling never waits for it, and asking is answered from what this
machine told, with one sentence that says so in ``trouble``. After some failures it is not asked for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lessonbook.core.errors import ModelError
from lessonbook.core.lesson import EMPTY, NO_GLOBAL, Kept, Lesson, Outcome, Recalled, Receipt, Scope
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.core.value import Value
from lessonbook.memory.hindsight import items, merging
from lessonbook.memory.hindsight.banks import Banks
from lessonbook.memory.hindsight.client import Client, Scoped
from lessonbook.memory.hindsight.sending import HindsightSender
from lessonbook.memory.outbox.delivery import Delivery
from lessonbook.memory.outbox.items import Item, State
from lessonbook.memory.outbox.outbox import Became, Outbox, Put

QUERY_WORDS, QUERY_MOST = 200, 1_500
"""How much of a question a server is asked: one that is too long finds nothing there, without a word."""
TOKENS_EACH, TOKENS_LEAST, TOKENS_MOST = 400, 2_048, 16_384
_ALL = 5_000
TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.core.session import Session
    from lessonbook.memory.hindsight.care import HindsightCare


class Limits(Value):
    """Seconds that requests may take."""

    recall: float = 10.0
    retain: float = 10.0
    reflect: float = 120.0
    list: float = 1.0


class HindsightMemory:
    """One project's view of a server. Meets ``core.ports.Memory`` and ``Delivering``; usable from several threads.

    ``owner`` and ``chance`` are for its ``delivery``.
    """

    name = "hindsight"
    scopes = frozenset[str]({Scope.PROJECT})
    keeps = frozenset((*items.KEPT, "tags"))
    """The fields of a lesson, beside its words, that it has a place for."""

    def __init__(
        self,
        outbox: Outbox,
        client: Client,
        banks: Banks,
        now: Callable[[], float],
        owner: str,
        chance: Callable[[], float],
        limits: Limits,
        missions: dict[str, str],
    ) -> None:
        self._outbox, self._client, self._banks = outbox, client, banks
        self._now, self._limits = now, limits
        self._scoped = Scoped(banks.bank, banks.recalled)
        self.delivery = Delivery(outbox, HindsightSender(client, missions), owner, now, chance, limits.retain)

    @property
    def trouble(self) -> str:
        """One sentence where the last answer in this thread lacks what the server knows; else empty."""
        return self.delivery.trouble

    def store(self, lesson: Lesson) -> Receipt:
        """Queue the lesson durably; one the server has is ``DUPLICATE``. Never waits for the server."""
        tidied = tidy_lesson(lesson)
        if not tidied.lesson.text or lesson.scope not in self.scopes:
            return Receipt(Outcome.REFUSED, reason=NO_GLOBAL if tidied.lesson.text else EMPTY)
        now = self._now()
        item = items.lesson_item(tidied.lesson, self._banks, self._client.destination, now)
        put = self.hand_over([item])[0]
        if put.became is Became.REFUSED:
            return Receipt(Outcome.REFUSED, reason=f"The lesson cannot be queued. {put.reason}")
        outcome = Outcome.DUPLICATE if put.became is Became.DONE else Outcome.QUEUED
        return Receipt(outcome, item.document, notes=(*tidied.notes, *filter(None, (self._outbox.told(),))))

    def retain_turns(self, session: Session) -> list[Put]:
        """Queue what was said in each turn of a session, durably; what is there already is not queued again."""
        from lessonbook.memory.hindsight.turns import turn_items

        told = list(turn_items(session, self._banks, self._client.destination, self._now()))
        return self.hand_over(told) if told else []

    def hand_over(self, told: Sequence[Item]) -> list[Put]:
        """Queue items durably, all or none, and have them delivered in the background."""
        return self.delivery.hand_over(told, items.with_contexts)

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons that fit ``query``, of the server and of what waits for it, best first."""
        self.delivery.trouble = ""
        if limit < 1 or not tidy(query).text:
            return []
        asked, tokens = _shortened(query), min(max(TOKENS_EACH * limit, TOKENS_LEAST), TOKENS_MOST)
        found = self.delivery.asked(lambda: self._client.recall(self._scoped, asked, tokens, self._limits.recall))
        return merging.fitting(query, found, self._here(_ALL), self._banks.bank)[:limit]

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the newest lessons, of the server and of what waits for it, newest first."""
        self.delivery.trouble = ""
        if limit < 1:
            return []
        found = self.delivery.asked(lambda: self._client.newest(self._scoped, limit, self._limits.list))
        return merging.newest(found, self._here(max(limit, _ALL)), self._banks.bank)[:limit]

    def count(self) -> int:
        """Return how many lessons there are on the server and waiting for it; of this machine's where it is away."""
        self.delivery.trouble = ""
        here = self._here(_ALL)
        there = self.delivery.asked(lambda: self._client.count(self._scoped, self._limits.list))
        return len(here) if there is None else there + sum(row.state != State.DONE for row in here)

    def reflect(self, query: str) -> str:
        """Return the server's answer to ``query`` in its own words. Raises ``ModelError`` where there is none."""
        self.delivery.trouble = ""
        found = self.delivery.asked(lambda: self._client.reflect(self._scoped, _shortened(query), self._limits.reflect))
        if found is None:
            raise ModelError(self.trouble)
        return found

    @property
    def care(self) -> HindsightCare:
        """What a person does with the project's lessons as a whole."""
        from lessonbook.memory.hindsight.care import HindsightCare

        to, bank = self._client.destination, self._banks.bank
        return HindsightCare(
            self._client, self._scoped, self.store, lambda id: self._outbox.erase(to, bank, id), self._limits.recall
        )

    def get(self, lesson: str) -> Kept:
        """Return one lesson as the server has it. Raises ``InputError`` where it has none of that id."""
        return self.care.show(lesson).kept

    def erase(self, lesson: str) -> None:
        """Remove a lesson from the server and from the outbox here. Final: nothing brings it back."""
        self.care.erase(lesson)

    def close(self) -> None:
        """Deliver what can be within two seconds, where a thread does that, and close; the rest waits in the file."""
        self.delivery.close()

    def _here(self, limit: int) -> list[merging.Here]:
        return self._outbox.newest(self._client.destination, self._banks.bank, self._banks.scopes, limit)


def _shortened(query: str) -> str:
    """As much of a question as a server makes something of."""
    return " ".join(tidy(query).text.split()[:QUERY_WORDS])[:QUERY_MOST]
