"""Runs an application over HTTP until this process is told to end, and ends within a bounded time then."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from threading import Timer
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any, NoReturn

    from lessonbook.system.loopback import App

GRACE = 1.7
"""Seconds that what is being answered has when this process is told to end."""
INTERRUPTED = 130


def serve(
    app: App,
    listening: socket.socket,
    close: Callable[[], None] = lambda: None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Serve until a signal ends this process, with exit code 130 for Ctrl-C and 0 for others; ``close`` is called then.

    ``beside`` is what to do meanwhile.
    """

    def ended(number: int, frame: object) -> NoReturn:
        """End: uvicorn hands a signal on to us when it has let what was being answered come to its end."""
        close()
        leave(_code(number))

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, ended)
    asyncio.run(_run(app, listening, beside))


async def _run(app: App, listening: socket.socket, beside: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
    import uvicorn

    class Bounded(uvicorn.Server):
        """A server that ends within ``GRACE`` seconds of a signal, whatever still hangs."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            limit = Timer(GRACE, leave, (_code(sig),))
            limit.daemon = True
            limit.start()
            super().handle_exit(sig, frame)

    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, ws="none", timeout_graceful_shutdown=1
    )
    working = asyncio.create_task(beside()) if beside is not None else None
    try:
        await Bounded(settings).serve(sockets=[listening])
    finally:
        if working is not None:
            working.cancel()


def leave(code: int) -> NoReturn:
    """End this process now, without waiting for threads that still read or work."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    finally:
        os._exit(code)


def _code(number: int) -> int:
    return INTERRUPTED if number == signal.SIGINT else 0
