"""The real server in a process of its own, driven by the official client or by hand; nothing of it is replaced."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

PATIENCE = 60.0
"""Seconds until a test gives up; nothing is asserted about it."""
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
Document = dict[str, Any]


class Raw:
    """A server whose lines we write and read ourselves. Every line it prints must be a message of the protocol."""

    def __init__(self, *words: str, env: dict[str, str], cwd: Path, **more: Any) -> None:
        command = [sys.executable, "-m", "lessonbook", "mcp", *words]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        self.process = subprocess.Popen(command, env=env, cwd=cwd, **pipes)
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.told: list[Document] = []
        self.errors = b""
        self._readers = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self) -> None:
        for line in self.process.stderr or ():
            self.errors += line

    def send(self, message: Document | bytes) -> None:
        """Write one line."""
        assert self.process.stdin
        self.process.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self.process.stdin.flush()

    def ask(self, id: object, method: str, params: Document | None = None) -> None:
        """Send a request without waiting for its answer."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})

    def call(self, id: object, tool: str, arguments: object) -> None:
        """Send a call of a tool without waiting for its answer."""
        self.ask(id, "tools/call", {"name": tool, "arguments": arguments})

    def next(self) -> Document | None:
        """Return the next message, ``None`` at the end; anything else on standard output fails the test."""
        line = self.lines.get(timeout=PATIENCE)
        if line is None:
            return None
        message = json.loads(line)
        assert isinstance(message, dict) and message.get("jsonrpc") == "2.0", line
        self.told.append(message)
        return message

    def answer(self, id: object) -> Document:
        """Return the answer to ``id``, whatever else comes before it."""
        while not (found := [told for told in self.told if told.get("id") == id and "method" not in told]):
            if self.next() is None:
                break
        if found:
            return found[-1]
        raise AssertionError(f"it ended without an answer to {id!r}: {self.errors.decode()[-2000:]}")

    def start(self, version: str = "2025-06-18", **capabilities: Any) -> Document:
        """Do the handshake."""
        who = {"name": "raw", "version": "0"}
        self.ask(0, "initialize", {"protocolVersion": version, "capabilities": capabilities, "clientInfo": who})
        found = self.answer(0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found["result"]

    def end(self) -> int:
        """Close standard input, read the rest, and return the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.ended()

    def ended(self) -> int:
        """Wait for the end, read the rest, and return the exit code."""
        while self.next() is not None:
            continue
        code = self.process.wait(timeout=PATIENCE)
        for reader in self._readers:
            reader.join(timeout=PATIENCE)
        return code

    def stop(self) -> None:
        """End it the hard way, and close everything."""
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(timeout=PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with suppress(OSError):  # what was never read is not our concern here
                    pipe.close()

    def seconds_to_end(self) -> float:
        """Return how long it takes from now until the process has ended."""
        start = time.monotonic()
        self.process.wait(timeout=PATIENCE)
        return time.monotonic() - start


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder the server is started in."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    """The environment of a server: this test's own home."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(home)}


@pytest.fixture
def configure(home: Path) -> Callable[..., Path]:
    """``configure("text of config.toml")`` writes this test's configuration, whole or not at all."""

    def write(text: str) -> Path:
        path = home / ".config" / "lessonbook" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "next").write_text(text)
        (path.parent / "next").rename(path)
        return path

    return write


@pytest.fixture
def bank(home: Path) -> Path:
    """Where the bank's file is."""
    return home / ".local" / "share" / "lessonbook" / "agent" / "bank.db"


@pytest.fixture
def lock(bank: Path) -> Iterator[Callable[[], sqlite3.Connection]]:
    """``lock()``: hold the bank as another program does that writes and does not come to an end before ROLLBACK."""
    held: list[sqlite3.Connection] = []

    def hold() -> sqlite3.Connection:
        held.append(sqlite3.connect(bank, isolation_level=None))
        held[-1].execute("BEGIN IMMEDIATE")
        return held[-1]

    yield hold
    for db in held:
        db.close()


@pytest.fixture
def kept(bank: Path) -> Callable[[], list[str]]:
    """``kept()``: the text of every lesson in the bank."""

    def texts() -> list[str]:
        with closing(sqlite3.connect(bank)) as db:
            return [row[0] for row in db.execute("SELECT text FROM lessons ORDER BY id")]

    return texts


@pytest.fixture
def raw(work: Path, env: dict[str, str]) -> Iterator[Callable[..., Raw]]:
    """``raw("--no-learned", env={…})``: a server to speak with by hand; ended at the end."""
    started: list[Raw] = []

    def start(*words: str, env: dict[str, str] = env, cwd: Path = work, **more: Any) -> Raw:
        started.append(Raw(*words, env=env, cwd=cwd, **more))
        return started[-1]

    yield start
    for server in started:
        server.stop()


class Served:
    """A server over HTTP, and what it said at its start."""

    def __init__(self, *words: str, env: dict[str, str], cwd: Path) -> None:
        command = [sys.executable, "-m", "lessonbook", "mcp", "--http", "--port", "0", *words]
        self.process = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = ""
        for line in self.process.stderr or ():
            self.said += line.decode()
            if line.startswith(b"Ctrl-C"):
                break
        self.url = self._found(r"at (http://\S+)")
        self.port = int(self._found(r":(\d+)/mcp"))

    def _found(self, pattern: str) -> str:
        found = re.search(pattern, self.said)
        assert found, self.said
        return found[1]

    @property
    def token(self) -> str:
        return self._found(r"Bearer (\S+)")

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, bytes, bytes]:
        """End it by a signal; return the exit code and what it printed since."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def serve(work: Path, env: dict[str, str]) -> Iterator[Callable[..., Served]]:
    """``serve("--host", "::1", LESSONBOOK_MCP_TOKEN="…")``: a server over HTTP that listens; ended at the end."""
    started: list[Served] = []

    def start(*words: str, **more: str) -> Served:
        started.append(Served(*words, env=env | more, cwd=work))
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.communicate()


Talk = Callable[..., None]


@pytest.fixture
def talk(work: Path, env: dict[str, str]) -> Talk:
    """``talk(say, version=…)``: runs ``await say(session)`` with the official client, at a protocol version."""

    def run(
        say: Callable[[ClientSession], Awaitable[None]],
        *words: str,
        version: str = MODERN,
        cwd: Path = work,
        env: dict[str, str] = env,
        **client: Any,
    ) -> None:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "lessonbook", "mcp", *words], env=env, cwd=cwd
        )

        async def main() -> None:
            async with stdio_client(command) as streams, ClientSession(*streams, **client) as session:
                with anyio.fail_after(PATIENCE):
                    await greet(session, version)
                    await say(session)

        alone(lambda: anyio.run(main))

    return run


def alone(act: Callable[[], None]) -> None:
    """Do ``act``; what it raises inside of task groups is raised by itself."""
    try:
        act()
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


async def greet(session: ClientSession, version: str) -> None:
    """Agree on ``version`` as a client of that time does."""
    if version == MODERN:
        while session.discover_result is None:
            with suppress(
                MCPError
            ):  # the client waits for ten seconds, in which a busy machine may not have started it
                await session.discover()
        return
    asked = types.InitializeRequestParams(
        protocol_version=version,
        capabilities=session._build_capabilities(version),
        client_info=types.Implementation(name="official", version="0"),
    )
    told = await session.send_request(types.InitializeRequest(params=asked), types.InitializeResult)
    assert told.protocol_version == version
    session.adopt(told)
    await session.send_notification(types.InitializedNotification())


@pytest.fixture
def greeted() -> Callable[[ClientSession, str], Awaitable[None]]:
    """``await greeted(session, version)``, for a session over another transport."""
    return greet
