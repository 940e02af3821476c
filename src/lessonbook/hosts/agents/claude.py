"""Claude Code: servers in ``.claude.json``, hooks in ``settings.json``. It runs hooks of the person's files unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.hosts.agents.agent import PROMPT, SESSION_END, SESSION_START, STOP, Agent, Dialect, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where
    from lessonbook.hosts.agents.agent import Data

EVENTS = {SESSION_START: "SessionStart", PROMPT: "UserPromptSubmit", STOP: "Stop", SESSION_END: "SessionEnd"}


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("CLAUDE_CONFIG_DIR", ".claude")


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our hooks."""
    from lessonbook.hosts.agents import shapes

    moved = where.env.get("CLAUDE_CONFIG_DIR", "").startswith("/")
    servers = folder(where) / ".claude.json" if moved else where.home / ".claude.json"
    hooks = shapes.grouped(folder(where) / "settings.json", EVENTS, wanted, "claude")
    return [shapes.server(servers, wanted, type="stdio"), *hooks]


def doubts(where: Where, ask: bool) -> Iterator[str]:
    """Say where its settings switch every hook off."""
    from lessonbook.hosts.agents.looking import table

    for name in ("settings.json", "settings.local.json"):
        if table(folder(where) / name, "json").get("disableAllHooks") is True:
            yield f"disableAllHooks is on in {folder(where) / name}, so Claude Code runs no hook at all"


def answer(event: str, text: str) -> Data:
    """Return the hook's answer; at a stop, context makes it answer once more."""
    return nested(EVENTS[event], text)


def quiet(data: Data) -> bool:
    """Whether a stop follows one of ours, or comes while a plan is made."""
    return bool(data.get("stop_hook_active")) or data.get("permission_mode") == "plan"


AGENT = Agent(
    name="claude",
    title="Claude Code",
    programs=("claude",),
    folder=folder,
    entries=entries,
    dialect=Dialect(
        EVENTS,
        answer,
        quiet=quiet,
        turn=rb'"type"\s*:\s*"user"',
        no_turn=rb'"type"\s*:\s*"tool_result"|"(?:isMeta|isSidechain)"\s*:\s*true',
        call=rb'"type"\s*:\s*"tool_use"',
    ),
    skills=lambda where: folder(where) / "skills",
    headless=("claude", "-p", "--output-format", "stream-json", "--verbose"),
    doubts=doubts,
    config="CLAUDE_CONFIG_DIR",
)
