"""A server on loopback that behaves as Hindsight 1.1 was measured to, and fails as it is told to.

It is a stand-in for somebody else's program, not for ours: what it shows of ours is how it takes every kind of failure
on a real socket. That the real server behaves so is shown in ``tests/real/test_hindsight_server.py``.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from lessonbook.core.project import Project
from lessonbook.memory.hindsight.backend import HindsightMemory
from lessonbook.memory.hindsight.opening import open_hindsight
from lessonbook.system.server import Hindsight
from lessonbook.system.settings import Settings

TOKEN = "right-token-0123456789"
APP = Project("example.org/me/app", "app", "/work/app")

Fault = dict[str, Any]
"""``status``, ``body``, ``headers``, ``delay``, ``reset``, ``drip`` or ``close``; ``late`` does the work first."""


class Stub:
    """What the server holds, and what it is to fail with next."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.faults: list[Fault] = []
        self.always: Fault | None = None
        self.token: str | None = None
        self.refuse: Callable[[str], bool] = lambda content: "POISON" in content
        self.fail: Callable[[str], bool] = lambda content: "UNREADABLE" in content
        self.banks: dict[str, dict[str, Any]] = {}
        self.documents: dict[tuple[str, str], dict[str, Any]] = {}
        self.operations: dict[tuple[str, str], str] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.seen_tokens: list[str] = []
        self.writes = Counter[str]()
        """How often each content was written."""

    def contents(self) -> Counter[str]:
        """The contents of all documents, each as often as it is there."""
        with self.lock:
            return Counter(one["content"] for one in self.documents.values())

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Do what a request asks for."""
        url = urlsplit(path)
        parts = url.path.removeprefix("/v1/default/banks/").split("/")
        bank, rest = parts[0], parts[1:]
        with self.lock:
            if method == "PUT":
                self.banks.setdefault(bank, {}).update(body)
                return 200, {"bank_id": bank}
            if method == "POST" and rest == ["memories"]:
                return self._retain(bank, body)
            if rest[:1] == ["operations"]:
                return self._operation(bank, rest[1], retry=rest[2:] == ["retry"])
            if bank not in self.banks and rest != ["reflect"]:
                return 404, {"detail": f"Bank '{bank}' not found"}
            asked = parse_qs(url.query)
            if rest == ["documents"]:
                return 200, {"items": [], "total": len(self._seen(bank, asked.get("tags", [])))}
            if rest == ["memories", "list"]:
                found = self._seen(bank, asked.get("tags", []))[: int(asked["limit"][0])]
                return 200, {"items": found, "total": len(found)}
            if rest == ["memories", "recall"]:
                words = set(body["query"].lower().split())
                found = [one for one in self._seen(bank, body["tags"]) if words & set(one["text"].lower().split())]
                chunks = {one["chunk_id"]: {"id": one["chunk_id"], "text": one["whole"]} for one in found}
                return 200, {"results": found, "chunks": chunks}
            if rest == ["reflect"]:
                return 200, {"text": f"About {body['query']}"}
        return 404, {"detail": "Not Found"}

    def _retain(self, bank: str, body: Any) -> tuple[int, Any]:
        for at, one in enumerate(body["items"]):
            if not one["content"].strip() or self.refuse(one["content"]):
                wrong = {"loc": ["body", "items", at, "content"], "msg": "is not valid", "input": one["content"]}
                return 422, {"detail": [wrong]}
        self.banks.setdefault(bank, {})
        operation = str(uuid.UUID(body["operation_id"]))
        if any(other == operation and of != bank for of, other in self.operations):
            return 409, {"detail": "operation_id is in use"}
        if (bank, operation) not in self.operations:
            failed = any(self.fail(one["content"]) for one in body["items"])
            self.operations[bank, operation] = "failed" if failed else "completed"
            for one in () if failed else body["items"]:
                key = (bank, one["document_id"])
                if self.documents.get(key, {}).get("content") != one["content"]:
                    self.writes[one["content"]] += 1
                self.documents.pop(key, None)
                self.documents[key] = {**one, "at": len(self.requests)}
        return 200, {"success": True, "operation_id": operation, "async": True}

    def _operation(self, bank: str, operation: str, *, retry: bool) -> tuple[int, Any]:
        status = self.operations.get((bank, operation), "not_found")
        if retry:
            return (200, {}) if status == "failed" else (409, {"detail": "not failed"})
        error = "LLM gave up" if status == "failed" else None
        return 200, {"status": status, "error_message": error, "child_operations": []}

    def _seen(self, bank: str, tags: list[str]) -> list[dict[str, Any]]:
        found = [
            {
                "id": str(uuid.uuid5(uuid.NAMESPACE_URL, document)),
                "text": f"Fact: {one['content']}",
                "whole": one["content"],
                "document_id": document,
                "chunk_id": f"{bank}_{document}_0",
                "context": one.get("context"),
                "metadata": one.get("metadata"),
                "mentioned_at": one.get("timestamp"),
                "tags": one.get("tags", []),
            }
            for (of, document), one in self.documents.items()
            if of == bank and (not one.get("tags") or set(tags) & set(one["tags"]))
        ]
        return found[::-1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, *_: Any) -> None:
        pass

    def _serve(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        stub = self.stub
        with stub.lock:
            stub.requests.append((self.command, self.path, body))
            stub.seen_tokens.append(self.headers.get("authorization") or "")
            fault = stub.faults.pop(0) if stub.faults else stub.always or {}
        time.sleep(fault.get("delay", 0))
        done: tuple[int, Any] | None = None
        if fault.get("late") or not set(fault) - {"delay"}:
            allowed = stub.token is None or self.headers.get("authorization") == f"Bearer {stub.token}"
            done = stub.answer(self.command, self.path, body) if allowed else (401, {"detail": "Invalid API key"})
        time.sleep(fault.get("linger", 0))
        if fault.get("reset"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        self._answer(fault, done)

    def _answer(self, fault: Fault, done: tuple[int, Any] | None) -> None:
        status, told = done if done is not None and "status" not in fault else (fault.get("status", 200), None)
        body = fault["body"] if "body" in fault else json.dumps(told if told is not None else {"detail": "injected"})
        data = body.encode() if isinstance(body, str) else body
        try:
            self.send_response(status)
            for name, value in fault.get("headers", {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data) + fault.get("short", 0)))
            self.end_headers()
            for byte in data if "drip" in fault else ():
                self.wfile.write(bytes([byte]))
                time.sleep(fault["drip"])
            if "drip" not in fault:
                self.wfile.write(data)
        except OSError:  # whoever asked has gone
            pass
        self.close_connection = True

    do_GET = do_POST = do_PUT = _serve


class Server(ThreadingHTTPServer):
    """The stub on a free port of loopback."""

    daemon_threads = True

    def __init__(self, stub: Stub) -> None:
        super().__init__(("127.0.0.1", 0), type("Handler", (_Handler,), {"stub": stub}))
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    def end(self) -> None:
        self.shutdown()
        self.server_close()


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def server(stub: Stub) -> Iterator[Server]:
    made = Server(stub)
    yield made
    made.end()


@pytest.fixture
def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def opened(folder: Path, url: str, project: Project = APP, *, scoping: str = "per-project-tagged", **told: Any) -> Any:
    """The memory of a project, which delivers only when it is told to."""
    settings = Settings(
        folder / "agent",
        memory_backend="hindsight",
        memory_scoping=scoping,
        hindsight_url=url,
        hindsight=Hindsight(**{"recall_seconds": 2, "retain_seconds": 2, "reflect_seconds": 2, **told}),
    )
    memory = open_hindsight(settings, project, time.time)
    assert isinstance(memory, HindsightMemory)
    memory.delivery.delivers_itself = False
    return memory
