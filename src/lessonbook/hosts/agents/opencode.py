"""opencode: servers in ``opencode.json`` or ``opencode.jsonc``; it has a plugin where others have hooks."""

from __future__ import annotations

from pathlib import Path

from lessonbook.hosts.agents import extensions
from lessonbook.hosts.agents.agent import NAME, SERVER, Agent, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where

_FILES = ("opencode.jsonc", "opencode.json", "config.json")


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("XDG_CONFIG_HOME", ".config") / "opencode"


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server, in the configuration file that is there, and our plugin."""
    from lessonbook.actions.setup_entries import Entry

    own = folder(where)
    named = where.env.get("OPENCODE_CONFIG", "")
    there = (own / name for name in _FILES if (own / name).is_file())
    path = Path(named) if named.startswith("/") else next(there, own / "opencode.json")
    server = {"type": "local", "command": list(wanted.server), "enabled": True}
    server |= {"environment": dict(wanted.env)} if wanted.env else {}
    plugin = extensions.program(extensions.OPENCODE, "opencode", wanted)
    return [
        Entry(path, "json", SERVER, server, ("mcp", NAME)),
        Entry(own / "plugins" / "lessonbook.js", "text", "plugin", plugin, mark=extensions.mark("opencode")),
    ]


AGENT = Agent(
    name="opencode",
    title="opencode",
    programs=("opencode",),
    folder=folder,
    entries=entries,
    dialect=Dialect(extensions.EVENTS, extensions.answer, quiet=extensions.quiet, count="tool_calls"),
    skills=lambda where: None,
    headless=("opencode", "run", "--format", "json"),
    todo="opencode installs a package of its own when a plugin is there; without a network its start then waits long.",
    config="XDG_CONFIG_HOME",
)
