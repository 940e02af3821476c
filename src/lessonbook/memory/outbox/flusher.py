"""Delivers what waits in the outbox: one batch at a time, sent, asked after, and done or set aside.

Whatever a server does, nothing is lost and nothing is sent under another id than before: what failed in passing is
sent again later, what the server takes as wrong is halved until the wrong item is alone, and only that is set aside.
"""

from __future__ import annotations

from collections.abc import Callable

from lessonbook.core.backoff import delay, poll_delay
from lessonbook.core.clean import clean_line
from lessonbook.core.redact import redact
from lessonbook.core.value import Value
from lessonbook.memory.outbox.destinations import Destinations
from lessonbook.memory.outbox.items import TORN, Batch
from lessonbook.memory.outbox.moving import LEASE, Moving
from lessonbook.memory.outbox.outbox import Outbox
from lessonbook.memory.outbox.sending import Became, Kind, Sender, SendError, Standing
from lessonbook.system.faults import point

TOO_OLD = 14 * 86_400.0
"""Seconds after which what a server never took is set aside; retried by hand, it has that long again."""
HALVED_AFTER = 3
"""Failures of one request after which it is tried in halves: one item may be what the server stumbles over."""
REMOTE_RETRIES = 3
"""How often a server is asked to try once more at what it failed at."""
SAID_MOST = 500
_LOOK = 0.5
LEAST = 0.05
"""Seconds below which a request is not begun."""


class Delivered(Value):
    """What one run came to: how many items arrived and were set aside, and what stopped it, where something did."""

    done: int = 0
    dead: int = 0
    trouble: str = ""


class Flusher:
    """Takes what waits for one server on, as the process ``owner``. For one thread at a time.

    ``now`` is the clock in epoch seconds, ``chance`` gives random numbers from 0 to 1, ``limit`` is how many seconds
    one request may take.
    """

    def __init__(
        self,
        outbox: Outbox,
        sender: Sender,
        owner: str,
        now: Callable[[], float],
        chance: Callable[[], float],
        limit: float = 10.0,
    ) -> None:
        self._moving = Moving(outbox, sender.destination, owner)
        self._destinations = Destinations(outbox)
        self._sender = sender
        self._now = now
        self._chance = chance
        self._limit = limit
        self._is_refused = False
        self._is_asked = False
        self.delivered = Delivered()

    def insist(self) -> None:
        """Ask the server with the next step, whatever it did before: a person asks for it."""
        self._is_asked = True

    def next_due(self) -> float | None:
        """Return when there is something to do next, in epoch seconds; ``None`` where nothing waits."""
        due = self._moving.next_due(self._now())
        known = self._destinations.known(self._sender.destination)
        if due is None or known.is_open(self._now()) or (known.is_paused and not self._is_refused):
            return due
        return max(due, known.open_until)

    def step(self, seconds: float | None = None) -> bool:
        """Take one batch one step on, within ``seconds``; return whether there was anything to do.

        Raises ``StoreError`` and ``BusyError`` where the outbox cannot be used; never for what the server does.
        """
        limit = self._limit if seconds is None else min(self._limit, seconds)
        if limit < LEAST or not self._may_ask():
            return False
        batch = self._moving.claim(self._now(), 2 * self._limit + LEASE)
        if batch is None:
            return False
        try:
            if batch.is_sent:
                self._ask(batch, limit)
            elif any(row.is_torn for row in batch.rows):
                self._refused(batch, "damaged", TORN)
                return True
            else:
                self._sender.send(batch.bank, batch.id, batch.items, limit)
                point("outbox.sent")
                self._moving.accepted(batch, self._now())
        except SendError as error:
            self._failed(batch, error, shortened=seconds is not None and limit < self._limit)
        else:
            self._is_refused = False
            self._destinations.answered(self._sender.destination)
        return True

    def run(self, seconds: float, wait: Callable[[float], object], *, patient: bool = True) -> Delivered:
        """Deliver for at most ``seconds``, or until nothing is to be done within them; return what came of it.

        ``wait`` is called to pass the time until something is due. Who is not ``patient`` stops at the first failure.
        """
        until = self._now() + seconds
        before = self.delivered
        while (left := until - self._now()) > LEAST:
            if self.step(left):
                if patient or not self._destinations.known(self._sender.destination).failures:
                    continue
                break
            due = self.next_due()
            held = patient and self._moving.is_held(self._now())  # by another process, which may soon be done with it
            if due is None or (due >= until and not held):
                break
            wait(min(max(due - self._now(), LEAST), left, _LOOK if held else left))
        known = self._destinations.known(self._sender.destination)
        found = self.delivered
        return Delivered(found.done - before.done, found.dead - before.dead, known.said or "")

    def _may_ask(self) -> bool:
        """Whether the server may be asked now: a process that starts asks one that refused others once."""
        known = self._destinations.known(self._sender.destination)
        asked, self._is_asked = self._is_asked, False
        return asked or known.is_open(self._now()) or (known.is_paused and not self._is_refused)

    def _ask(self, batch: Batch, limit: float) -> None:
        became = self._sender.ask(batch.bank, batch.id, limit)
        said, now = _safe(became.said), self._now()
        if became.standing is Standing.DONE:
            self._moving.done(batch, now, said or None)
            self._count(done=len(batch.rows))
        elif became.standing is Standing.GONE:
            self._moving.forgotten(batch, now)
        elif became.standing is Standing.GOING:
            self._moving.polled(batch, now, poll_delay(batch.rows[0].polls), said or became.standing)
        else:
            self._remote_failure(batch, became, said or "the server does not say why", limit)

    def _remote_failure(self, batch: Batch, became: Became, said: str, limit: float) -> None:
        """The server took it and failed: it is to try again, then in halves, and then the one item is set aside."""
        now, tries = self._now(), batch.rows[0].remote_retries
        if became.standing is Standing.FAILED and tries < REMOTE_RETRIES:
            self._sender.retry(batch.bank, batch.id, limit)
            self._moving.retried(batch, now, delay(tries + 1, self._chance()), said)
        elif len(batch.rows) > 1:
            self._moving.split(batch, now, became.standing, said, used=True)
        else:
            self._set_aside(batch, became.standing, said)

    def _failed(self, batch: Batch, error: SendError, *, shortened: bool) -> None:
        said, now, to = _safe(error.said), self._now(), self._sender.destination
        wait = delay(batch.attempts + 1, self._chance(), error.asked)
        if error.kind in (Kind.DENIED, Kind.STRANGE):
            self._is_refused = True
            self._destinations.paused(to, said, now)
            self._moving.later(batch, now, 0.0, error.status, said)
            return
        if error.kind is Kind.REFUSED:
            self._destinations.answered(to)
            self._refused(batch, error.status, said)
            return
        if not shortened:  # where we had less time than a request may take, the server is not to blame
            self._destinations.failed(to, said, now, self._chance(), error.asked)
        if min(row.created for row in batch.rows) < now - TOO_OLD and not batch.is_sent:
            self._too_old(batch, error.status, said)
        elif error.kind is Kind.TROUBLED and len(batch.rows) > 1 and batch.attempts >= HALVED_AFTER - 1:
            self._halve_or_wait(batch, wait, error.status, said)
        else:
            self._moving.later(batch, now, wait, error.status, said)

    def _refused(self, batch: Batch, status: str, said: str) -> None:
        if batch.is_sent:  # what was taken cannot be asked after; it may be there, and is sent again
            self._moving.forgotten(batch, self._now())
        elif len(batch.rows) > 1:
            self._moving.split(batch, self._now(), status, said, used=False)
        else:
            self._set_aside(batch, status, said)

    def _halve_or_wait(self, batch: Batch, wait: float, status: str, said: str) -> None:
        if batch.is_sent:
            self._moving.later(batch, self._now(), wait, status, said)
        else:
            self._moving.split(batch, self._now(), status, said, used=False)

    def _too_old(self, batch: Batch, status: str, said: str) -> None:
        if len(batch.rows) > 1:  # not all of them may be
            self._moving.split(batch, self._now(), status, said, used=False)
        else:
            self._set_aside(batch, status, f"not taken within {TOO_OLD / 86_400:.0f} days; at last: {said}")

    def _set_aside(self, batch: Batch, status: str, said: str) -> None:
        self._moving.dead(batch, self._now(), status, said)
        self._count(dead=len(batch.rows))

    def _count(self, done: int = 0, dead: int = 0) -> None:
        self.delivered = Delivered(self.delivered.done + done, self.delivered.dead + dead)


def _safe(said: str) -> str:
    """What a server said, fit to keep: it may repeat what it was sent, or anything else."""
    return redact(clean_line(said[: 8 * SAID_MOST])).text[:SAID_MOST]
