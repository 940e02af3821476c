"""A proposal on its way: how sure we are of it, how many sessions it would have helped, and its book."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lessonbook.core.candidate import BookKind, Proposal
from lessonbook.proposers.incident import History, Incident, evidence
from lessonbook.proposers.wording import safe, title

_KEY_LIMIT = 160
_CODE = re.compile(r"`([^`]+)`")
_PROJECT_WORD = re.compile(r"[\w.-]+/[\w.-]|\.\w{1,4}\b|\b(?:run|make|task|just)\s+[a-z]")


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal with its rank: sessions helped times certainty; ``chance`` that it will be needed again."""

    proposal: Proposal
    sessions: int
    certainty: float
    chance: float = 1.0

    @property
    def worth(self) -> float:
        """What it is ranked by."""
        return self.sessions * self.certainty


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a group of incidents teaches, before it has a book."""

    kind: str
    key: str
    subject: str
    rule: str
    certainty: float
    general: bool = False
    """True where it is about the agent's own tools, and so holds in every project."""
    habit: bool = False
    """True where it is about the agent's own way of working: it comes again wherever it came twice, however rarely."""


def draft(lesson: Lesson, incidents: Sequence[Incident], history: History, general: bool) -> Draft:
    """Return the draft of one lesson for one book."""
    newest = max(incidents, key=lambda incident: incident.where.at or 0.0).where
    proposal = Proposal(
        title=title(lesson.subject),
        book=BookKind.GLOBAL if general else BookKind.PROJECT,
        evidence=evidence(lesson.kind, incidents, history),
        key=comparable_key(lesson.key),
        rule=lesson.rule,
        cwd=None if general else newest.cwd,
        repo=None if general else newest.repo,
    )
    chance = 1.0 if lesson.habit else history.chance(incidents)
    return Draft(proposal, history.count(incidents), lesson.certainty, chance)


def comparable_key(topic: str) -> str:
    """Return a topic as keys are kept: safe to stand in a commit message, and equal for equal topics."""
    return safe(topic, _KEY_LIMIT)


def by_topic(incidents: Iterable[Incident]) -> dict[str, list[Incident]]:
    """Return the incidents grouped by what they are about."""
    groups: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        groups[incident.topic].append(incident)
    return groups


def by_project(incidents: Iterable[Incident]) -> list[list[Incident]]:
    """Return the incidents of each project."""
    groups: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        groups[incident.where.project].append(incident)
    return list(groups.values())


def names_project(rule: str) -> bool:
    """Whether a rule names a path, a file or a script, which only one project has."""
    return any(_PROJECT_WORD.search(span) for span in _CODE.findall(rule))
