"""One real agent: how it is pointed at the scripted model, run alone, and looked into with its own commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from realagents.steps import Call, Say, Step

LESSON = "The staging database answers on port 5439 and on no other, as the proxy holds 5432."
"""What the agent learns in the run."""
PROMPT = "How do I restart the quarry crane?"
DONE = "The crane stands."
MARKET, PLUGIN = "MARKET", "PLUGIN"
LEARN = Call((r".*learn",), {"memory": LESSON, "context": "found while connecting"})


@dataclass(frozen=True)
class Look:
    """One of an agent's own commands, and what it has to say (``has``) and not to say (``lacks``)."""

    words: tuple[str, ...]
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Host:
    """One agent.

    ``files`` are what its home holds before set-up, by path, given the model's address; ``env`` goes beside HOME and
    PATH; ``command`` runs one prompt without a person.
    """

    name: str
    command: Callable[[str, Path], Sequence[str]]
    files: Callable[[str], Mapping[str, str]] = lambda url: {}
    env: Callable[[Path, str], Mapping[str, str]] = lambda home, url: {}
    steps: tuple[Step, ...] = (LEARN, Say(DONE))
    wait: Step | None = None
    """What to call while a tool is not offered, as it is to be looked up first, or its server still starts."""
    looks: tuple[Look, ...] = ()
    """What its own commands say while it is set up."""
    plugin: tuple[Look, ...] = ()
    """Its own commands that take the plugin folder in and look at it; ``MARKET`` and ``PLUGIN`` stand for folders."""
    unplug: tuple[Look, ...] = ()
    """And those that take it out again."""
    events: tuple[str, ...] = ("session-start", "prompt", "stop", "session-end")
    """The events of ours it is seen to act on."""
    doubts: tuple[str, ...] = ()
    """What ``setup --check`` says is missing, until a person did it."""
    own: tuple[str, ...] = ()
    """Patterns of what the agent itself writes while it runs, without the files that set-up writes."""
    shared: tuple[str, ...] = ()
    """The files among those that set-up writes which the agent writes, too."""
    transcript: bool = True
    """Whether it tells the end of a session where its transcript is."""
    seconds: float = 120.0


def as_json(value: object) -> str:
    """Return a JSON file's text, as agents write it."""
    return json.dumps(value, indent=2) + "\n"
