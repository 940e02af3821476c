"""Over HTTP, from whoever can reach the port: nothing passes without the token, and nothing that is sent ends it."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.hosts.mcp.wire import LONGEST

ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
OWN = "a-token-of-my-own-1234"
WHO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "0"}}


class Client:
    """One session of the protocol, spoken by hand."""

    def __init__(self, server: Any, token: str = OWN) -> None:
        self.url = server.url
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        self.http = httpx2.Client(headers=headers, timeout=60)
        self.ids = iter(range(1, 1_000_000))
        told = self.send("initialize", WHO)
        self.http.headers["mcp-session-id"] = told.headers["mcp-session-id"]
        self.send("notifications/initialized", None, is_request=False)

    def send(self, method: str, params: Any, *, is_request: bool = True) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}
        return self.http.post(self.url, json={**message, "id": next(self.ids)} if is_request else message)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        told = self.send("tools/call", {"name": tool, "arguments": arguments})
        found = [line.removeprefix("data: ") for line in told.text.splitlines() if line.startswith("data: {")]
        result: dict[str, Any] = json.loads(found[-1] if found else told.text)["result"]
        return result

    def alive(self) -> bool:
        return "result" in self.send("ping", None).text


@pytest.fixture
def server(serve: Callable[..., Any], configure: Callable[..., Path]) -> Any:
    configure(ON)
    return serve(LESSONBOOK_MCP_TOKEN=OWN)


@pytest.fixture
def client(server: Any) -> Iterator[Callable[[], Client]]:
    """``client()``: one more client that holds the token; closed at the end."""
    made: list[Client] = []

    def make() -> Client:
        made.append(Client(server))
        return made[-1]

    yield make
    for one in made:
        one.http.close()


def spoken(server: Any, data: bytes, *, wait: bool = True) -> bytes:
    """Return what comes back for these bytes on a connection of their own."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection, suppress(OSError):
        connection.sendall(data)
        if not wait:
            return b""
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))
    return b""


AUTH = f"Authorization: Bearer {OWN}\r\n".encode()
HOST = b"Host: 127.0.0.1\r\n"
TYPE = b"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": "remember", "arguments": {"text": "Never to be kept."}}}).encode()  # fmt: skip
LENGTH = b"Content-Length: %d\r\n" % len(CALL)
POST = b"POST /mcp HTTP/1.1\r\n"
EVIL = b"Origin: https://evil.example\r\n"
PLAIN = HOST + TYPE + LENGTH


def post(*headers: bytes, first: bytes = POST) -> bytes:
    """One whole request: this head, and the call that must not be made."""
    return first + b"".join(headers) + b"\r\n" + CALL


REFUSED: dict[str, bytes] = {
    "no token": post(PLAIN),
    "the token in the address": post(PLAIN, first=POST.replace(b"/mcp", b"/mcp?token=" + OWN.encode())),
    "the token as a cookie": post(PLAIN, b"Cookie: Authorization=" + OWN.encode() + b"\r\n"),
    "the token as basic": post(PLAIN, b"Authorization: Basic " + OWN.encode() + b"\r\n"),
    "a folded header": post(PLAIN, b"Authorization:\r\n Bearer " + OWN.encode() + b"x\r\n"),
    "two tokens": post(PLAIN, AUTH, AUTH),
    "no host": post(TYPE, LENGTH, AUTH),
    "two hosts": post(HOST, PLAIN, AUTH),
    "a rebound host": post(b"Host: evil.example\r\n", TYPE, LENGTH, AUTH),
    "an absolute address": post(
        b"Host: evil.example\r\n", TYPE, LENGTH, AUTH, first=POST.replace(b"/mcp", b"http://127.0.0.1/mcp")
    ),
    "a page": post(PLAIN, AUTH, EVIL),
    "a page of no origin": post(PLAIN, AUTH, b"Origin: null\r\n"),
    "two origins": post(PLAIN, AUTH, b"Origin: http://localhost\r\n", EVIL),
    "an old protocol": post(TYPE, LENGTH, AUTH, first=POST.replace(b"1.1", b"1.0")),
    "a preflight": b"OPTIONS /mcp HTTP/1.1\r\n" + HOST + EVIL + b"Access-Control-Request-Method: POST\r\n\r\n",
    "two lengths": post(PLAIN, b"Content-Length: 5\r\n"),
    "no request": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    "nothing": b"",
    "a long head": POST + HOST + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
    "a websocket": b"GET /mcp HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
}


def test_nothing_passes_without_what_it_takes(
    server: Any, client: Callable[[], Client], kept: Callable[[], list[str]]
) -> None:
    one = client()
    assert not one.call("remember", text="The first.")["isError"]
    for what, data in REFUSED.items():
        told = spoken(server, data)
        status = told.split(b" ")[1] if told else b""
        assert status in (b"", b"400", b"401", b"403", b"421", b"431"), (what, told[:300])
        assert b"access-control-allow" not in told.lower() and OWN.encode() not in told, what
        assert one.alive(), what
    assert kept() == ["The first."]
    code, out, err = server.stop()
    assert (code, out) == (0, b"") and b"Traceback" not in err and OWN.encode() not in err


BODIES: list[tuple[bytes, int]] = [
    (b"", 400), (b"{", 400), (b"null", 400), (b"[]", 400), (b"\xff\xfe", 400), (b"[" * 100_000, 400),
    (b'{"jsonrpc": "2.0"}', 400), (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400),
    # An id that is none makes a notification of it, which nobody answers and which does nothing.
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 202), (b'{"jsonrpc": "2.0", "id": 1, "method": 4}', 400),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": "' + b"a" * (LONGEST + 10) + b'"}', 413),
]  # fmt: skip


def test_bodies_that_are_no_messages_are_refused_and_the_server_stays(
    server: Any, client: Callable[[], Client]
) -> None:
    one = client()
    for body, status in BODIES:
        with suppress(httpx2.WriteError, httpx2.ReadError, httpx2.RemoteProtocolError):  # it need not read all of it
            told = one.http.post(server.url, content=body, headers={"Content-Type": "application/json"})
            assert told.status_code == status and "Traceback" not in told.text, (body[:60], told.text[:300])
        assert one.alive(), body[:60]
    for headers, status in (({"Content-Type": "text/plain"}, 400), ({"mcp-session-id": "nobody's"}, 404)):
        told = one.http.post(server.url, content=CALL, headers={"Content-Type": "application/json", **headers})
        assert told.status_code in (status, 415) and one.alive()
    assert one.http.post(server.url + "/../etc", json={}).status_code == 404
    code, out, err = server.stop()
    assert (code, out) == (0, b"") and b"Traceback" not in err


def test_ten_megabytes_many_at_once_and_clients_that_leave(
    server: Any, client: Callable[[], Client], kept: Callable[[], list[str]]
) -> None:
    one = client()
    told = one.call("remember", text="Long. " + "x " * (5 << 20))
    assert not told["isError"] and "was cut to" in told["content"][0]["text"]
    others = [client() for _ in range(6)]
    answers: list[dict[str, Any]] = []

    def work(one: Client, number: int) -> None:
        answers.extend(one.call("learn", memory=f"Lesson {number} {n}.") for n in range(5))

    threads = [threading.Thread(target=work, args=(one, number)) for number, one in enumerate(others)]
    for thread in threads:
        thread.start()
    half = POST + HOST + AUTH + TYPE + LENGTH + b"\r\n" + CALL[: len(CALL) // 2]
    for data in (half, POST + HOST + AUTH, b"POST /mcp", POST + HOST + AUTH + TYPE + LENGTH + b"\r\n" + CALL):
        for _ in range(5):
            spoken(server, data, wait=False)  # and gone
    for thread in threads:
        thread.join()
    assert len(answers) == 30 and not any(answer["isError"] for answer in answers)
    assert one.alive()
    texts = Counter(kept())
    assert set(texts.values()) == {1}
    assert {text for text in texts if text.startswith("Lesson")} == {
        f"Lesson {m} {n}." for m in range(6) for n in range(5)
    }
    code, out, err = server.stop()
    assert (code, out) == (0, b"") and b"Traceback" not in err


FIELDS = [
    "Host",
    "Origin",
    "Authorization",
    "Content-Type",
    "Accept",
    "mcp-session-id",
    "mcp-protocol-version",
    "Last-Event-ID",
]
FIELDS += ["X-Forwarded-Host", "Content-Length", "Transfer-Encoding", "Expect"]
VALUES = ["127.0.0.1", "localhost:1", "evil.example", "null", "Bearer ", "Bearer x", "5", "chunked", "*/*"]
VALUES += ["application/json", "100-continue", "9999-99-99"]
HEADERS = st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(VALUES) | st.text(max_size=12)), max_size=6)
METHODS = st.sampled_from(["POST", "GET", "DELETE", "PUT", "OPTIONS", "TRACE", "CONNECT"])


@pytest.mark.slow
def test_any_head_without_the_token_is_refused(
    server: Any, client: Callable[[], Client], kept: Callable[[], list[str]]
) -> None:
    one = client()
    assert not one.call("remember", text="The first.")["isError"]

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from(["POST", "GET", "DELETE", "PUT", "OPTIONS", "TRACE", "CONNECT"]),
        HEADERS,
        st.binary(max_size=30),
    )
    def some(method: str, headers: list[tuple[str, str]], body: bytes) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in headers)
        told = spoken(server, f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode() + body + CALL)
        # What follows may be read as a request of its own, which has no token either.
        assert b"200 OK" not in told and b"202 " not in told, told

    some()
    assert one.alive() and kept() == ["The first."]
