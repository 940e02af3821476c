"""What is known of one coding agent: its files, its hooks and how they are worded, its skills, how it runs alone.

Facts are from the vendors' pages and from runs of the versions that ``docs/agents.md`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.actions.setup_entries import Entry, Wanted, Where

    Data = Mapping[str, Any]

SESSION_START, PROMPT, STOP, SESSION_END = "session-start", "prompt", "stop", "session-end"
EVENTS = (SESSION_START, PROMPT, STOP, SESSION_END)
"""What every agent's hooks are called here."""
SECONDS = {SESSION_START: 10, PROMPT: 5, STOP: 10, SESSION_END: 5}
"""How long an agent is asked to wait for each; we end well before that ourselves."""
SERVER = "MCP server"
NAME = "lessonbook"
"""What our entry is called in every agent's list of servers."""


def no_doubts(where: Where, ask: bool) -> Iterable[str]:
    """Say nothing: this agent runs what its files name without asking."""
    return ()


def nested(event: str, text: str) -> Data:
    """Return the answer that Claude Code, Codex and Gemini CLI take at a session's start and at a prompt."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def go_on(text: str) -> Data:
    """Return the answer that makes most agents work on instead of stopping."""
    return {"decision": "block", "reason": text}


class Dialect(Value):
    """How one agent words its hooks."""

    events: Mapping[str, str]
    """What it calls each of our events; one that is not here it does not have."""
    answer: Callable[[str, str], Data]
    """Returns what it wants to read, for one of our events and the text to hand it."""
    session: str = "session_id"
    transcript: str = "transcript_path"
    prompt: str = "prompt"
    asked: Callable[[Data], Any] = lambda data: data.get("prompt")
    """Returns what the person typed, of a prompt's data."""
    cwd: Callable[[Data], Any] = lambda data: data.get("cwd")
    quiet: Callable[[Data], bool] = lambda data: bool(data.get("stop_hook_active"))
    """Whether a stop is one that we caused ourselves, or the end of a turn that somebody broke off."""
    once: bool = False
    """Whether ``session-start`` is asked before every turn, so that it has to remember it has answered."""
    told_early: bool = False
    """Whether its stops say where its transcript is, and the end of its session does not."""
    turn: bytes = b""
    """A pattern that finds the lines of its transcript with which a person's turn begins."""
    no_turn: bytes = b""
    """And one for those among them with which none does."""
    call: bytes = b""
    """And one for each call of a tool."""
    count: str = ""
    """The field of a stop that holds the number of calls, where the agent tells it itself."""
    sample: Mapping[str, Any] = {}
    """What it writes on the standard input of every hook besides our own fields, to try a hook out."""


class Agent(Value):
    """One coding agent."""

    name: str
    title: str
    programs: tuple[str, ...]
    folder: Callable[[Where], Path]
    """Its configuration folder: where it is there, so is the agent."""
    entries: Callable[[Where, Wanted], Sequence[Entry]]
    dialect: Dialect | None
    skills: Callable[[Where], Path | None]
    """The folder of skills it alone reads; ``None`` where ``~/.agents/skills`` is one it reads."""
    headless: tuple[str, ...]
    """The command that runs one prompt without a person, the prompt as its last word."""
    budget: int = 8_000
    """How many characters of skill names and descriptions it lists before it cuts some."""
    follows: bool = True
    """Whether it finds a skill whose folder is a link; else skills are copied into its folder."""
    doubts: Callable[[Where, bool], Iterable[str]] = no_doubts
    """Returns what keeps hooks of ours from running, such as an approval only the person can give.

    The flag says whether the agent's own program may be started to find out.
    """
    todo: str = ""
    """What the person has to do after set-up, if anything."""
    config: str = ""
    """The environment variable that moves its folder."""

    def said(self, event: str, data: Data) -> Data:
        """Return what this agent sends for ``event``, with the fields of ``data`` under its own names."""
        dialect = self.dialect
        if dialect is None:
            return {}
        named = {
            dialect.session: data.get("session"),
            dialect.transcript: data.get("transcript"),
            "cwd": data.get("cwd"),
            "hook_event_name": dialect.events[event],
            **dialect.sample,
        }
        extra: dict[str, dict[str, Any]] = {
            SESSION_START: {"source": "startup"},
            PROMPT: {dialect.prompt: data.get("prompt")},
            STOP: {"stop_hook_active": False},
            SESSION_END: {"reason": "other"},
        }
        return {**named, **extra[event]}
