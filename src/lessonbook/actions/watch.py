"""What became of accepted lessons: how often they were read, and whether what they are about still happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path

from lessonbook.actions.cited_here import Here
from lessonbook.actions.findings import Which, account
from lessonbook.actions.names import learn_names, nameless
from lessonbook.actions.review import GLOBAL, NamedBook, books
from lessonbook.actions.sessions import Progress, Projects, Reading, is_here
from lessonbook.book.head import read
from lessonbook.book.lessons import Accepted, accepted_lessons
from lessonbook.core.candidate import Proposal
from lessonbook.core.cited import cited, tasks
from lessonbook.core.errors import StoreError
from lessonbook.core.outcome import Effect, Outcome
from lessonbook.core.redact_names import Names
from lessonbook.core.session import Call, CallKind, CallStatus, Session
from lessonbook.proposers.matching import about
from lessonbook.proposers.merged import JOINT
from lessonbook.proposers.rewritten import Rewrite, Shown, Since, shown
from lessonbook.system.settings import Places, Settings

_UNCOUNTED = ("corrected | ", "recorded | ", "procedure | ", "retire | ", "rewrite | ")
_BAD = (CallStatus.FAILED, CallStatus.DENIED, CallStatus.BLOCKED)


@dataclass(frozen=True, slots=True)
class Watched:
    """One lesson of a book that HEAD holds, what became of it, and the candidate that would mend it or take it out."""

    book: NamedBook
    lesson: Accepted
    outcome: Outcome
    retirement: str | None = None
    rewrite: str | None = None
    gone: tuple[str, ...] = ()
    """What it tells to use and the project does not have, where its folder is on this machine."""
    holds: bool = False
    """Whether it is a skill of which other parts still hold."""
    unsure: tuple[str, ...] = ()
    """What it tells to run of which nobody can tell on this machine whether it is still right."""
    better: Rewrite | None = None
    """What it should say instead, as far as sessions since show it."""
    skills: Mapping[str, str] = field(default_factory=dict)
    """The texts of its skills by path."""
    files: tuple[str, ...] = ()
    """All files of its skills, by path."""
    evidence: tuple[Proposal, ...] = ()
    """What sessions since showed of its mistake, where it did not help; no names of people in it."""

    @property
    def fails(self) -> bool:
        """Whether it should go: what it tells to use is gone, or it changed nothing."""
        return (bool(self.gone) and not self.holds) or self.outcome.effect is Effect.NO_HELP

    @property
    def changes(self) -> tuple[str, ...]:
        """The ids of the candidates that were offered for it."""
        return tuple(id for id in (self.rewrite, self.retirement) if id is not None)


@dataclass(frozen=True, slots=True)
class Watch:
    """Every lesson, the books that could not be worked in with the reason, and what reading sessions came to."""

    lessons: tuple[Watched, ...]
    broken: Mapping[str, str]
    reading: Reading
    names: Names = field(default_factory=Names)
    """The names of people that the sessions gave away."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be noted of each session: which skills were opened, and from when on what it shows of lessons."""

    skills: tuple[str, ...]
    since: float
    steps: bool


@dataclass(frozen=True, slots=True)
class _Note:
    """What there is to count in one session: its calls, what went wrong in them, and which skills were opened.

    What it shows of lessons, and the names in it, only where one was accepted before it began.
    """

    calls: int
    met: Counter[str]
    read: frozenset[str]
    shown: Shown | None
    names: Names


@dataclass(slots=True)
class _Tally:
    """One lesson's counts while sessions are read."""

    book: NamedBook
    lesson: Accepted
    since: Since
    files: tuple[str, ...] = ()
    """All files of its skills, by their paths in the book."""
    times: Counter[str] = field(default_factory=Counter)
    roots: set[str] = field(default_factory=set)
    """Folders of this machine that sessions of the book's project began in."""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the calls that it is about."""
        return self.since.about

    def gone(self) -> tuple[str, ...]:
        """What it tells to use and none of the project's folders has."""
        texts = (self.lesson.rule, *self.since.skills.values())
        missing = [[one for text in texts for one in here.not_there(text)] for here in self._places()]
        first = next(iter(missing), [])
        gone = (one for one in first if all(one in others for others in missing))
        own = {path.split("/", 2)[2] for path in self.files}  # as a skill names what it brings: scripts/check.sh
        return tuple(dict.fromkeys(one for one in gone if one.removeprefix("./") not in own))

    def unsure(self) -> tuple[str, ...]:
        """What it tells to run and nobody can look up in any of the project's folders."""
        return tuple(dict.fromkeys(one for here in self._places() for one in here.not_looked_up(self.lesson.rule)))

    def _places(self) -> list[Here]:
        return [Here(Path(root), above=0) for root in sorted(self.roots)]

    def outcome(self) -> Outcome:
        times = self.times
        counted = bool(self.keys)
        return Outcome(times["bad before"], times["before"], times["bad since"], times["since"], times["read"], counted)

    def watched(self, names: Names) -> Watched:
        """Return what became of the lesson, and what should become of it."""

        def clean(one: Proposal) -> Proposal:
            return nameless(one, names)

        gone = self.gone()
        unsure = tuple(one for one in self.unsure() if one not in gone)
        found = Watched(
            self.book, self.lesson, self.outcome(), gone=gone, holds=self._holds(gone), unsure=unsure,
            skills=self.since.skills, files=self.files,
        )  # fmt: skip
        better = self.since.better(found.fails and self._heard(found), clean)
        evidence = tuple(map(clean, self.since.evidence())) if found.fails and better is None else ()
        return replace(found, better=better, evidence=evidence)

    def _holds(self, gone: Sequence[str]) -> bool:
        """Whether it is a skill that tells to use other things, too."""
        every = {one for text in self.since.skills.values() for one in (*cited(text), *tasks(text))}
        return not self.lesson.rule and bool(every - set(gone))

    def _heard(self, found: Watched) -> bool:
        """Whether anybody read it: other words help nobody where nobody did."""
        return bool(found.gone or self.lesson.rule or found.outcome.read)


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
    projects, names, asked = Projects(), Names(), _asked(tallies)

    def count(session: Session, notes: Sequence[_Note]) -> None:
        (note,) = notes
        project = projects.of(session.cwd, session.repo)
        mine = [one for one in tallies if one.book.name in (GLOBAL, project.slug if project else "")]
        if mine:
            _count(session, note, mine)
            names.add(note.names)
        if project is not None and is_here(project.root):
            for one in mine:
                one.roots |= {project.root} if one.book.name != GLOBAL else set()

    noters = (partial(_noted, asked),)
    found = account(paths, places, settings, Which(), env=env, progress=progress, noters=noters, on_noted=count)
    return Watch(tuple(one.watched(names) for one in tallies), broken, found.reading, names)


def _asked(tallies: Sequence[_Tally]) -> _Asked:
    skills = tuple(dict.fromkeys(name for one in tallies for name in one.lesson.skills))
    return _Asked(skills, min((one.lesson.at for one in tallies), default=inf), any(one.since.ends for one in tallies))


def _tallies(every: Iterable[NamedBook]) -> tuple[list[_Tally], dict[str, str]]:
    found: list[_Tally] = []
    broken: dict[str, str] = {}
    for book in every:
        try:
            lessons = accepted_lessons(book.folder)
            skills = read(book.folder).skills if any(one.skills for one in lessons) else {}
        except StoreError as error:  # one broken book must not hide what became of the others' lessons
            broken[book.name] = str(error)
            continue
        held = [one for one in lessons if one.rule or one.skills]
        found += [_Tally(book, one, _since(book, one, skills), _files(one, skills)) for one in held]
    return found, broken


def _files(lesson: Accepted, skills: Mapping[str, bytes]) -> tuple[str, ...]:
    own = tuple(f"skills/{name}/" for name in lesson.skills)
    return tuple(path for path in skills if own and path.startswith(own))


def _since(book: NamedBook, lesson: Accepted, skills: Mapping[str, bytes]) -> Since:
    paths = [f"skills/{name}/SKILL.md" for name in lesson.skills]
    texts = {path: skills[path].decode("utf-8", "replace") for path in paths if path in skills}
    return Since(lesson.id, lesson.keys, _counted(lesson.about), lesson.rule, texts, book.name == GLOBAL)


def _counted(keys: Iterable[str]) -> frozenset[str]:
    parts = (part for key in keys for part in key.split(JOINT))
    return frozenset(part for part in parts if not part.startswith(_UNCOUNTED))


def _noted(asked: _Asked, session: Session) -> _Note:
    calls = [call for turn in session.turns for call in turn.calls]
    met: Counter[str] = Counter()
    for call in calls:
        if call.status in _BAD:
            met.update(about(call))
    names, later = Names(), (session.started or 0.0) >= asked.since
    if later:
        learn_names(session, names)
    read = frozenset(name for name in asked.skills if any(_reads(call, name) for call in calls))
    return _Note(len(calls), met, read, shown(session, asked.steps) if later else None, names)


def _count(session: Session, note: _Note, tallies: Sequence[_Tally]) -> None:
    for one in tallies:
        since = (session.started or 0.0) >= one.lesson.at
        one.times["since" if since else "before"] += note.calls
        one.times["bad since" if since else "bad before"] += sum(note.met[key] for key in one.keys)
        if since and session.parent_id is None:
            one.times["read"] += not one.lesson.skills or not note.read.isdisjoint(one.lesson.skills)
        if since and note.shown is not None:
            one.since.see(session, note.shown)


def _reads(call: Call, skill: str) -> bool:
    """Whether a call opens the skill: by the agent's own tool for that, or its file."""
    texts = [value for value in call.args.values() if isinstance(value, str)]
    if call.kind is CallKind.SKILL:
        return skill in texts
    return any(f"{skill}/SKILL.md" in text for text in texts)
