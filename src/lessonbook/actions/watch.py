"""What became of accepted lessons: how often they were read, and whether what they are about still happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lessonbook.actions.findings import Which, account
from lessonbook.actions.review import GLOBAL, NamedBook, books
from lessonbook.actions.sessions import Progress, Projects, Reading
from lessonbook.book.known import known
from lessonbook.book.lessons import Accepted, accepted_lessons
from lessonbook.book.offer import Offer, offer
from lessonbook.core.cited import gone
from lessonbook.core.errors import BusyError, StoreError
from lessonbook.core.outcome import Effect, Outcome
from lessonbook.core.session import Call, CallKind, CallStatus, Session
from lessonbook.proposers.matching import about
from lessonbook.proposers.merged import JOINT
from lessonbook.proposers.wording import title
from lessonbook.system.settings import Places, Settings

RETIRE = "retire"
_UNCOUNTED = ("corrected | ", "recorded | ", "procedure | ", "retire | ")
_BAD = (CallStatus.FAILED, CallStatus.DENIED, CallStatus.BLOCKED)


@dataclass(frozen=True, slots=True)
class Watched:
    """One lesson of a book that HEAD holds, what became of it, and the candidate that would take it out."""

    book: NamedBook
    lesson: Accepted
    outcome: Outcome
    retirement: str | None = None
    gone: tuple[str, ...] = ()
    """Files of the project that it tells to use and that are not there, where its folder is on this machine."""

    @property
    def fails(self) -> bool:
        """Whether it should go: what it tells to use is gone, or it changed nothing."""
        return bool(self.gone) or self.outcome.effect is Effect.NO_HELP


@dataclass(frozen=True, slots=True)
class Watch:
    """Every lesson, the books that could not be worked in with the reason, and what reading sessions came to."""

    lessons: tuple[Watched, ...]
    broken: Mapping[str, str]
    reading: Reading


@dataclass(frozen=True, slots=True)
class _Note:
    """What there is to count in one session: its calls, what went wrong in them, and which skills were opened."""

    calls: int
    met: Counter[str]
    read: frozenset[str]


@dataclass(slots=True)
class _Tally:
    """One lesson's counts while sessions are read."""

    book: NamedBook
    lesson: Accepted
    keys: frozenset[str]
    times: Counter[str] = field(default_factory=Counter)
    roots: set[str] = field(default_factory=set)
    """Folders of this machine that sessions of the book's project began in."""

    def gone(self) -> tuple[str, ...]:
        """The files it tells to use that are in none of the project's folders."""
        if not self.roots:
            return ()
        return gone(self.lesson.rule, lambda path: any((Path(root) / path).exists() for root in self.roots))

    def outcome(self) -> Outcome:
        times = self.times
        counted = bool(self.keys)
        return Outcome(times["bad before"], times["before"], times["bad since"], times["since"], times["read"], counted)


def watch(
    paths: Sequence[Path] | None,
    places: Places,
    settings: Settings,
    *,
    env: Mapping[str, str],
    progress: Progress | None = None,
) -> Watch:
    """Count, for each accepted lesson, what it is about before and since; only sessions of its project for its book.

    Raises ``InputError`` for a path that does not exist, and ``SetupError`` without git or a configured cluster.
    """
    tallies, broken = _tallies(books(places))
    projects = Projects()

    skills = tuple(dict.fromkeys(name for one in tallies for name in one.lesson.skills))

    def count(session: Session, notes: Sequence[_Note]) -> None:
        project = projects.of(session.cwd, session.repo)
        mine = [one for one in tallies if one.book.name in (GLOBAL, project.slug if project else "")]
        if mine:
            _count(session, notes[0], mine)
        if project is not None and Path(project.root).is_dir():
            for one in mine:
                one.roots |= {project.root} if one.book.name != GLOBAL else set()

    noters = (partial(_noted, skills),)
    found = account(paths, places, settings, Which(), env=env, progress=progress, noters=noters, on_noted=count)
    return Watch(
        tuple(Watched(one.book, one.lesson, one.outcome(), gone=one.gone()) for one in tallies), broken, found.reading
    )


def retire(found: Watch, now: int, random_hex: Callable[[], str]) -> Watch:
    """Offer a candidate that takes out each lesson that ``fails``, unless one was offered before.

    A book that cannot be worked in costs only itself.
    """
    broken = dict(found.broken)
    told: list[Watched] = []
    for one in found.lessons:
        offered = None
        if one.fails and one.book.name not in broken:
            try:
                offered = _offered(one, now, random_hex)
            except (BusyError, StoreError) as error:
                broken[one.book.name] = str(error)
        told.append(Watched(one.book, one.lesson, one.outcome, offered, one.gone))
    return Watch(tuple(told), broken, found.reading)


def _offered(one: Watched, now: int, random_hex: Callable[[], str]) -> str | None:
    key, lesson, outcome = f"{RETIRE} | {one.lesson.id}", one.lesson, one.outcome
    if key in known(one.book.folder).keys:
        return None
    why = f"{outcome.since} times in {outcome.calls_since:,} calls since, {outcome.due:.1f} were due"
    why = f"{', '.join(one.gone)}: not there any more" if one.gone else why
    trailers = (("Proposer", "watch"), ("Evidence-kind", RETIRE), ("Evidence-key", key), ("Evidence-count", why))
    subject = title(f"Retire: {lesson.title}")
    removes = tuple(f"skills/{name}/SKILL.md" for name in lesson.skills)
    item = Offer(subject, trailers=trailers, retires=lesson.rule or None, removes=removes)
    return offer(one.book.folder, [item], now, random_hex)[0]


def _tallies(every: Iterable[NamedBook]) -> tuple[list[_Tally], dict[str, str]]:
    found: list[_Tally] = []
    broken: dict[str, str] = {}
    for book in every:
        try:
            lessons = accepted_lessons(book.folder)
        except StoreError as error:  # one broken book must not hide what became of the others' lessons
            broken[book.name] = str(error)
            continue
        found += [_Tally(book, one, _counted(one.about)) for one in lessons if one.rule or one.skills]
    return found, broken


def _counted(keys: Iterable[str]) -> frozenset[str]:
    parts = (part for key in keys for part in key.split(JOINT))
    return frozenset(part for part in parts if not part.startswith(_UNCOUNTED))


def _noted(skills: Sequence[str], session: Session) -> _Note:
    calls = [call for turn in session.turns for call in turn.calls]
    met: Counter[str] = Counter()
    for call in calls:
        if call.status in _BAD:
            met.update(about(call))
    return _Note(len(calls), met, frozenset(name for name in skills if any(_reads(call, name) for call in calls)))


def _count(session: Session, note: _Note, tallies: Sequence[_Tally]) -> None:
    for one in tallies:
        since = (session.started or 0.0) >= one.lesson.at
        one.times["since" if since else "before"] += note.calls
        one.times["bad since" if since else "bad before"] += sum(note.met[key] for key in one.keys)
        if since and session.parent_id is None:
            one.times["read"] += not one.lesson.skills or not note.read.isdisjoint(one.lesson.skills)


def _reads(call: Call, skill: str) -> bool:
    """Whether a call opens the skill: by the agent's own tool for that, or its file."""
    texts = [value for value in call.args.values() if isinstance(value, str)]
    if call.kind is CallKind.SKILL:
        return skill in texts
    return any(f"{skill}/SKILL.md" in text for text in texts)
