"""A scripted model on loopback: speaks what agents speak to their providers, notes what it was shown, and answers.

It answers by a script of steps. Which step is due is read off the request, as the number of tool results in it: so a
retry repeats its step, side questions do not disturb it, and after the last step it stays there. A request that
offers no tools (a title, a summary) is told something short.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from lessonbook.core.briefing import CLOSING, OPENING
from realagents import wire_anthropic, wire_chat, wire_gemini, wire_responses
from realagents.steps import Call, Offered, Say, Step, Wire

_WIRES: tuple[Wire, ...] = (wire_anthropic.WIRE, wire_responses.WIRE, wire_chat.WIRE, wire_gemini.WIRE)
_BRIEFING = re.compile(rf"{re.escape(OPENING)}.*?{re.escape(CLOSING)}", re.DOTALL)
_MOST = 20
_THINKS = 0.3
"""Seconds before an answer: agents write their transcripts behind, and no real model is faster."""
_SIDE = Say("A short answer.")


@dataclass(frozen=True)
class Asked:
    """One request for an answer: where it came in, the tools it offered, and every text in it."""

    path: str
    tools: tuple[str, ...]
    results: int
    texts: tuple[str, ...]
    answer: Step


@dataclass
class Model:
    """Serves while it is entered. ``asked`` holds what came in, ``strange`` what nobody here knows how to answer."""

    steps: Sequence[Step]
    wait: Step | None = None
    """What to do while the tool of a step is not there yet; else the model says so and stops."""
    asked: list[Asked] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    def __enter__(self) -> Model:
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def shown(self, text: str) -> int:
        """Return how many requests held ``text``."""
        return sum(any(text in part for part in asked.texts) for asked in self.asked)

    def listed(self, text: str) -> int:
        """Return how many requests held ``text`` elsewhere than in a briefing of ours."""
        return sum(any(text in _BRIEFING.sub("", part) for part in asked.texts) for asked in self.asked)

    def answered(self, wire: Wire, path: str, body: Mapping[str, Any]) -> Step:
        """Note one request and return the step it gets."""
        offered = tuple(wire.offered(body))
        results = wire.results(body)
        step = self._step(results, offered) if offered else _SIDE
        self.asked.append(Asked(path, tuple(tool.name for tool in offered), results, tuple(texts(body)), step))
        return step

    def _step(self, results: int, offered: Sequence[Offered]) -> Step:
        waits = sum(asked.answer == self.wait for asked in self.asked)
        step = self.steps[min(max(0, results - waits), len(self.steps) - 1)]
        if isinstance(step, Say):
            return step
        found = _found(step, offered)
        if found is not None:
            return found
        if self.wait is not None and waits < _MOST:
            return self.wait
        return Say(f"No tool is called like {step.tools}; there are {[tool.name for tool in offered]}.")


def _found(step: Call, offered: Sequence[Offered]) -> Call | None:
    """The call of the first tool that is offered under one of the step's names."""
    for pattern in step.tools:
        for tool in offered:
            if re.fullmatch(pattern, tool.name):
                return Call((tool.name,), step.arguments, tool.space)
    return None


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: what matters is in the model."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:  # the agent was stopped meanwhile
            pass

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        try:
            body = json.loads(self._body() or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        if "ount" in path and "okens" in path:  # count_tokens, countTokens: any number does
            self._json({"input_tokens": 11, "totalTokens": 11})
            return
        wire = next((wire for wire in _WIRES if re.search(wire.path, path)), None)
        if wire is None or not isinstance(body, dict):
            self.model.strange.append(f"{self.command} {path}")
            self._json({})
            return
        step = self.model.answered(wire, path, body)
        time.sleep(_THINKS)
        name = str(body.get("model") or "scripted")
        if wire.streams(body, path):
            self._stream(wire.events(step, name))
        else:
            self._json(wire.whole(step, name))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b"".join(self._chunks())
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, value in events:
            head = f"event: {name}\n" if name else ""
            text = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True
