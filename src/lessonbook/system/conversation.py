"""Talks with a program line by line over its standard input and output, as MCP servers and Codex's own server do.

The program gets a process group of its own, which is killed at the end, and every answer has a deadline.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from lessonbook.core.errors import SetupError

_MOST = 8 << 20
_SAID = 400


class Conversation:
    """One running program that answers JSON-RPC, a message a line. Use it with ``with``.

    Raises ``SetupError`` where it cannot be started, ends, writes what is no JSON, or is late.
    """

    def __init__(self, words: Sequence[str], *, seconds: float, folder: Path, env: Mapping[str, str]) -> None:
        """Start ``words`` in ``folder``; ``seconds`` is how long the whole conversation may take."""
        self._name = words[0]
        self._until = time.monotonic() + seconds
        self._left = b""
        self._number = 0
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                list(words), stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=dict(env), start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise SetupError(f"{words[0]} cannot be started: {error}.") from error

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._process.returncode is None:  # once it is reaped, its number may be another program's
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # it ended by itself
                pass
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):  # what could not be written to a program that ended is tried once more here
                    stream.close()

    def ask(self, method: str, params: Any = None) -> Any:
        """Return the result of one call. Raises ``SetupError``, also for an error it answers."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}})
        while True:
            message = self._message()
            if message.get("id") != self._number or "method" in message:
                continue
            if "error" in message:
                raise SetupError(f"it answered {method} with an error: {_short(message['error'])}")
            return message.get("result")

    def tell(self, method: str) -> None:
        """Send a message that is not answered."""
        self._send({"jsonrpc": "2.0", "method": method})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise SetupError(self._ended()) from error

    def _message(self) -> dict[str, Any]:
        line = self._line()
        try:
            found = json.loads(line)
        except ValueError as error:
            raise SetupError(
                f"it wrote a line that is no message: {_short(line.decode('utf-8', 'replace'))}"
            ) from error
        return found if isinstance(found, dict) else {}

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        while b"\n" not in self._left:
            wait = self._until - time.monotonic()
            if wait <= 0 or not select.select([self._process.stdout], [], [], wait)[0]:
                raise SetupError("it did not answer in time.")
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part or len(self._left) > _MOST:
                raise SetupError(self._ended())
            self._left += part
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _ended(self) -> str:
        """Say that it ended, with the last it complained of."""
        assert self._process.stderr is not None
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "it closed its output."
        said = self._process.stderr.read(1 << 16).decode("utf-8", "replace").strip().splitlines()
        return f"it ended with exit code {code}{f': {_short(said[-1])}' if said else '.'}"


def _short(text: object) -> str:
    from lessonbook.core.redact import redact

    return redact(" ".join(str(text).split())[:_SAID]).text
