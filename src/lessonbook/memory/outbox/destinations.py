"""What is known of each server: whether it answers, and from when on it is asked again. Shared by all processes."""

from __future__ import annotations

from lessonbook.core.backoff import delay
from lessonbook.core.value import Value
from lessonbook.memory.outbox.file import mended
from lessonbook.memory.outbox.outbox import Outbox

PATIENCE = 3
"""Failures in a row after which a server is left alone for a while."""
PAUSE = 600.0
"""Seconds until a server that refused us is tried again; sooner when a person asks, or by a process that starts."""
FAR = 2 * 3_600.0


class Destination(Value):
    """One server: how often it failed in a row, until when it is not asked, and what it said."""

    address: str
    failures: int = 0
    open_until: float = 0.0
    is_paused: bool = False
    """Whether it refused us as we are, which only a person can change: a token, an address."""
    said: str | None = None

    def is_open(self, now: float) -> bool:
        """Whether it may be asked now; a moment too far ahead means that the clock was set back."""
        return self.open_until <= now or self.open_until > now + FAR


class Destinations:
    """Notes and tells what is known of servers, in the outbox's file."""

    def __init__(self, outbox: Outbox) -> None:
        self._file = outbox.file

    @mended
    def known(self, address: str) -> Destination:
        """Return what is known of a server; asking makes no file."""
        if not self._file.exists():
            return Destination(address)
        query = "SELECT failures, open_until, paused, said FROM destinations WHERE address = ?"
        with self._file.reading() as db:
            row = db.execute(query, (address,)).fetchone()
        return Destination(address, row[0], row[1], bool(row[2]), row[3]) if row else Destination(address)

    @mended
    def everywhere(self) -> list[Destination]:
        """Return all that something is known of."""
        if not self._file.exists():
            return []
        with self._file.reading() as db:
            rows = db.execute("SELECT address, failures, open_until, paused, said FROM destinations ORDER BY address")
            return [Destination(row[0], row[1], row[2], bool(row[3]), row[4]) for row in rows.fetchall()]

    def answered(self, address: str) -> None:
        """Note that a server answered as it should."""
        known = self.known(address)
        if known.failures or known.is_paused or known.open_until:
            self._note(Destination(address), 0.0)

    def failed(self, address: str, said: str, now: float, chance: float, asked: float | None = None) -> None:
        """Note that a server could not be asked; after some times, or where it asks for it, it is left alone."""
        failures = self.known(address).failures + 1
        wait = delay(failures, chance, asked) if failures >= PATIENCE or asked else 0.0
        self._note(Destination(address, failures, now + wait, False, said), now)

    def paused(self, address: str, said: str, now: float) -> None:
        """Note that a server refuses us until a person changes something."""
        failures = self.known(address).failures + 1
        self._note(Destination(address, failures, now + PAUSE, True, said), now)

    @mended
    def _note(self, told: Destination, now: float) -> None:
        values = (told.address, told.failures, told.open_until, int(told.is_paused), told.said, now)
        with self._file.writing(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO destinations VALUES (?, ?, ?, ?, ?, ?)", values)
