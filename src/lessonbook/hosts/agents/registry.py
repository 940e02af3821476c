"""Every agent that can be set up, and the module that describes it. A new agent is one module and one line here.

Modules are named, not imported: a hook loads only the agent it answers.
"""

from __future__ import annotations

from importlib import import_module

from lessonbook.core.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lessonbook.hosts.agents.agent import Agent

_HERE = "lessonbook.hosts.agents."

AGENTS: dict[str, str] = {
    "claude": f"{_HERE}claude",
    "codex": f"{_HERE}codex",
    "gemini": f"{_HERE}gemini",
    "copilot": f"{_HERE}copilot",
    "cursor": f"{_HERE}cursor",
    "opencode": f"{_HERE}opencode",
    "omp": f"{_HERE}omp",
    "pi": f"{_HERE}pi",
    "hermes": f"{_HERE}hermes",
    "ramabana": f"{_HERE}ramabana",
}


def agent(name: str) -> Agent:
    """Return one agent. Raises ``InputError`` that names them all for one that is not known."""
    if name not in AGENTS:
        raise InputError(f"There is no agent {name!r}; there are {', '.join(AGENTS)}.")
    found: Agent = import_module(AGENTS[name]).AGENT
    return found


def agents(names: Iterable[str] = ()) -> list[Agent]:
    """Return the named agents, or all. Raises ``InputError`` as ``agent`` does."""
    return [agent(name) for name in dict.fromkeys(names or AGENTS)]
