"""Standard input and output as the protocol's wire: one JSON-RPC message a line, and nothing else on it, ever.

The streams are taken at the very start, before anything that may print is loaded: what prints then goes to standard
error, and programs we start read nothing. The client's end is noticed at once, also while everything else still loads:
standard input that ends, standard output that nobody reads any more, a parent that is gone, a signal. What is being
written then is finished, within GRACE seconds; then this process ends.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import signal
from collections.abc import Awaitable, Callable, Iterator
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, NoReturn

from lessonbook.system.serving import GRACE as GRACE
from lessonbook.system.serving import INTERRUPTED, leave

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

    Serve = Callable[
        [MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]], Awaitable[None]
    ]

LONGEST = 32 << 20
"""Bytes one message may have."""
_CHUNK = 1 << 16
_LOOK = 0.5
_NEVER_ANSWERED = "subscriptions/listen"


class Wire:
    """The wire of one server: listens from the start, and is served once everything is loaded."""

    def __init__(self, source: int, sink: int, busy: Callable[[], bool], close: Callable[[], None]) -> None:
        """``source`` and ``sink`` are what ``taken`` gave.

        ``busy`` is whether a call is still being worked on, ``close`` what to do at the very end.
        """
        self._source, self._sink = source, sink
        self._busy, self._close = busy, close
        self._parent = os.getppid()
        self._ready = Event()
        self._asked: set[str] = set()
        self._ending = False
        for work in (self._read, self._watch):
            Thread(target=work, daemon=True).start()

    async def serve(self, serve: Serve) -> NoReturn:
        """Hand ``serve`` what the client sends, and send what it answers; end this process when the client ends."""
        import anyio
        from anyio import to_thread

        self._loop = asyncio.get_running_loop()
        self._put_lock, self._put_limit = anyio.Lock(), anyio.CapacityLimiter(1)
        self._run_sync = to_thread.run_sync
        self._inbox, received = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
        outbox, sent = anyio.create_memory_object_stream["SessionMessage"](0)
        for number, code in ((signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, INTERRUPTED)):
            self._loop.add_signal_handler(number, self._end_soon, code)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send_all, sent)
            self._ready.set()
            await serve(received, outbox)
        leave(0)

    def _read(self) -> None:
        """Pass on every line; a client that ends before it asked anything ends us at once, whatever still loads."""
        heard = False
        for line in _lines(self._source):
            heard = True
            self._ready.wait()
            try:
                asyncio.run_coroutine_threadsafe(self._receive(line), self._loop).result()
            except Exception:  # noqa: BLE001  the session has ended; what is on the wire has nobody to go to
                break
        if not heard:
            leave(0)
        self._ready.wait()
        self._loop.call_soon_threadsafe(self._end_soon, 0)

    def _watch(self) -> None:
        """Notice a client that is gone although standard input stays open: another of its children may hold it."""
        hangup = select.poll()
        hangup.register(self._sink, 0)
        while not hangup.poll(_LOOK * 1000) and os.getppid() == self._parent:
            continue
        if self._ready.is_set():
            self._loop.call_soon_threadsafe(self._end_soon, 0)
        Event().wait(GRACE)
        leave(0)

    def _end_soon(self, code: int) -> None:
        if not self._ending:
            self._ending = True
            limit = Timer(GRACE, leave, (code,))
            limit.daemon = True
            limit.start()
            self._task = self._loop.create_task(self._end(code))

    async def _end(self, code: int) -> None:
        """Let what is being done come to its end, and leave. ``GRACE`` is the limit, whatever hangs."""
        while self._asked or self._busy():
            await asyncio.sleep(0.01)
        await self._run_sync(self._close)
        leave(code)

    async def _receive(self, line: bytes | None) -> None:
        from mcp.shared.message import SessionMessage

        from lessonbook.hosts.mcp.messages import RefusedError, parsed, too_long

        try:
            if line is None:
                raise too_long(LONGEST)
            message = parsed(line)
        except RefusedError as refused:
            await self._put(refused.answer)
            return
        self._note_asked(message)
        await self._inbox.send(SessionMessage(message))

    def _note_asked(self, message: JSONRPCMessage) -> None:
        """Know what is still to be answered: a call that was cancelled never is."""
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        if isinstance(message, JSONRPCRequest) and message.method != _NEVER_ANSWERED:
            self._asked.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._asked.discard(str((message.params or {}).get("requestId")))

    async def _send_all(self, sent: MemoryObjectReceiveStream[SessionMessage]) -> None:
        from mcp_types import JSONRPCError, JSONRPCResponse

        async for item in sent:
            message = item.message
            await self._put(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._asked.discard(str(message.id))

    async def _put(self, message: bytes) -> None:
        """Write one line, in a thread: a client that does not read must not keep us from hearing that it ended."""
        async with self._put_lock:
            try:
                await self._run_sync(_write, self._sink, message + b"\n", limiter=self._put_limit)
            except OSError:  # nobody reads any more
                self._end_soon(0)


def taken() -> tuple[int, int]:
    """Return where messages come from and go to, and leave nothing and standard error in the places of these two."""
    source, sink = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1))
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return source, sink


def _lines(source: int) -> Iterator[bytes | None]:
    """Yield each line that says something, and ``None`` for one that is longer than any message may be."""
    held = bytearray()
    skipping = False
    while part := _some(source):
        *ended, rest = part.split(b"\n")
        for end in ended:
            line, held = bytes(held + end), bytearray()
            if skipping or len(line) > LONGEST:
                skipping = False
                yield None
            elif line.strip():
                yield line
        held += rest
        if len(held) > LONGEST:
            held, skipping = bytearray(), True
    if held.strip() and not skipping:
        yield bytes(held)


def _some(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:  # a socket that the client reset
        return b""


def _write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
