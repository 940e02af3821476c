"""The shapes of entries that several agents share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lessonbook.actions.setup_entries import Entry, Wanted
from lessonbook.hosts.agents.agent import EVENTS, NAME, PROMPT, SECONDS, SERVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MATCHERS = {"SessionStart": "startup|resume|clear|compact"}


def server(path: Path, wanted: Wanted, *, top: str = "mcpServers", form: str = "json", **more: Any) -> Entry:
    """Return the entry of our server, as most agents take it: the program, its arguments, and ``more``."""
    program, *arguments = wanted.server
    value = {**more, "command": program, "args": arguments, **({"env": dict(wanted.env)} if wanted.env else {})}
    return Entry(path, form, SERVER, value, (top, NAME))


def hook_entry(path: Path, event: str, keys: tuple[str, ...], value: Any, agent: str, **more: Any) -> Entry:
    """Return the entry of one hook in a list of hooks; ``form`` is JSON unless ``more`` says otherwise."""
    mark = f"hook {event} --agent {agent}"
    return Entry(path, more.pop("form", "json"), event, value, keys, item=True, mark=mark, **more)


def wanted_events(events: Mapping[str, str], wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield our name and the agent's of each event that shall be answered."""
    for event in EVENTS:
        if event in events and (event != PROMPT or wanted.prompt):
            yield event, events[event]


def grouped(
    path: Path,
    events: Mapping[str, str],
    wanted: Wanted,
    agent: str,
    *,
    matchers: Mapping[str, str] = MATCHERS,
    unit: int = 1,
    **more: Any,
) -> list[Entry]:
    """Return the hooks in the shape Claude Code made common: groups with a matcher, each with a list of commands.

    ``unit`` is how many of the agent's units of time one second is; ``more`` goes into every command.
    """
    entries = []
    for event, theirs in wanted_events(events, wanted):
        command = {**more, "type": "command", "command": wanted.hook(event, agent), "timeout": SECONDS[event] * unit}
        matcher = {"matcher": matchers[theirs]} if theirs in matchers else {}
        entries.append(hook_entry(path, event, ("hooks", theirs), {**matcher, "hooks": [command]}, agent))
    return entries
