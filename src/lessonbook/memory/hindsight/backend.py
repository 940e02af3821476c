"""The memory of a project on a Hindsight server. What is told goes into the outbox; what is asked, to the server.

A server that is away costs nothing but itself: telling never waits for it, and asking is answered from what this
machine told, with one sentence that says so in ``trouble``. After some failures it is not asked for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import local
from typing import TypeVar

from lessonbook.core.errors import LessonbookError, ModelError
from lessonbook.core.lesson import EMPTY, NO_GLOBAL, Lesson, Outcome, Recalled, Receipt, Scope
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.core.value import Value
from lessonbook.memory.hindsight import items, merging
from lessonbook.memory.hindsight.banks import Banks
from lessonbook.memory.hindsight.client import Client, Scoped
from lessonbook.memory.hindsight.sending import HindsightSender
from lessonbook.memory.outbox.background import AT_END, Background
from lessonbook.memory.outbox.destinations import Destinations
from lessonbook.memory.outbox.flusher import Delivered, Flusher
from lessonbook.memory.outbox.items import Item, State
from lessonbook.memory.outbox.outbox import Became, Outbox, Put
from lessonbook.memory.outbox.sending import Kind, SendError

QUERY_WORDS, QUERY_MOST = 200, 1_500
"""How much of a question a server is asked: one that is too long finds nothing there, without a word."""
TOKENS_EACH, TOKENS_LEAST, TOKENS_MOST = 400, 2_048, 16_384
_ALL = 5_000
TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.core.session import Session
_T = TypeVar("_T")


class Limits(Value):
    """Seconds that requests may take."""

    recall: float = 10.0
    retain: float = 10.0
    reflect: float = 120.0
    list: float = 1.0


class HindsightMemory:
    """One project's view of a server. Meets ``core.ports.Memory`` and ``Delivering``; usable from several threads.

    ``owner`` names this process among those that share the outbox; ``chance`` gives random numbers from 0 to 1.
    Delivering begins by itself in a thread, unless ``delivers_itself`` is set to false before the first lesson.
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
        self._now, self._chance, self._limits = now, chance, limits
        self._scoped = Scoped(banks.bank, banks.recalled)
        self._destinations = Destinations(outbox)
        self._flusher = Flusher(outbox, HindsightSender(client, missions), owner, now, chance, limits.retain)
        self._background = Background(self._flusher, now)
        self._told = local()
        self.delivers_itself = True

    @property
    def trouble(self) -> str:
        """One sentence where the last answer in this thread lacks what the server knows; else empty."""
        return str(getattr(self._told, "trouble", ""))

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
        put = self._outbox.put(told, self._now(), items.with_contexts)
        if self.delivers_itself:
            self._background.wake()
        return put

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons that fit ``query``, of the server and of what waits for it, best first."""
        self._told.trouble = ""
        if limit < 1 or not tidy(query).text:
            return []
        asked, tokens = _shortened(query), min(max(TOKENS_EACH * limit, TOKENS_LEAST), TOKENS_MOST)
        found = self._asked(lambda: self._client.recall(self._scoped, asked, tokens, self._limits.recall))
        return merging.fitting(query, found, self._here(_ALL), self._banks.bank)[:limit]

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the newest lessons, of the server and of what waits for it, newest first."""
        self._told.trouble = ""
        if limit < 1:
            return []
        found = self._asked(lambda: self._client.newest(self._scoped, limit, self._limits.list))
        return merging.newest(found, self._here(max(limit, _ALL)), self._banks.bank)[:limit]

    def count(self) -> int:
        """Return how many lessons there are on the server and waiting for it; of this machine's where it is away."""
        self._told.trouble = ""
        here = self._here(_ALL)
        there = self._asked(lambda: self._client.count(self._scoped, self._limits.list))
        return len(here) if there is None else there + sum(row.state != State.DONE for row in here)

    def reflect(self, query: str) -> str:
        """Return the server's answer to ``query`` in its own words. Raises ``ModelError`` where there is none."""
        self._told.trouble = ""
        found = self._asked(lambda: self._client.reflect(self._scoped, _shortened(query), self._limits.reflect))
        if found is None:
            raise ModelError(self.trouble)
        return found

    def deliver(self, seconds: float, wait: Callable[[float], object], *, insist: bool = False) -> Delivered:
        """Deliver what waits for at most ``seconds``; with ``insist`` also to a server that is to be left alone."""
        if insist:
            self._flusher.insist()
        return self._flusher.run(seconds, wait, patient=insist)

    def waiting(self) -> bool:
        """Whether anything is to be delivered now."""
        due = self._flusher.next_due()
        return due is not None and due <= self._now()

    def deliver_in_background(self) -> None:
        """Begin to deliver what is left from before, in a thread; for programs that live long."""
        if self._outbox.file.exists():
            self._background.wake()

    def close(self) -> None:
        """Deliver what can be within two seconds, where a thread does that, and close; the rest waits in the file."""
        self._background.end(AT_END)
        self._background = Background(self._flusher, self._now)
        self._outbox.close()

    def _here(self, limit: int) -> list[merging.Here]:
        return self._outbox.newest(self._client.destination, self._banks.bank, self._banks.scopes, limit)

    def _asked(self, ask: Callable[[], _T]) -> _T | None:
        """What the server answers; ``None``, and the reason in ``trouble``, where it does not."""
        to = self._client.destination
        known, now = self._destinations.known(to), self._now()
        if not known.is_open(now) and not known.is_paused:
            wait = known.open_until - now
            self._told.trouble = f"{known.said or to} It is asked again in {wait:.0f} seconds."
            return None
        try:
            found = ask()
        except SendError as error:
            self._told.trouble = str(error)
            with suppress(LessonbookError):
                self._note(error)
            return None
        with suppress(LessonbookError):
            self._destinations.answered(to)
        return found

    def _note(self, error: SendError) -> None:
        to, now = self._client.destination, self._now()
        if error.kind in (Kind.DENIED, Kind.STRANGE):
            self._destinations.paused(to, error.said, now)
        elif error.kind is not Kind.REFUSED:
            self._destinations.failed(to, error.said, now, self._chance(), error.asked)


def _shortened(query: str) -> str:
    """As much of a question as a server makes something of."""
    return " ".join(tidy(query).text.split()[:QUERY_WORDS])[:QUERY_MOST]
