"""Evidence as git trailers: what a candidate rests on, so that ``diff`` and every host can show why it is proposed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from lessonbook.core.candidate import Evidence, Proposal
from lessonbook.core.clean import clean_line
from lessonbook.core.redact import LABELS, redact, scrub_identity

SESSIONS_SHOWN = 5
WEEKS_SHOWN = 12
_EXAMPLES = ("failed", "error", "worked", "said")
_UNITS = {"refused": "refusals", "corrected": "prompts", "recorded": "notes", "procedure": "times"}


def trailers(proposal: Proposal, proposer: str) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a proposal's commit, in order: each value one clean, redacted line.

    ``Evidence-session`` names up to five sessions as ``<id> turn <n> (<path>)``, so that a person can open them: the
    path works in a shell as it stands, a folder whose name holds the person's own name being ``*``.
    """
    evidence = proposal.evidence
    lines = [
        ("Proposer", proposer),
        ("Evidence-kind", evidence.kind),
        ("Evidence-key", proposal.key),
        *(("Evidence-about", key) for key in proposal.about),
        ("Evidence-agents", ", ".join(evidence.agents)),
        ("Evidence-count", counted(evidence)),
        ("Evidence-dates", dated(evidence)),
        ("Evidence-weeks", by_week(evidence)),
    ]
    lines += [("Evidence-session", _opened_by(mark)) for mark in evidence.sessions[:SESSIONS_SHOWN]]
    lines += [(f"Evidence-{name}", evidence.examples.get(name, "")) for name in _EXAMPLES]
    return tuple((key, value) for key, text in lines if (value := _line(text)))


def counted(evidence: Evidence) -> str:
    """Return ``57 calls in 44 sessions``."""
    unit = _UNITS.get(evidence.kind, "calls")
    sessions = len(evidence.sessions)
    return f"{evidence.count} {unit} in {sessions} session{'' if sessions == 1 else 's'}"


def dated(evidence: Evidence) -> str:
    """Return ``2026-02-12..2026-03-02``; ``""`` where the sessions hold no time."""
    if not evidence.first or not evidence.last:
        return ""
    return f"{_day(evidence.first)}..{_day(evidence.last)}"


def by_week(evidence: Evidence) -> str:
    """Return how often it happened in each of the last weeks, by their Mondays: ``2026-03-02 3, 2026-03-16 1``."""
    days = [datetime.fromtimestamp(at, UTC).date() for at in evidence.times]
    counts = Counter(day - timedelta(days=day.weekday()) for day in days)
    return ", ".join(f"{week} {counts[week]}" for week in sorted(counts)[-WEEKS_SHOWN:])


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _opened_by(mark: str) -> str:
    clean = _line(mark)
    named, _, path = clean.rpartition(" (")
    parts = [part if part == "~" or not _scrubbed(part) else "*" for part in path.removesuffix(")").split("/")]
    return f"{named} ({'/'.join(parts)})" if named else clean


def _scrubbed(part: str) -> bool:
    # Only a part that lost something holds a label, or the ``~`` that stands for a home inside a dashed folder name.
    return "-~" in part or any(label in part for label in LABELS)


def _line(text: str) -> str:
    return clean_line(scrub_identity(redact(text).text).text)
