"""GitHub Copilot CLI: servers in ``mcp-config.json``, and a file of hooks that is ours alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from lessonbook.hosts.agents.agent import PROMPT, SECONDS, SESSION_END, SESSION_START, STOP, Agent, Dialect, go_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Entry, Wanted, Where
    from lessonbook.hosts.agents.agent import Data

EVENTS = {SESSION_START: "sessionStart", PROMPT: "userPromptSubmitted", STOP: "agentStop", SESSION_END: "sessionEnd"}


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("COPILOT_HOME", ".copilot")


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our file of hooks."""
    from lessonbook.actions.setup_entries import Entry
    from lessonbook.hosts.agents import shapes

    hooks = {
        theirs: [{"type": "command", "bash": wanted.hook(event, "copilot"), "timeoutSec": SECONDS[event]}]
        for event, theirs in shapes.wanted_events(EVENTS, wanted)
    }
    text = json.dumps({"version": 1, "hooks": hooks}, indent=2, ensure_ascii=False) + "\n"
    path = folder(where) / "hooks" / "lessonbook.json"
    server = shapes.server(folder(where) / "mcp-config.json", wanted, type="local", tools=["*"])
    return [server, Entry(path, "text", "hooks", text, mark="--agent copilot")]


def doubts(where: Where, ask: bool) -> Iterator[str]:
    """Say where its settings switch every hook off."""
    from lessonbook.hosts.agents.looking import table

    for name in ("settings.json", "config.json"):
        if table(folder(where) / name, "json").get("disableAllHooks") is True:
            yield f"disableAllHooks is on in its {name}, so Copilot CLI runs no hook at all"


def answer(event: str, text: str) -> Data:
    """Return the hook's answer; nested as in Claude Code it would be ignored."""
    return go_on(text) if event == STOP else {"additionalContext": text}


def quiet(data: Data) -> bool:
    """Whether a stop is ours, or the end of a turn that was broken off or failed."""
    ended = data.get("stopReason") or data.get("stop_reason")
    return bool(data.get("stop_hook_active")) or ended in ("abort", "aborted", "cancelled", "error", "user_abort")


AGENT = Agent(
    name="copilot",
    title="Copilot CLI",
    programs=("copilot",),
    folder=folder,
    entries=entries,
    dialect=Dialect(
        EVENTS,
        answer,
        session="sessionId",
        transcript="transcriptPath",
        quiet=quiet,
        told_early=True,
        turn=rb'"type"\s*:\s*"user\.message"',
        call=rb'"type"\s*:\s*"tool\.execution_start"',
        sample={"timestamp": 1_700_000_000_000},
    ),
    skills=lambda where: None,
    headless=("copilot", "--output-format", "json", "-p"),
    doubts=doubts,
    config="COPILOT_HOME",
)
