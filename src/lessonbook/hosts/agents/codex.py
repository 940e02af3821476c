"""Codex CLI: the server in ``config.toml``, hooks in ``hooks.json``. It skips a hook that nobody approved, in silence.

The approval is the person's, given with ``/hooks`` inside Codex; it is bound to the command's text and to the hook's
place in the file, so hooks are only ever added behind those that are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.hosts.agents.agent import (
    PROMPT,
    SESSION_END,
    SESSION_START,
    STOP,
    Agent,
    Dialect,
    go_on,
    nested,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.actions.setup_entries import Entry, Wanted, Where
    from lessonbook.hosts.agents.agent import Data

EVENTS = {SESSION_START: "SessionStart", PROMPT: "UserPromptSubmit", STOP: "Stop", SESSION_END: "SessionEnd"}
_STATES = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
_APPROVE = "start codex, type /hooks and approve it"
_ASK_SECONDS = 20.0


def folder(where: Where) -> Path:
    """Return its configuration folder."""
    return where.moved("CODEX_HOME", ".codex")


def entries(where: Where, wanted: Wanted) -> list[Entry]:
    """Return our server and our hooks."""
    from lessonbook.hosts.agents import shapes

    server = shapes.server(folder(where) / "config.toml", wanted, top="mcp_servers", form="toml")
    return [server, *shapes.grouped(folder(where) / "hooks.json", EVENTS, wanted, "codex")]


def doubts(where: Where, ask: bool) -> Iterator[str]:
    """Say which hooks of ours nobody approved yet, and where hooks are switched off."""
    from lessonbook.hosts.agents.looking import inside, table

    config = table(folder(where) / "config.toml", "toml")
    if inside(config, "features", "hooks") is False:
        yield "features.hooks is false in its config.toml, so Codex runs no hook at all"
        return
    known = _asked(where) if ask else None
    for event, number in _ours(where):
        key = f"{folder(where) / 'hooks.json'}:{_STATES[event]}:{number}:0"
        if known is not None and known.get(key) in ("trusted", "managed"):
            continue
        if known is None and inside(config, "hooks", "state", key, "trusted_hash"):
            continue
        changed = known is not None and known.get(key) == "modified"
        why = "it changed since you approved it" if changed else "you have not approved it"
        yield f"Codex skips our {event} hook without a word: {why}; {_APPROVE}"


def _ours(where: Where) -> Iterator[tuple[str, int]]:
    """Yield the event of each hook of ours and its number in the list of that event."""
    from lessonbook.actions.setup_entries import marked
    from lessonbook.hosts.agents.looking import inside, table

    hooks = table(folder(where) / "hooks.json", "json")
    for event, theirs in EVENTS.items():
        groups = inside(hooks, "hooks", theirs)
        for number, group in enumerate(groups if isinstance(groups, list) else []):
            if marked(group, f"hook {event} --agent codex"):
                yield theirs, number


def _asked(where: Where) -> dict[str, Any] | None:
    """Ask Codex itself what it trusts; ``None`` where it cannot be asked."""
    from lessonbook.core.errors import SetupError
    from lessonbook.system.conversation import Conversation

    program = where.search("codex")
    if program is None:
        return None
    try:
        with Conversation([program, "app-server"], seconds=_ASK_SECONDS, folder=where.home, env=where.env) as talk:
            talk.ask("initialize", {"clientInfo": {"name": "lessonbook", "version": "1"}})
            talk.tell("initialized")
            told = talk.ask("hooks/list", {"cwds": [str(where.home)]})
        rows = [hook for row in told["data"] for hook in row["hooks"]]
        return {hook["key"]: hook["trustStatus"] for hook in rows}
    except (SetupError, KeyError, TypeError):  # an older Codex has no such question
        return None


def answer(event: str, text: str) -> Data:
    """Return the hook's answer; any member Codex does not know makes it refuse the whole."""
    return go_on(text) if event == STOP else nested(EVENTS[event], text)


AGENT = Agent(
    name="codex",
    title="Codex",
    programs=("codex",),
    folder=folder,
    entries=entries,
    dialect=Dialect(
        EVENTS,
        answer,
        turn=rb'"type"\s*:\s*"(?:user_message|UserMessage|turn_aborted)"',
        call=rb'"type"\s*:\s*"(?:function_call|local_shell_call|custom_tool_call|web_search_call)"',
    ),
    skills=lambda where: None,
    headless=("codex", "exec", "--json", "--skip-git-repo-check"),
    doubts=doubts,
    todo="Codex runs a hook only after you approved it: start codex, type /hooks and approve each.",
    config="CODEX_HOME",
)
