"""Counting what reading one file came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from lessonbook.core.cursor import Resume
from lessonbook.core.session import CallStatus, ReadReport, Session


@dataclass(slots=True)
class Tally:
    """Counts the sessions of one file as they are yielded, so that none has to be kept."""

    path: str
    agent: str | None
    skipped: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    problem: str | None = None
    resume: Resume | None = None
    sessions: int = 0
    turns: int = 0
    statuses: Counter[CallStatus] = field(default_factory=Counter)

    def add(self, session: Session) -> Session:
        """Count one session, and return it."""
        self.sessions += 1
        self.turns += len(session.turns)
        self.statuses.update(call.status for turn in session.turns for call in turn.calls)
        return session

    def report(self) -> ReadReport:
        """Return the counts; reasons that did not occur are left out."""
        return ReadReport(
            path=self.path,
            agent=self.agent,
            sessions=self.sessions,
            turns=self.turns,
            calls=self.statuses.total(),
            failed=self.statuses[CallStatus.FAILED],
            denied=self.statuses[CallStatus.DENIED],
            records=self.types.total(),
            skipped={reason: count for reason, count in sorted(self.skipped.items()) if count},
            record_types=dict(sorted(self.types.items())),
            resume=self.resume,
            problem=self.problem,
        )


def report(
    path: str,
    agent: str | None,
    sessions: Sequence[Session],
    skipped: Counter[str],
    types: Counter[str],
    problem: str | None = None,
    resume: Resume | None = None,
) -> ReadReport:
    """Return the counts of a file that was read; reasons that did not occur are left out."""
    tally = Tally(path, agent, skipped, types, problem, resume)
    for session in sessions:
        tally.add(session)
    return tally.report()
