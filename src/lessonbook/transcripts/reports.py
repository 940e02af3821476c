"""Counting what reading one file came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lessonbook.core.session import CallStatus, ReadReport, Session


def report(
    path: str,
    agent: str | None,
    sessions: Sequence[Session],
    skipped: Counter[str],
    types: Counter[str],
    problem: str | None = None,
) -> ReadReport:
    """Return the counts of a file that was read; reasons that did not occur are left out."""
    calls = [call for session in sessions for turn in session.turns for call in turn.calls]
    return ReadReport(
        path=path,
        agent=agent,
        sessions=len(sessions),
        turns=sum(len(session.turns) for session in sessions),
        calls=len(calls),
        failed=sum(call.status is CallStatus.FAILED for call in calls),
        denied=sum(call.status is CallStatus.DENIED for call in calls),
        records=types.total(),
        skipped={reason: count for reason, count in sorted(skipped.items()) if count},
        record_types=dict(sorted(types.items())),
        problem=problem,
    )
