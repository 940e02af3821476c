"""What an agent waits for: from starting ``lessonbook mcp`` to its tools, beside an empty server of the same SDK."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.table import Row, in_turns

TIMES = 11
CALLS = 200
AT_MOST = 1.3
BARE = "an empty server of the same SDK"
CONFIG = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
SCRIPT = Path(sys.executable).with_name("lessonbook")
OURS = [str(SCRIPT), "mcp"] if SCRIPT.exists() else [sys.executable, "-m", "lessonbook", "mcp"]
EMPTY = [sys.executable, "-c"]
SERVER = """
import asyncio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
import mcp_types as types

async def tools(ctx, params):
    return types.ListToolsResult(tools=[])

async def call(ctx, params):
    return types.CallToolResult(content=[types.TextContent(text="nothing")])

async def main():
    server = Server("empty", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())

asyncio.run(main())
"""
WHO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


def run() -> list[Row]:
    """Measure both as an agent starts them, in a home that has a memory."""
    if find_spec("mcp") is None:
        return [Row("lessonbook mcp", skipped="the extra mcp is not installed")]
    with tempfile.TemporaryDirectory() as place:
        config = Path(place) / ".config" / "lessonbook" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(CONFIG)
        gone = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LESSONBOOK_CONFIG", "PYTHONDONTWRITEBYTECODE")
        env = {**{key: value for key, value in os.environ.items() if key not in gone}, "HOME": place}
        empty = [*EMPTY, SERVER]
        wrong = _wrong(env, Path(place))
        ours, bare = in_turns(TIMES, partial(_start, OURS, env, place), partial(_start, empty, env, place))
        note = f"mcp {version('mcp')}; most of the rest is {_slowest(env, Path(place))}"
        rows = [Row("start to the list of tools", ours, BARE, bare, at_most=AT_MOST, note=note, checks=wrong)]
        ours, bare = in_turns(3, partial(_call, OURS, env, place), partial(_call, empty, env, place))
        rows.append(Row("one recall in a running server", ours, f"a call of {BARE}", bare))
        return rows


class _Server:
    """A server that is spoken with by hand, as cheaply as can be."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: str) -> None:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=env, cwd=cwd, **pipes)

    def __enter__(self) -> _Server:
        self.send({"id": 1, "method": "initialize", "params": WHO})
        self.send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def send(self, message: dict[str, Any]) -> None:
        """Write one line."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, id: int) -> dict[str, Any]:
        """Return the result of ``id``."""
        assert self.process.stdout
        for line in self.process.stdout:
            told: dict[str, Any] = json.loads(line)
            if told.get("id") == id:
                found: dict[str, Any] = told["result"]
                return found
        raise RuntimeError("it ended without an answer")


def _start(command: list[str], env: dict[str, str], cwd: str) -> float:
    start = time.perf_counter()
    with _Server(command, env, cwd) as server:
        server.send({"id": 2, "method": "tools/list"})
        server.answer(2)
        return time.perf_counter() - start


def _call(command: list[str], env: dict[str, str], cwd: str) -> float:
    asked = {"method": "tools/call", "params": {"name": "recall", "arguments": {"query": "nothing of the kind"}}}
    with _Server(command, env, cwd) as server:
        for id in range(2, CALLS + 3):  # the first loads what a call needs
            if id == 3:
                start = time.perf_counter()
            server.send({"id": id, **asked})
            server.answer(id)
        return (time.perf_counter() - start) / CALLS


def _wrong(env: dict[str, str], cwd: Path) -> list[str]:
    """Say what is wrong with the list that is measured."""
    with _Server(OURS, env, str(cwd)) as server:
        server.send({"id": 2, "method": "tools/list"})
        names = [tool["name"] for tool in server.answer(2)["tools"]]
    return [] if {"learn", "recall", "diff"} <= set(names) else [f"the tools are {', '.join(names)}"]


def _slowest(env: dict[str, str], cwd: Path) -> str:
    """Return which of our own modules take longest to load, from ``-X importtime``, without what they bring along."""
    code = "import lessonbook.hosts.mcp.server, lessonbook.hosts.mcp.starting, lessonbook.actions.learn"
    command = [sys.executable, "-X", "importtime", "-c", code]
    said = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=True).stderr
    times = re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", said)
    own = [(int(took), name) for took, name in times if name.startswith("lessonbook")]
    rest = sum(took for took, _ in own) / 1e3
    named = ", ".join(
        f"{name.removeprefix('lessonbook.')} {took / 1e3:.1f} ms" for took, name in sorted(own)[-3:][::-1]
    )
    return f"our own {len(own)} modules, {rest:.0f} ms ({named})"
