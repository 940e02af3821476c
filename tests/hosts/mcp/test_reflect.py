"""``reflect``: a tool only where the memory has a server that answers in its own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, types
from tests.hosts.mcp.conftest import Talk
from tests.memory.hindsight.conftest import Server, Stub

HINDSIGHT = '[memory]\nbackend = "hindsight"\n[hindsight]\nurl = "{}"\nreflect_seconds = 2\n'


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def server(stub: Stub) -> Iterator[Server]:
    made = Server(stub)
    yield made
    made.end()


async def _asked(session: ClientSession, query: str) -> types.CallToolResult:
    told = await session.call_tool("reflect", {"query": query})
    assert isinstance(told, types.CallToolResult)
    return told


def _text(told: types.CallToolResult) -> str:
    assert isinstance(told.content[0], types.TextContent)
    return told.content[0].text


def test_it_asks_the_server(talk: Talk, configure: Callable[..., Path], server: Server, stub: Stub) -> None:
    configure(HINDSIGHT.format(server.url))
    secret = "ghp_" + "a1B2" * 9

    async def say(session: ClientSession) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        hints = tools["reflect"].annotations
        assert hints is not None and hints.read_only_hint and hints.open_world_hint
        told = await _asked(session, "releases")
        assert not told.is_error and told.structured_content is not None
        assert told.structured_content["text"] == "About releases" and "not instructions" in _text(told)
        leaked = await _asked(session, f"what is {secret}?")
        assert secret not in _text(leaked)
        stub.always = {"status": 500}
        told = await _asked(session, "releases")
        assert told.is_error and "500" in _text(told)
        assert (await _asked(session, " ")).is_error

    talk(say)
    assert secret not in str(stub.requests)


@pytest.mark.parametrize("text", ['[memory]\nbackend = "mnemopi"\n', '[memory]\nbackend = "hindsight"\n', ""])
def test_elsewhere_there_is_no_such_tool(text: str, talk: Talk, configure: Callable[..., Any]) -> None:
    configure(text)

    async def say(session: ClientSession) -> None:
        assert "reflect" not in [tool.name for tool in (await session.list_tools()).tools]

    talk(say)
