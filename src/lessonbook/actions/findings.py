"""Single mistakes of past sessions, as rates: who made which, where, and whether they get fewer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lessonbook.actions.noting import Noted, Noter
from lessonbook.actions.sessions import Progress, Projects, Reading
from lessonbook.core.finding import Finding, findings
from lessonbook.core.session import CallStatus, Session
from lessonbook.system.settings import Places, Settings


@dataclass(frozen=True, slots=True)
class Which:
    """Which sessions count: all, or those of an agent, a project, or since a time. Names in any case."""

    agent: str | None = None
    project: str | None = None
    """A project's name, or a part of its remote address or folder."""
    since: float | None = None
    """Epoch seconds; a session without a time is left out where this is set."""


@dataclass(slots=True)
class Seen:
    """One session, with those of its sub-agents: what it did, and its mistakes."""

    agent: str
    id: str
    path: str
    project: str
    model: str
    started: float | None
    calls: int = 0
    failed: int = 0
    refused: int = 0
    findings: list[Finding] = field(default_factory=list)
    """Details are raw text of the transcript: redact before showing."""


@dataclass(slots=True)
class Account:
    """All sessions that count, in order of time, and what reading them came to."""

    sessions: list[Seen]
    reading: Reading

    @property
    def calls(self) -> int:
        """How many calls the sessions made."""
        return sum(seen.calls for seen in self.sessions)

    @property
    def kinds(self) -> Counter[str]:
        """How many findings of each kind."""
        return Counter(str(finding.kind) for seen in self.sessions for finding in seen.findings)

    def in_sessions(self, kind: str) -> int:
        """In how many sessions a kind was found."""
        return sum(any(finding.kind == kind for finding in seen.findings) for seen in self.sessions)


def account(
    paths: Sequence[Path] | None,
    places: Places,
    settings: Settings,
    which: Which,
    *,
    env: Mapping[str, str],
    progress: Progress | None = None,
    noters: Sequence[Noter] = (),
    on_noted: Callable[[Session, Sequence[Any]], None] = lambda session, notes: None,
) -> Account:
    """Read the sessions of ``paths`` (``None``: every agent's own folders) and account for those that count.

    Only counts and findings are kept. ``on_noted`` sees of each session that counts what ``noters`` returned, and the
    session without its turns, its project as its repository. Raises ``InputError`` for a path that does not exist, and
    ``SetupError`` where a cluster is configured that cannot be used.
    """
    reading, projects = Reading(), Projects()
    roots: dict[tuple[str, str], Seen] = {}
    asked: tuple[Noter, ...] = (partial(findings, routes=settings.routes), *noters)
    for one in reading.noted(paths, places.home, env, asked, settings, progress):
        session = one.session
        placed = projects.placed(session)
        if not _counts(placed, projects.name(session), which):
            continue
        on_noted(placed, one.notes[1:])
        root = (session.agent, session.parent_id or session.id)
        seen = roots.get(root) or roots.setdefault(root, _new(session, projects.name(session)))
        _add(seen, one)
    ordered = sorted(roots.values(), key=lambda seen: (seen.started or 0.0, seen.path))
    return Account(ordered, reading)


def _counts(session: Session, project: str, which: Which) -> bool:
    if which.agent and session.agent.casefold() != which.agent.casefold():
        return False
    if which.since is not None and (session.started or 0.0) < which.since:
        return False
    if not which.project:
        return True
    wanted = which.project.casefold()
    known = (project, session.repo or "", session.cwd or "")
    return project.casefold() == wanted or any(wanted in name.casefold() for name in known)


def _new(session: Session, project: str) -> Seen:
    id = session.parent_id or session.id
    return Seen(session.agent, id, session.path, project, session.model or "", session.started)


def _add(seen: Seen, one: Noted) -> None:
    seen.calls += one.statuses.total()
    seen.failed += one.statuses[CallStatus.FAILED]
    seen.refused += one.statuses[CallStatus.DENIED]
    seen.findings.extend(one.notes[0])
    seen.model = seen.model or one.session.model or ""
