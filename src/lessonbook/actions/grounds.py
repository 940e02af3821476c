"""What a candidate rests on, from its commit's trailers, in the parts that a person looks at one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from lessonbook.core.value import Value

WHY = {
    "failed-then-worked": "A command failed, and another one for the same errand then worked.",
    "failed-again": "The same call failed again, and no way that works was seen.",
    "prepared-then-worked": "A command worked only after others had been run.",
    "refused": "A person refused what the agent was about to do.",
    "blocked": "A rule or hook stopped a command.",
    "corrected": "A person typed the same correction after a wrong step.",
    "recorded": "An agent or a person recorded it as a lesson.",
    "replayed": "A past request, played again with it, took a shorter way to an answer at least as good.",
    "retire": "It takes out a lesson that changed nothing, or tells to use what is gone.",
    "rewrite": "It says a lesson another way: as it stands it changed nothing, or tells to run what works no more.",
    "skill": "An agent offered a skill that it wrote while it worked.",
}
"""What each kind of evidence means, in a sentence."""
_COUNT = re.compile(r"(\d+) (\w+) in (\d+) sessions?\Z")
_DATES = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\.\.(\d{4}-\d{2}-\d{2}))?\Z")
_WEEK = re.compile(r"(\d{4}-\d{2}-\d{2}) (\d{1,9})\Z")
_MOST_WEEKS = 26
"""Weeks of a chart, at most: where more lie between the first and the last, those without any are left out."""
_MARK = re.compile(r"(\S+)(?: turn (\d+))?(?: \((.*)\))?\Z")
_TOLD = {"Proposer", *(f"Evidence-{name}" for name in ("kind", "key", "agents", "count", "dates", "weeks", "session"))}
_REPLAY = {
    "before": "The way before",
    "after": "The way with it",
    "agent": "Played by",
    "judge": "The judge",
    "spent": "What it cost",
}
_EXAMPLES = {"failed": "What failed", "error": "How it failed", "worked": "What worked", "said": "What was said"}
_EXAMPLES |= {"effect": "What it did so far", "gone": "Not there any more"}


class Mark(Value):
    """One session it was seen in: where to look."""

    session: str
    turn: str
    path: str


class Bar(Value):
    """One number with its name, for a chart and its table."""

    name: str
    number: int


class Grounds(Value):
    """What a candidate rests on; every field is empty where its commit does not say."""

    why: str
    kind: str
    proposer: str
    agents: str
    count: str
    bars: tuple[Bar, ...]
    weeks: tuple[Bar, ...]
    """How often it happened in each week, by its Monday."""
    first: str
    last: str
    marks: tuple[Mark, ...]
    examples: tuple[tuple[str, str], ...]
    """``(What failed, the call)`` and so on, in the order to read them."""
    replay: tuple[tuple[str, str], ...]
    """What playing a past request again showed: its route cost before and after, who judged, what it cost."""
    others: tuple[tuple[str, str], ...]
    """Every other trailer, such as who edited it and what it was split from."""


def grounds(trailers: Sequence[tuple[str, str]]) -> Grounds:
    """Return what these trailers say. Never raises: what is worded in another way stays among ``others``."""
    told = dict(reversed(trailers))
    dates = _DATES.match(told.get("Evidence-dates", ""))
    kind = told.get("Evidence-kind", "")
    examples = [(title, told[f"Evidence-{name}"]) for name, title in _EXAMPLES.items() if f"Evidence-{name}" in told]
    replay = [(title, told[f"Replay-{name}"]) for name, title in _REPLAY.items() if f"Replay-{name}" in told]
    known = _TOLD | {f"Evidence-{name}" for name in _EXAMPLES} | {f"Replay-{name}" for name in _REPLAY}
    return Grounds(
        why=WHY.get(kind, ""),
        kind=kind,
        proposer=told.get("Proposer", ""),
        agents=told.get("Evidence-agents", ""),
        count=told.get("Evidence-count", ""),
        bars=_bars(told),
        weeks=_weeks(told.get("Evidence-weeks", "")),
        first=dates[1] if dates else told.get("Evidence-dates", ""),
        last=(dates[2] or dates[1]) if dates else "",
        marks=tuple(_mark(value) for key, value in trailers if key == "Evidence-session"),
        examples=tuple(examples),
        replay=tuple(replay),
        others=tuple((key, value) for key, value in trailers if key not in known),
    )


def _bars(told: dict[str, str]) -> tuple[Bar, ...]:
    found = _COUNT.match(told.get("Evidence-count", ""))
    return (Bar(found[2], int(found[1])), Bar("sessions", int(found[3]))) if found else ()


def _weeks(text: str) -> tuple[Bar, ...]:
    """The weeks in order, those without any between them."""
    found: dict[date, int] = {}
    for part in text.split(", "):
        said = _WEEK.match(part)
        try:
            found |= {date.fromisoformat(said[1]): int(said[2])} if said else {}
        except ValueError:  # no day of any calendar
            continue
    if not found:
        return ()
    first, last = min(found), max(found)
    between = [first + timedelta(weeks=n) for n in range((last - first).days // 7 + 1)]
    every = between if len(between) <= _MOST_WEEKS and set(found) <= set(between) else sorted(found)
    return tuple(Bar(week.isoformat(), found.get(week, 0)) for week in every)


def _mark(value: str) -> Mark:
    found = _MARK.match(value)
    return Mark(found[1], found[2] or "", found[3] or "") if found else Mark(value, "", "")
