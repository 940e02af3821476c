"""Delivers in a thread of its own, for programs that live long: soon after something was put in, and when it is due.

At the end it has a bounded time; what is left waits in the file for whoever comes next.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic

from lessonbook.core.errors import LessonbookError
from lessonbook.memory.outbox.flusher import Flusher

SETTLED = 0.5
"""Seconds without anything new after which delivering begins, so that what comes together goes together."""
LONGEST = 5.0
"""Seconds after which it begins although more comes in."""
AT_END = 2.0
"""Seconds that the end may take."""
LOOK = 30.0
"""Seconds after which the file is looked at again, where nothing is known to wait: others put things in too."""


class Background:
    """One thread that delivers what ``flusher`` finds; it starts when first woken."""

    def __init__(self, flusher: Flusher, now: Callable[[], float]) -> None:
        self._flusher = flusher
        self._now = now
        self._lock = Lock()
        self._woken, self._ending = Event(), Event()
        self._until: float | None = None
        self._thread: Thread | None = None

    def wake(self) -> None:
        """Say that something was put in. Returns at once."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="lessonbook-outbox", daemon=True)
                self._thread.start()
        self._woken.set()

    def end(self, seconds: float = AT_END) -> None:
        """Deliver what can be within ``seconds``, and stop. What is left stays in the file."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is None:
            return
        self._until = monotonic() + seconds
        self._ending.set()
        self._woken.set()
        thread.join(seconds)

    def _work(self) -> None:
        while not self._ending.is_set():
            self._woken.wait(self._idle())
            if self._woken.is_set():
                self._settle()
            try:
                while not self._ending.is_set() and self._flusher.step():
                    continue
            except LessonbookError:  # the file is busy or cannot be used: it is tried again, and `doctor` says why
                self._ending.wait(1.0)
        self._last()

    def _settle(self) -> None:
        """Wait until nothing new has come for a moment."""
        until = monotonic() + LONGEST
        while self._woken.is_set() and not self._ending.is_set() and monotonic() < until:
            self._woken.clear()
            self._ending.wait(SETTLED)

    def _idle(self) -> float:
        try:
            due = self._flusher.next_due()
        except LessonbookError:
            return LOOK
        return LOOK if due is None else min(max(due - self._now(), 1.0), LOOK)

    def _last(self) -> None:
        while self._until is not None and (left := self._until - monotonic()) > 0:
            try:
                if not self._flusher.step(left):
                    return
            except LessonbookError:
                return
