"""One run of a coding agent without a person: what it is asked, what it may do, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Permission(StrEnum):
    """What an agent may do in its folder. Each one includes those before it."""

    READ = "read"
    EDIT = "edit"
    """Change files of the folder, and run no program of its own choice where the agent can keep them apart."""
    SHELL = "shell"


class Network(StrEnum):
    """What an agent may reach; how far each is enforced stands in ``docs/nightly.md``."""

    NONE = "none"
    """Nothing, by a network namespace: for agents whose model runs inside it."""
    MODEL = "model"
    """Its model, by proxy variables and the agent's own sandbox."""
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Task:
    """One request for one agent."""

    prompt: str
    folder: str
    """Where it works: the throwaway clone, or a folder in it."""
    scratch: str
    """A folder of ours beside the clone, for what the agent is told to write elsewhere."""
    session: str
    """A UUID, for agents that let us name the session."""
    permission: Permission = Permission.EDIT
    network: Network = Network.MODEL
    seconds: float = 600.0
    dollars: float | None = None
    """The most it may cost, for agents that stop by themselves; ``None`` says nothing."""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Apart:
    """What keeps an agent's own state in the folder of a run, and its writes to that folder."""

    links: tuple[tuple[str, str], ...] = ()
    """Its settings and its login: ``(link, where it leads)``. Nothing of them is copied."""
    writes: tuple[str, ...] = ()
    """What else it has to write to, such as the file of its login: that changes whenever the login is renewed."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended, by what the agent says itself: many exit 0 although they failed."""

    reply: str = ""
    session: str | None = None
    cost: float | None = None
    """In dollars; ``None`` where the agent does not say."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    problem: str | None = None
    """One sentence where it did not deliver; ``None`` where it did."""
    seconds: float = 0.0
