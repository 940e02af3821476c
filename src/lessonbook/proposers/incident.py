"""One time that something happened in a session, kept small, and the evidence that many of them make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from lessonbook.core.candidate import Evidence
from lessonbook.core.failure import Trouble
from lessonbook.core.project import from_folder, from_remote
from lessonbook.core.session import Call, Session, Turn
from lessonbook.core.shell import Command
from lessonbook.proposers.moves import Move
from lessonbook.proposers.wording import example

HORIZON = 30
"""For how many sessions ahead, at least, a lesson should be worth its place."""

_DAY = 86_400.0
"""A session began before what was seen in it: at most about this long."""

TEXT_LIMIT = 600
"""Longest text kept of one incident, in characters: memory stays small however long the sessions are."""


@dataclass(frozen=True, slots=True)
class Where:
    """The session and turn something was seen in."""

    agent: str
    session: str
    path: str
    turn: int
    at: float | None
    project: str
    cwd: str | None
    repo: str | None

    @property
    def mark(self) -> str:
        """How evidence names it, so that a person can open the session: ``<id> turn <n> (<path>)``."""
        return f"{self.session} turn {self.turn} ({self.path})"


@dataclass(frozen=True, slots=True)
class Incident:
    """One time something happened. Texts are raw transcript text, cut short; wording cleans them before use."""

    where: Where
    topic: str
    failed: str = ""
    error: str = ""
    worked: str = ""
    said: str = ""
    move: Move | None = None
    trouble: Trouble | None = None
    subject: str = ""
    family: str = ""
    command: Command | None = None
    stuck: bool = False
    """Whether nothing was seen to do the failed errand soon after, by force or by a change neither."""
    about: str = ""
    """The key of the failed call, where the topic says more than that."""

    @property
    def examples(self) -> dict[str, str]:
        """The texts that are there, by the names evidence uses."""
        texts = {"failed": self.failed, "error": self.error, "worked": self.worked, "said": self.said}
        return {name: text for name, text in texts.items() if text.strip()}


def where(session: Session, turn: Turn, call: Call | None = None) -> Where:
    """Return where a turn (and one of its calls) stands."""
    at = (call.at if call else None) or turn.started or session.started
    return Where(session.agent, session.id, session.path, turn.n, at, project_of(session), session.cwd, session.repo)


def moved(incidents: Iterable[Incident], session: Session) -> list[Incident]:
    """Return the incidents of a session as of the project and the repository that it is known to be of by now."""
    project, places = project_of(session), dict[Where, Where]()
    found = []
    for one in incidents:
        old = one.where
        if old.repo != session.repo or old.project != project:
            new = places.get(old) or places.setdefault(old, replace(old, repo=session.repo, project=project))
            one = replace(one, where=new)
        found.append(one)
    return found


def project_of(session: Session) -> str:
    """Return what tells one project's sessions from another's: the remote address, else the folder."""
    if session.repo:
        return from_remote(session.repo).identity
    return from_folder(session.cwd).identity if session.cwd else ""


def cut(text: str) -> str:
    """Return ``text`` cut to what an incident keeps."""
    return text[:TEXT_LIMIT]


@dataclass(slots=True)
class History:
    """What is kept of every session read: which belongs to which, and when each project's began."""

    parents: dict[str, str] = field(default_factory=dict)
    starts: dict[str, list[float]] = field(default_factory=dict)
    known: set[tuple[str, str]] = field(default_factory=set)

    @property
    def sessions(self) -> int:
        """How many root sessions were read."""
        return sum(map(len, self.starts.values()))

    def add(self, session: Session) -> None:
        """Count a session, once, unless it is a sub-agent's."""
        if session.parent_id:
            self.parents[session.id] = session.parent_id
        elif (session.agent, session.id) not in self.known:
            self.known.add((session.agent, session.id))
            self.starts.setdefault(project_of(session), []).append(session.started or 0.0)

    def root(self, session: str) -> str:
        """Return the session a sub-agent's session belongs to; a circle ends where it closes."""
        seen = {session}
        while (parent := self.parents.get(session)) and parent not in seen:
            seen.add(parent)
            session = parent
        return session

    def count(self, incidents: Iterable[Incident]) -> int:
        """Return in how many root sessions the incidents were seen."""
        return len({self.root(incident.where.session) for incident in incidents})

    def chance(self, incidents: Sequence[Incident]) -> float:
        """Return how likely the same comes again within the next ``HORIZON`` sessions of its projects, 0 to 1.

        A steady rate is assumed: how often it came again, per session since it was first seen. What has long been
        seen is looked ahead for longer: half as many sessions as it was seen over.
        """
        first = min((incident.where.at or 0.0 for incident in incidents), default=0.0)
        projects = {incident.where.project for incident in incidents}
        since = sum(start >= first - _DAY for project in projects for start in self.starts.get(project, ()))
        again = self.count(incidents) - 1
        return 1 - math.exp(-max(HORIZON, since / 2) * again / max(since, again, 1))


def evidence(kind: str, incidents: Sequence[Incident], history: History) -> Evidence:
    """Return what a proposal rests on: one mark per root session, in order of time."""
    ordered = sorted(incidents, key=lambda incident: (incident.where.at or 0.0, incident.where.session))
    first: dict[str, Where] = {}
    for incident in ordered:
        first.setdefault(history.root(incident.where.session), incident.where)
    times = [incident.where.at for incident in ordered if incident.where.at]
    usual = Counter((incident.family, incident.error) for incident in ordered)
    shown = max(ordered, key=lambda one: (len(one.examples), usual[one.family, one.error], -len(one.failed)))
    return Evidence(
        kind=kind,
        agents=tuple(dict.fromkeys(incident.where.agent for incident in ordered)),
        sessions=tuple(place.mark for place in first.values()),
        count=len(incidents),
        first=min(times, default=None),
        last=max(times, default=None),
        examples={name: example(text) for name, text in shown.examples.items()},
        times=tuple(times),
    )
