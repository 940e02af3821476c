"""Runs one program of the person's to its end: under a deadline, with bounded output, and all it started with it.

The program gets a process group of its own. When it has ended, or must end, the whole group is killed, so that nothing
it left running in that group survives: not where we are told to end meanwhile either, for nobody else tells that group.
Its input and output go through pipes that never block us.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

from lessonbook.core.errors import ModelError, SetupError, reason

OUTPUT = 1 << 20
"""Bytes of standard output a program may write; more ends it."""
_SAID = 1 << 14
_SLICE = 0.05
# How long what a program has written may still take to arrive after its end, where something it started holds the pipe.
_DRAIN = 0.5


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code (negative for a signal), what it wrote, and the end of what it complained."""

    code: int
    out: bytes
    err: bytes


@dataclass(slots=True)
class _Pipes:
    """What is still to be written to a program and what has come from it."""

    left: memoryview
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)


def run(
    argv: Sequence[str],
    data: bytes,
    *,
    timeout: float,
    folder: Path,
    env: Mapping[str, str],
    most: int = OUTPUT,
    notice: float = 0.0,
) -> Ended:
    """Run ``argv`` (no shell) in ``folder`` with ``data`` as its standard input, and return how it ended.

    Raises ``SetupError`` where it cannot be started, and ``ModelError`` where it takes longer than ``timeout`` seconds
    or writes more than ``most`` bytes; it and its process group are dead by then. One that must end is told so
    ``notice`` seconds before it is killed.
    """
    with _unwinding():
        process = _started(argv, folder, env)
        try:
            pipes = _exchange(process, data, time.monotonic() + timeout, f"the command {argv[0]!r}", timeout, most)
        finally:
            _kill(process, notice)
    return Ended(process.returncode, bytes(pipes.out), bytes(pipes.err))


def _started(argv: Sequence[str], folder: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            list(argv), stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=dict(env), start_new_session=True
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SetupError(f"the command {argv[0]!r} is not there; install it or correct its name.") from error
    except (OSError, ValueError) as error:
        raise SetupError(f"the command {argv[0]!r} cannot be started: {reason(error)}.") from error


@contextmanager
def _unwinding() -> Iterator[None]:
    """Let a signal that would end this process at once end it by ``SystemExit``, so that what is open is closed.

    A handler of our caller's stays, and only the main thread may set one.
    """

    def leave(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    asked = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    taken = [number for number in asked if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _exchange(
    process: subprocess.Popen[bytes], data: bytes, deadline: float, name: str, timeout: float, most: int
) -> _Pipes:
    pipes = _Pipes(memoryview(data))
    with selectors.DefaultSelector() as selector:
        for stream, event in _streams(process):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, event)
        ended: float | None = None
        while True:
            for key, _ in selector.select(_SLICE):
                _move(process, pipes, selector, key)
            now = time.monotonic()
            if ended is None and _has_ended(process):
                ended = now
            # Its exit ends it, whoever else still holds its output open.
            if ended is not None and (not _reading(process, selector) or now > ended + _DRAIN):
                return pipes
            if len(pipes.out) > most:
                raise ModelError(f"{name} wrote more than {most:,} bytes, and was stopped.")
            if now > deadline:
                raise ModelError(f"{name} did not answer within {timeout:g} seconds, and was stopped.")


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    # It is not reaped yet where the system can tell without: as long as its number is taken, so is its group's.
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _streams(process: subprocess.Popen[bytes]) -> list[tuple[IO[bytes], int]]:
    read, write = selectors.EVENT_READ, selectors.EVENT_WRITE
    found = ((process.stdin, write), (process.stdout, read), (process.stderr, read))
    return [(stream, event) for stream, event in found if stream is not None]


def _reading(process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> bool:
    return any(key.fileobj in (process.stdout, process.stderr) for key in selector.get_map().values())


def _move(
    process: subprocess.Popen[bytes], pipes: _Pipes, selector: selectors.BaseSelector, key: selectors.SelectorKey
) -> None:
    """Read or write what one pipe takes now; a pipe that is done is closed."""
    if key.fileobj is process.stdin:
        try:
            pipes.left = pipes.left[os.write(key.fd, pipes.left[:65536]) :] if pipes.left else pipes.left
        except BlockingIOError:
            return
        except OSError:  # it does not read all of its input, which is its own affair
            pipes.left = pipes.left[:0]
        done = not pipes.left
    else:
        try:
            read = os.read(key.fd, 65536)
        except BlockingIOError:
            return
        into = pipes.out if key.fileobj is process.stdout else pipes.err
        into += read
        del pipes.err[: max(0, len(pipes.err) - _SAID)]
        done = not read
    if done:
        selector.unregister(key.fileobj)
        key.fileobj.close()  # type: ignore[union-attr]  # a stream of the process, never a number


def _kill(process: subprocess.Popen[bytes], notice: float) -> None:
    if notice and not _has_ended(process):
        process.terminate()
        until = time.monotonic() + notice
        while not _has_ended(process) and time.monotonic() < until:
            time.sleep(_SLICE)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # everything in the group has ended by itself
        pass
    process.wait()
    for stream, _ in _streams(process):
        stream.close()
