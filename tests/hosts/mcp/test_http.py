"""Over HTTP: only for who holds the token, only from this machine, and with everything that the other way has."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from lessonbook.hosts.mcp.http import Guard
from lessonbook.hosts.mcp.wire import GRACE

OWN = "a-token-of-my-own-1234"
ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
MARGIN = 8.0


def posted(server: Any, headers: dict[str, str], method: str = "POST", path: str = "/mcp") -> int:
    """Return the status for one message with these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in {**sent, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders(body.encode())
    status = connection.getresponse().status
    connection.close()
    return status


def test_who_is_let_in(serve: Callable[..., Any]) -> None:
    server = serve()
    good = {"Authorization": f"Bearer {server.token}"}
    assert len(server.token) >= 40 and "This token is for this run" in server.said
    passed = posted(server, good)
    assert passed not in (401, 403, 421)
    for headers, status in [
        ({}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Authorization": f"Bearer {server.token}x"}, 401),
        ({"Authorization": f"Bearer {server.token[:-1]}"}, 401),
        ({"Authorization": f"bearer {server.token}"}, passed),
        ({"Authorization": f"Basic {server.token}"}, 401),
        ({"Authorization": server.token}, 401),
        ({"Authorization": "Bearer \xe9"}, 401),
        ({**good, "Host": "evil.example"}, 421),
        ({**good, "Host": "evil.example:80"}, 421),
        ({**good, "Host": "127.0.0.1.evil.example"}, 421),
        ({**good, "Host": ""}, 421),
        ({**good, "Origin": "https://evil.example"}, 403),
        ({**good, "Origin": "null"}, 403),
        ({**good, "Origin": "http://localhost.evil.example"}, 403),
        ({**good, "Origin": f"http://localhost:{server.port}"}, passed),
        ({**good, "Host": f"localhost:{server.port}"}, passed),
        ({"Host": "evil.example"}, 421),
    ]:
        assert posted(server, headers) == status, headers
    for method in ("GET", "DELETE", "OPTIONS", "PUT"):
        assert posted(server, {}, method) == 401
        assert posted(server, {}, method, "/anything") == 401
    code, out, err = server.stop()
    assert (code, out) == (0, b"") and b"Traceback" not in err
    assert server.token.encode() not in err


TOKENS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16)


@given(TOKENS, st.binary(max_size=60), st.lists(st.binary(max_size=20), max_size=2), st.binary(max_size=30))
def test_nothing_but_the_token_opens(token: str, sent: bytes, origins: list[bytes], host: bytes) -> None:
    guard = Guard(None, token, ["127.0.0.1", "localhost", "[::1]"])  # type: ignore[arg-type]
    right, here = f"Bearer {token}".encode(), (b"Host", b"127.0.0.1:8377")
    assert guard.refusal([here, (b"Authorization", right)]) is None
    assert guard.refusal([(b"host", b"[::1]:8377"), (b"authorization", right)]) is None
    if sent.partition(b" ")[2] != right.partition(b" ")[2]:
        assert guard.refusal([here, (b"authorization", sent)])
        assert guard.refusal([here, (b"authorization", sent), (b"authorization", right)])
    if host.lower().split(b":")[0] not in (b"127.0.0.1", b"localhost", b"["):
        assert guard.refusal([(b"host", host), (b"authorization", right)])
    assert guard.refusal([here, here, (b"authorization", right)])
    for origin in origins:
        if b"127.0.0.1" not in origin and b"localhost" not in origin.lower() and b"[::1]" not in origin:
            assert guard.refusal([here, (b"origin", origin), (b"authorization", right)])


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_a_session(
    version: str,
    serve: Callable[..., Any],
    configure: Callable[..., Path],
    greeted: Callable[[ClientSession, str], Awaitable[None]],
    tmp_path: Path,
) -> None:
    server = serve(LESSONBOOK_MCP_TOKEN=OWN)
    assert OWN not in server.said and "what LESSONBOOK_MCP_TOKEN holds" in server.said
    heard = anyio.Event()
    root = tmp_path / "root"
    root.mkdir()

    async def message(told: object) -> None:
        if isinstance(told, types.ToolListChangedNotification):
            heard.set()

    async def roots(context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri())])

    async def main() -> None:
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {OWN}"}, timeout=60)
        async with (
            client,
            streamable_http_client(server.url, http_client=client) as streams,
            ClientSession(*streams, message_handler=message, list_roots_callback=roots) as session,
        ):
            with anyio.fail_after(60):
                await greeted(session, version)
                assert "learn" not in [tool.name for tool in (await session.list_tools()).tools]
                configure(ON)
                if version < "2026":
                    await heard.wait()
                assert "learn" in [tool.name for tool in (await session.list_tools()).tools]
                for number in range(2):
                    told = await session.call_tool(
                        "learn", {"memory": "Long. " + "é" * 900_000}, allow_input_required=True
                    )
                    if isinstance(told, types.InputRequiredResult):
                        answers = {"roots": await roots(None)}
                        told = await session.call_tool("learn", {"memory": "Long. "}, input_responses=answers)
                    assert isinstance(told, types.CallToolResult) and not told.is_error, number
                found = await session.call_tool("lessons", {}, allow_input_required=True)
                if isinstance(found, types.InputRequiredResult):
                    found = await session.call_tool("lessons", {}, input_responses={"roots": await roots(None)})
                assert isinstance(found, types.CallToolResult)
                assert found.structured_content["lessons"][0]["bank"].startswith("root-")

    anyio.run(main)
    code, out, err = server.stop(signal.SIGINT)
    assert (code, out) == (130, b"") and b"Traceback" not in err


def test_it_ends_in_time_with_a_call_that_hangs_and_a_client_that_listens(
    serve: Callable[..., Any], configure: Callable[..., Path], lock: Callable[..., Any]
) -> None:
    configure(ON)
    server = serve(LESSONBOOK_MCP_TOKEN=OWN)
    headers = {
        "Authorization": f"Bearer {OWN}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "0"}}

    def message(id: int, method: str, params: dict[str, Any]) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    with httpx2.Client(headers=headers, timeout=60) as client:
        told = client.post(server.url, content=message(1, "initialize", who))
        session = {"mcp-session-id": told.headers["mcp-session-id"]}
        client.post(
            server.url, content=json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), headers=session
        )
        call = {"name": "remember", "arguments": {"text": "First."}}
        client.post(server.url, content=message(2, "tools/call", call), headers=session)
        lock()
        with (
            client.stream("GET", server.url, headers=session),
            client.stream("POST", server.url, content=message(3, "tools/call", call), headers=session),
        ):
            time.sleep(0.5)
            start = time.monotonic()
            code, out, _ = server.stop()
            assert time.monotonic() - start < GRACE + MARGIN
            assert (code, out) == (0, b"")


@pytest.mark.parametrize(
    ("words", "more", "sentence", "code"),
    [
        (["--http", "--host", "0.0.0.0"], {}, "would be every address of this machine", 2),
        (["--http", "--host", "::", "--allow-remote"], {}, "would be every address of this machine", 2),
        (["--http", "--host", "192.0.2.1"], {}, "can be reached from other machines", 2),
        (["--http", "--host", "192.0.2.1", "--allow-remote"], {}, "cannot be listened at", 2),
        (["--http", "--host", "no.such.host.invalid"], {}, "is no address of this machine", 2),
        (["--http", "--port", "70000"], {}, "--port must be from 0 to 65535", 2),
        (["--http"], {"LESSONBOOK_MCP_TOKEN": "short"}, "LESSONBOOK_MCP_TOKEN must hold at least 16", 4),
        (["--http"], {"LESSONBOOK_MCP_TOKEN": "with spaces in the token"}, "without spaces", 4),
        (["--port", "1"], {}, "--port belongs to `lessonbook mcp --http`", 2),
        (["--host", "127.0.0.1"], {}, "--host belongs to `lessonbook mcp --http`", 2),
        (["--allow-remote"], {}, "--allow-remote belongs to `lessonbook mcp --http`", 2),
    ],
)
def test_what_is_refused_at_the_start(
    words: list[str], more: dict[str, str], sentence: str, code: int, run: Callable[..., Any]
) -> None:
    done = run("mcp", *words, env=more)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert sentence in done.stderr and all(token not in done.stderr for token in more.values())


def test_a_port_that_is_taken_is_said(run: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("mcp", "--http", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2 and "cannot be listened at: address already in use; try --port 0." in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="needs IPv6")  # noqa: PTH110
def test_the_other_loopback(serve: Callable[..., Any]) -> None:
    server = serve("--host", "::1")
    with httpx2.Client(headers={"Authorization": f"Bearer {server.token}"}, timeout=60) as client:
        assert client.get(server.url).status_code not in (401, 421)
        assert client.get(server.url, headers={"Authorization": "Bearer x"}).status_code == 401
