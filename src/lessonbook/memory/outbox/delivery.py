"""One memory's way to its server: what it is told goes into the outbox, what it asks to the server, where that answers.

A server that is away costs nothing but itself: it is left alone for a while after some failures, and what the last
answer lacks then is said in one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import local
from typing import TypeVar

from lessonbook.core.errors import LessonbookError
from lessonbook.memory.outbox.background import AT_END, Background
from lessonbook.memory.outbox.destinations import Destinations
from lessonbook.memory.outbox.flusher import Delivered, Flusher
from lessonbook.memory.outbox.items import Item
from lessonbook.memory.outbox.outbox import Fitted, Outbox, Put
from lessonbook.memory.outbox.sending import Kind, Sender, SendError

_T = TypeVar("_T")


class Delivery:
    """What a memory that has an outbox does with it. Usable from several threads.

    ``owner`` names this process among those that share the outbox; ``chance`` gives random numbers from 0 to 1;
    ``limit`` is how many seconds handing over may take. Delivering begins by itself in a thread, unless
    ``delivers_itself`` is set to false before the first lesson.
    """

    def __init__(
        self,
        outbox: Outbox,
        sender: Sender,
        owner: str,
        now: Callable[[], float],
        chance: Callable[[], float],
        limit: float,
    ) -> None:
        self.outbox, self.destination = outbox, sender.destination
        self._now, self._chance = now, chance
        self._destinations = Destinations(outbox)
        self._flusher = Flusher(outbox, sender, owner, now, chance, limit)
        self._background = Background(self._flusher, now)
        self._told = local()
        self.delivers_itself = True

    @property
    def trouble(self) -> str:
        """One sentence where the last answer in this thread lacks what the server knows; else empty."""
        return str(getattr(self._told, "trouble", ""))

    @trouble.setter
    def trouble(self, said: str) -> None:
        self._told.trouble = said

    def hand_over(self, told: Sequence[Item], fitted: Fitted = lambda item, last: item) -> list[Put]:
        """Queue items durably, all or none, and have them delivered in the background."""
        put = self.outbox.put(told, self._now(), fitted)
        if self.delivers_itself:
            self._background.wake()
        return put

    def asked(self, ask: Callable[[], _T]) -> _T | None:
        """What the server answers; ``None``, and the reason in ``trouble``, where it raises ``SendError``."""
        known, now = self._destinations.known(self.destination), self._now()
        if not known.is_open(now) and not known.is_paused:
            wait = known.open_until - now
            self.trouble = f"{known.said or self.destination} It is asked again in {wait:.0f} seconds."
            return None
        try:
            found = ask()
        except SendError as error:
            self.trouble = str(error)
            with suppress(LessonbookError):
                self._note(error)
            return None
        with suppress(LessonbookError):
            self._destinations.answered(self.destination)
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
        if self.outbox.file.exists():
            self._background.wake()

    def close(self) -> None:
        """Deliver what can be within two seconds, where a thread does that, and close; the rest waits in the file."""
        self._background.end(AT_END)
        self._background = Background(self._flusher, self._now)
        self.outbox.close()

    def _note(self, error: SendError) -> None:
        now = self._now()
        if error.kind in (Kind.DENIED, Kind.STRANGE):
            self._destinations.paused(self.destination, error.said, now)
        elif error.kind is not Kind.REFUSED:
            self._destinations.failed(self.destination, error.said, now, self._chance(), error.asked)
