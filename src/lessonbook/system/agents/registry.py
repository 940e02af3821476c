"""The agents we can run without a person: one line per agent, and any command line the configuration names."""

from __future__ import annotations

from lessonbook.core.errors import SetupError
from lessonbook.core.ports import AgentRunner
from lessonbook.system.agents.agent import Agent
from lessonbook.system.agents.claude import Claude
from lessonbook.system.agents.codex import Codex
from lessonbook.system.agents.command import Command
from lessonbook.system.agents.gemini import Gemini
from lessonbook.system.agents.hermes import Hermes
from lessonbook.system.agents.omp import Omp
from lessonbook.system.agents.opencode import Opencode
from lessonbook.system.agents.ramabana import Ramabana
from lessonbook.system.night_settings import AgentSettings

_CLASSES: tuple[type[Agent], ...] = (Claude, Codex, Gemini, Opencode, Omp, Hermes, Ramabana)
AGENTS: dict[str, type[Agent]] = {kind.name: kind for kind in _CLASSES}


def runner(name: str, settings: AgentSettings) -> AgentRunner:
    """Return the agent called ``name``; ``settings`` are its own table of the configuration.

    Raises ``SetupError`` for a name that is none of ours and has no command.
    """
    agent = _made(name, settings)
    agent.writes = settings.writes
    return agent


def _made(name: str, settings: AgentSettings) -> Agent:
    if name in AGENTS:
        return AGENTS[name](settings.command, settings.args)
    if not settings.command:
        raise SetupError(
            f"there is no agent {name!r} that can be run: say one of {', '.join(AGENTS)}, or give [agents.{name}] a "
            "`command` in the configuration."
        )
    return Command(name, settings.command, settings.reader, settings.transcripts, settings.args)
