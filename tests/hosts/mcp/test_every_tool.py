"""Every tool by the official client, over both ways the server is reached; what it answers is the same over both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jsonschema
import pytest
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

from lessonbook.book.offer import Offer, offer

Greeted = Callable[[ClientSession, str], Awaitable[None]]
ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
TOOLS = ["learn", "recall", "remember", "lessons", "read_skill", "manage_skill", "memory_edit", "pending", "diff"]
SKILL = {"name": "release-check", "description": "Before a release.", "body": "Read VERSION."}


class Client:
    """Calls tools, holds each answer against the schema the tool announced, and remembers which were called."""

    def __init__(self, session: ClientSession, tools: dict[str, types.Tool]) -> None:
        self.session, self.tools, self.called = session, tools, set[str]()

    async def call(self, name: str, is_error: bool = False, /, **arguments: Any) -> tuple[str, Any]:
        self.called.add(name)
        told = await self.session.call_tool(name, arguments)
        assert isinstance(told, types.CallToolResult) and isinstance(told.content[0], types.TextContent)
        assert told.is_error == is_error, told.content[0].text
        if not is_error:
            jsonschema.validate(told.structured_content, self.tools[name].output_schema)
        return told.content[0].text, told.structured_content or {}


async def every_tool(session: ClientSession, candidate: str) -> None:
    """Call every tool there is, at least once so that it does something and once so that it cannot."""
    client = Client(session, {tool.name: tool for tool in (await session.list_tools()).tools})
    assert list(client.tools) == TOOLS
    call = client.call
    assert (await call("learn", memory="Run make test, not pytest."))[0] == "Lesson stored."
    told, data = await call("learn", memory="Check first.", skill={"action": "create", **SKILL})
    assert told.endswith('Created managed skill "release-check".') and data["skill"] == "release-check"
    assert "Nothing was stored." in (await call("learn", True, memory=["a"]))[0]
    _, data = await call("recall", query="make test", limit=1)
    assert [row["text"] for row in data["lessons"]] == ["Run make test, not pytest."]
    assert "limit" in (await call("recall", True, query="x", limit=51))[0]
    _, data = await call("remember", text="The port is 8080.", key="port", tags=["net"])
    port = data["id"]
    assert "confidence" in (await call("remember", True, text="x", confidence=7))[0]
    _, data = await call("lessons", limit=1)
    assert [row["id"] for row in data["lessons"]] == [port]
    assert "limit" in (await call("lessons", True, limit=0))[0]
    assert "Read VERSION." in (await call("read_skill", name="release-check"))[0]
    assert "There is no skill" in (await call("read_skill", True, name="none"))[0]
    assert (await call("manage_skill", action="update", **SKILL))[0] == 'Updated managed skill "release-check".'
    assert "exists" in (await call("manage_skill", True, action="create", **SKILL))[0]
    assert (await call("manage_skill", action="delete", name="release-check"))[0].startswith("Deleted")
    _, data = await call("memory_edit", action="update", lesson=port, changes={"text": "The port is 9090."})
    assert data["lesson"]["text"] == "The port is 9090."
    assert (await call("memory_edit", action="undo", lesson=port))[1]["lesson"]["text"] == "The port is 8080."
    await call("memory_edit", True, action="get", lesson="none")
    _, data = await call("pending")
    assert [row["id"] for row in data["pending"]] == [candidate]
    await call("pending", True, book="none")
    told, data = await call("diff", id=candidate)
    assert "+Rule one." in told and data["id"] == candidate
    assert "is not the id" in (await call("diff", True, id="--help"))[0]
    assert client.called == set(TOOLS)


@pytest.fixture
def candidate(home: Path, configure: Callable[..., Path]) -> str:
    configure(ON)
    rows = [Offer("Lesson one", rule="Rule one.")]
    (id,) = offer(home / ".config" / "lessonbook" / "learned", rows, 1_798_675_200, iter(["aaaaaa"]).__next__)
    return id


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2026-07-28"])
def test_over_standard_input_and_output(version: str, talk: Callable[..., None], candidate: str) -> None:
    done = []

    async def say(session: ClientSession) -> None:
        await every_tool(session, candidate)
        done.append(version)

    talk(say, version=version)
    assert done == [version], "the server was spoken to until the end"


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2026-07-28"])
def test_over_http(version: str, serve: Callable[..., Any], greeted: Greeted, candidate: str) -> None:
    server = serve()

    async def main() -> None:
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {server.token}"}, timeout=60)
        async with (
            client,
            streamable_http_client(server.url, http_client=client) as streams,
            ClientSession(*streams) as session,
        ):
            with anyio.fail_after(60):
                await greeted(session, version)
                await every_tool(session, candidate)

    anyio.run(main)
    code, out, err = server.stop()
    assert (code, out) == (0, b"") and b"Traceback" not in err
