"""Whether mistakes get fewer: findings per 100 calls week by week, beside the lessons accepted in each week."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from lessonbook.actions.findings import Account, Seen
from lessonbook.actions.review import books
from lessonbook.book.lessons import Accepted, accepted_lessons
from lessonbook.core.errors import StoreError
from lessonbook.core.rates import interval, per_hundred
from lessonbook.system.settings import Places

BY = ("agent", "project", "model")


@dataclass(frozen=True, slots=True)
class Week:
    """One week of one group: ``group`` is an agent, a project or a model, empty for all sessions."""

    start: date | None
    """Its Monday, in UTC; ``None`` for sessions that hold no time."""
    group: str
    sessions: int
    calls: int
    failed: int
    findings: Counter[str]
    accepted: tuple[Marked, ...] = ()

    @property
    def rate(self) -> float | None:
        """Findings per 100 calls."""
        return per_hundred(self.findings.total(), self.calls)

    @property
    def sure(self) -> tuple[float, float] | None:
        """The 95 % interval of that rate."""
        return interval(self.findings.total(), self.calls)


@dataclass(frozen=True, slots=True)
class Marked:
    """A lesson with the name of its book."""

    book: str
    lesson: Accepted


@dataclass(frozen=True, slots=True)
class Trend:
    """The weeks in order, and the books that could not be read, with the reason."""

    weeks: tuple[Week, ...]
    unread: dict[str, str]


def trend(account: Account, places: Places, by: str = "") -> Trend:
    """Return the weeks of an account, each group's own where ``by`` is one of ``BY``.

    A week without sessions in which a lesson was accepted is there, too. Raises ``SetupError`` without git.
    """
    groups: dict[tuple[date | None, str], list[Seen]] = defaultdict(list)
    for seen in account.sessions:
        groups[_week(seen.started), _group(seen, by)].append(seen)
    accepted, unread = _accepted(places)
    weeks = [_counted(week, group, seen) for (week, group), seen in groups.items()]
    return Trend(tuple(_marked(weeks, accepted)), unread)


def _group(seen: Seen, by: str) -> str:
    return (getattr(seen, by) or f"(no {by})") if by else ""


def _week(at: float | None) -> date | None:
    if at is None:
        return None
    day = datetime.fromtimestamp(at, UTC).date()
    return day - timedelta(days=day.weekday())


def _counted(week: date | None, group: str, seen: Sequence[Seen]) -> Week:
    kinds = Counter(str(finding.kind) for one in seen for finding in one.findings)
    calls, failed = sum(one.calls for one in seen), sum(one.failed for one in seen)
    return Week(week, group, len(seen), calls, failed, kinds)


def _accepted(places: Places) -> tuple[list[Marked], dict[str, str]]:
    found: list[Marked] = []
    unread: dict[str, str] = {}
    for book in books(places):
        try:
            found += [Marked(book.name, lesson) for lesson in accepted_lessons(book.folder)]
        except StoreError as error:  # one broken book must not hide what the others hold
            unread[book.name] = str(error)
    return found, unread


def _marked(weeks: Sequence[Week], accepted: Sequence[Marked]) -> list[Week]:
    """The weeks in order of time and group, the lessons beside the first group of their week."""
    by_week: dict[date | None, list[Marked]] = defaultdict(list)
    for marked in accepted:
        by_week[_week(float(marked.lesson.at))].append(marked)
    there = {week.start for week in weeks}
    empty = [Week(start, "", 0, 0, 0, Counter()) for start in by_week if start not in there]
    ordered = sorted([*weeks, *empty], key=lambda week: (week.start or date.max, week.group))
    told: list[Week] = []
    for week in ordered:
        lessons = tuple(by_week.pop(week.start, ()))
        told.append(Week(week.start, week.group, week.sessions, week.calls, week.failed, week.findings, lessons))
    return told
