"""How large histories and our own folders are, how fast they grow, and from what size on a person is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

MB = 1_000_000
SPAN = 7
"""Days: growth is what was added since the earliest measure of the last so many."""
LEAST = 0.5
"""Days: two measures that are nearer to each other say nothing of a day."""
KEPT = 60
"""How many measures are kept."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """From what size on a person is told, in megabytes of a million bytes, and what counts as a repeated defect."""

    agent_mb: float = 2_000.0
    """All that one agent keeps of its sessions."""
    agent_mb_day: float = 100.0
    """What it adds in a day."""
    file_mb: float = 200.0
    """One file of it."""
    own_mb: float = 1_000.0
    """All that is ours."""
    sessions: int = 2
    """In how many sessions a defect must have come to be told."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Sizes in bytes at one time: by agent, and of our own by what it is."""

    at: float
    agents: Mapping[str, int] = field(default_factory=dict)
    ours: Mapping[str, int] = field(default_factory=dict)
    largest: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Each agent's largest file."""


def per_day(now: Measure, earlier: Sequence[Measure]) -> dict[str, float]:
    """Return how many bytes each agent added in a day; nothing for one that was not measured early enough."""
    known = [one for one in earlier if now.at - one.at >= LEAST * _DAY]
    if not known:
        return {}
    late = [one for one in known if now.at - one.at <= SPAN * _DAY]
    base = min(late, key=lambda one: one.at) if late else max(known, key=lambda one: one.at)
    days = (now.at - base.at) / _DAY
    return {name: (size - base.agents[name]) / days for name, size in now.agents.items() if name in base.agents}


def notices(now: Measure, rates: Mapping[str, float], bounds: Bounds) -> Iterator[str]:
    """Yield a sentence for each bound that is passed, naming the setting that moves it."""
    for name, size in now.agents.items():
        if size > bounds.agent_mb * MB:
            yield f"{name} keeps {told(size)} of sessions, past {bounds.agent_mb:g} MB (health.agent_mb)"
        if (rate := rates.get(name, 0.0)) > bounds.agent_mb_day * MB:
            yield f"{name} adds {told(rate)} a day, past {bounds.agent_mb_day:g} MB (health.agent_mb_day)"
        path, largest = now.largest.get(name, ("", 0))
        if largest > bounds.file_mb * MB:
            yield f"{path} of {name} has {told(largest)}, past {bounds.file_mb:g} MB (health.file_mb)"
    if (own := sum(now.ours.values())) > bounds.own_mb * MB:
        yield f"lessonbook keeps {told(own)}, past {bounds.own_mb:g} MB (health.own_mb)"


def told(size: float) -> str:
    """Return a size for people: ``12.3 MB``."""
    return f"{size / MB:,.1f} MB"


def measures_of(document: object) -> list[Measure]:
    """Return the measures a file holds, the oldest first; what is damaged is left out."""
    found = []
    for row in document if isinstance(document, list) else ():
        try:
            found.append(Measure(float(row["at"]), _sizes(row["agents"]), _sizes(row["ours"])))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            continue
    return sorted((one for one in found if isfinite(one.at)), key=lambda one: one.at)


def _sizes(table: Mapping[str, Any]) -> dict[str, int]:
    return {str(name): int(size) for name, size in table.items()}


def measures_document(measures: Sequence[Measure]) -> list[dict[str, Any]]:
    """Return the last measures as a file holds them."""
    return [{"at": one.at, "agents": dict(one.agents), "ours": dict(one.ours)} for one in measures[-KEPT:]]
