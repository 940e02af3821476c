"""Cursor: servers in ``mcp.json``, hooks in ``hooks.json``. It takes no text at a prompt, so there is no hook for it.

From the vendor's pages and other people's adapters only: it could not be run where this was written.
"""

from __future__ import annotations

from pathlib import Path

from lessonbook.hosts.agents.agent import SECONDS, SESSION_END, SESSION_START, STOP, Agent, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.actions.setup_entries import Entry, Wanted, Where
    from lessonbook.hosts.agents.agent import Data

EVENTS = {SESSION_START: "sessionStart", STOP: "stop", SESSION_END: "sessionEnd"}


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.home / ".cursor"


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our hooks."""
    from lessonbook.hosts.agents import shapes

    path = folder(where) / "hooks.json"
    found = [shapes.server(folder(where) / "mcp.json", wanted)]
    for event, theirs in shapes.wanted_events(EVENTS, wanted):
        value: dict[str, Any] = {"command": wanted.hook(event, "cursor"), "timeout": SECONDS[event]}
        value |= {"loop_limit": 1} if event == STOP else {}
        fixed = ((("version",), 1),)
        found.append(shapes.hook_entry(path, event, ("hooks", theirs), value, "cursor", fixed=fixed))
    return found


def answer(event: str, text: str) -> Data:
    """Return the hook's answer."""
    return {"followup_message": text} if event == STOP else {"additional_context": text}


def quiet(data: Data) -> bool:
    """Whether a stop follows one of ours, or was no regular end."""
    return bool(data.get("loop_count")) or data.get("status") not in (None, "completed")


def cwd(data: Data) -> Any:
    """Return the first of the folders it has open."""
    roots = data.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots else data.get("cwd")


AGENT = Agent(
    name="cursor",
    title="Cursor",
    programs=("cursor-agent", "cursor"),
    folder=folder,
    entries=entries,
    dialect=Dialect(
        EVENTS,
        answer,
        session="conversation_id",
        cwd=cwd,
        quiet=quiet,
        turn=rb'"role"\s*:\s*"user"',
        no_turn=rb'"type"\s*:\s*"tool_result"',
        call=rb'"type"\s*:\s*"tool_use"',
        sample={"cursor_version": "2026.07.17", "generation_id": "g"},
    ),
    skills=lambda where: folder(where) / "skills",
    follows=False,  # reported for its editor, its command line and its library, in several versions
    headless=("cursor-agent", "--output-format", "json", "-p"),
)
