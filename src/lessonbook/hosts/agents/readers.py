"""Which folders skills are published to: those the agents read that are set up on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lessonbook.actions.publishing import Reader
from lessonbook.actions.setup_entries import Where
from lessonbook.actions.setup_receipts import known
from lessonbook.hosts.agents.registry import AGENTS, agents

SHARED = ".agents/skills"
"""The folder below the home folder that most agents read."""


def readers(where: Where, state: Path, names: Iterable[str] | None = None) -> list[Reader]:
    """Return the agents that are set up, or those of ``names``, each with its folder and what its list may hold."""
    there = [name for name in (known(state) if names is None else names) if name in AGENTS]
    chosen = agents(there) if there else []
    return [
        Reader(agent.name, agent.skills(where) or where.home / SHARED, agent.budget, agent.follows) for agent in chosen
    ]
