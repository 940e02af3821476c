"""What every agent's transcript becomes: sessions of turns of calls.

The shape is the common record of all the agents we read; a reader fills what its format records and leaves the rest
``None``. Times are epoch seconds. All text is data from a transcript, never an instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lessonbook.core.cursor import Resume


class CallKind(StrEnum):
    """What a tool does, whatever an agent calls it."""

    SHELL = "shell"
    READ = "read"
    SEARCH = "search"
    LIST = "list"
    EDIT = "edit"
    WRITE = "write"
    WEB = "web"
    TASK = "task"
    ASK = "ask"
    SKILL = "skill"
    MCP = "mcp"
    OTHER = "other"


class CallStatus(StrEnum):
    """How a call ended. ``DENIED``: a person refused. ``BLOCKED``: a rule, hook, policy or sandbox did."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"
    UNFINISHED = "unfinished"


class TurnState(StrEnum):
    """How a turn ended."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. ``input`` counts all prompt tokens, cached ones included."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: its name and arguments as sent, and how it ended."""

    id: str
    name: str
    kind: CallKind
    status: CallStatus
    args: Mapping[str, Any] = field(default_factory=dict)
    args_raw: str | None = None
    """The arguments as text where they did not parse as an object; else ``None``."""
    command: str | None = None
    """For ``SHELL``: the script as a person would type it, unwrapped from ``bash -lc``."""
    result: str = ""
    exit_code: int | None = None
    secs: float | None = None
    deny_reason: str | None = None
    """What the person said when refusing, where they said something."""
    at: float | None = None
    by_subagent: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One request of a person and all that was done for it, in order."""

    n: int
    prompt: str
    """What the person typed; empty where a transcript starts in the middle of a turn."""
    calls: tuple[Call, ...] = ()
    reply: str = ""
    started: float | None = None
    ended: float | None = None
    state: TurnState = TurnState.COMPLETE
    steered: tuple[str, ...] = ()
    """What the person typed while the agent was working on this turn."""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation with one agent. ``path`` is the transcript's file, so that a person can open it."""

    agent: str
    id: str
    path: str
    turns: tuple[Turn, ...] = ()
    cwd: str | None = None
    repo: str | None = None
    """The repository's remote address, credentials removed, where the format records it."""
    branch: str | None = None
    commit: str | None = None
    started: float | None = None
    ended: float | None = None
    model: str | None = None
    agent_version: str | None = None
    parent_id: str | None = None
    title: str | None = None
    offered: frozenset[str] = frozenset()
    """Names of the tools this session is known to have had (recorded, or used in it)."""


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What reading one file came to. ``skipped`` maps a reason to how many lines (or bytes runs) it cost."""

    path: str
    agent: str | None
    sessions: int = 0
    turns: int = 0
    calls: int = 0
    failed: int = 0
    denied: int = 0
    records: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    record_types: Mapping[str, int] = field(default_factory=dict)
    """How often each record type was seen: a signal that a format drifted."""
    resume: Resume | None = None
    """Where the next reading can go on, where the format has an order that only grows."""
    problem: str | None = None
    """One sentence where the whole file could not be read (a format not known, no library for it)."""
