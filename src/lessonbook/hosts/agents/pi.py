"""pi: servers in ``mcp.json`` (from 1.0 on; older ones read none); it has an extension where others have hooks."""

from __future__ import annotations

from pathlib import Path

from lessonbook.hosts.agents import extensions
from lessonbook.hosts.agents.agent import Agent, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where

_ABOUT = "Lessons of earlier sessions: recall them before work, and record what will matter again."
_DECLARED = dict.fromkeys(("learn", "recall", "remember", "read_skill"), "direct")
"""Tools its model is to see; it would not be told of any by name, and pi waits for a server that has such tools."""


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("PI_CODING_AGENT_DIR", ".pi/agent")


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our extension."""
    from lessonbook.actions.setup_entries import Entry
    from lessonbook.hosts.agents import shapes

    text = extensions.program(extensions.PI, "pi", wanted)
    return [
        shapes.server(folder(where) / "mcp.json", wanted, description=_ABOUT, toolExposure=_DECLARED),
        Entry(folder(where) / "extensions" / "lessonbook.ts", "text", "extension", text, mark=extensions.mark("pi")),
    ]


AGENT = Agent(
    name="pi",
    title="pi",
    programs=("pi",),
    folder=folder,
    entries=entries,
    dialect=Dialect(extensions.EVENTS, extensions.answer, quiet=extensions.quiet, count="tool_calls"),
    skills=lambda where: None,
    headless=("pi", "-p", "--mode", "json"),
    config="PI_CODING_AGENT_DIR",
)
