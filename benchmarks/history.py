"""The sessions of one project in order, and what failed in them, by a key that knows nothing of our proposers.

The key of a failure is its program and verb, or its tool, with the first telling line of its result, paths, numbers
and quoted names masked. Red tests, lint, builds and searches that find nothing are answers, not mistakes.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lessonbook.core.errorline import error_key
from lessonbook.core.failure import read_failure
from lessonbook.core.session import Call, CallKind, CallStatus, Session
from lessonbook.core.shell import family
from lessonbook.transcripts.walk import read_paths

EARLY = 0.6


@dataclass(frozen=True, slots=True)
class Mistake:
    """One failed call of a session: its key, and whether it was a mistake rather than an answer."""

    project: str
    session: str
    key: str
    call: Call
    answer: bool


@dataclass(frozen=True)
class Project:
    """A project's sessions by their roots: each a root session with those of its sub-agents, oldest first."""

    name: str
    sessions: tuple[tuple[Session, ...], ...]

    @property
    def early(self) -> tuple[tuple[Session, ...], ...]:
        """What lessons are taken from."""
        return self.sessions[: math.floor(EARLY * len(self.sessions) + 0.5)]

    @property
    def late(self) -> tuple[tuple[Session, ...], ...]:
        """What they are judged by."""
        return self.sessions[len(self.early) :]

    @cached_property
    def early_failures(self) -> list[Mistake]:
        """Every failed call of the early part."""
        return list(_failures(self.name, self.early))

    @cached_property
    def late_failures(self) -> list[Mistake]:
        """Every failed call of the late part."""
        return list(_failures(self.name, self.late))

    @cached_property
    def repeated(self) -> list[Mistake]:
        """The late mistakes whose key failed early."""
        known = {mistake.key for mistake in self.early_failures}
        return [mistake for mistake in self.late_failures if not mistake.answer and mistake.key in known]


def load(folder: Path) -> Project:
    """Read a project's folder; every call counts once, however many files hold it."""
    found = [item for item in read_paths([folder]) if isinstance(item, Session)]
    place = _places(folder)
    roots: dict[str, list[Session]] = {}
    for session in found:
        root = session.parent_id or session.id
        roots.setdefault(root, []).append(replace(session, cwd=str(folder), repo=None))
    order = sorted(roots.values(), key=lambda group: _order(group, place))
    return Project(folder.name, tuple(map(tuple, order)))


def _places(folder: Path) -> dict[str, int]:
    """The order of sessions that hold no time, where the folder tells it in ``order.tsv``."""
    path = folder / "order.tsv"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as file:
        return {row["session"]: int(row["n"]) for row in csv.DictReader(file, delimiter="\t")}


def _order(group: list[Session], place: dict[str, int]) -> tuple[float, int, str]:
    first = group[0]
    known = (place.get(first.id), place.get(Path(first.path).name.split(".", 1)[0]))
    return _started(group), next((n for n in known if n is not None), 0), first.path


def _started(group: Iterable[Session]) -> float:
    return min((session.started for session in group if session.started is not None), default=0.0)


def _failures(project: str, groups: Iterable[tuple[Session, ...]]) -> Iterator[Mistake]:
    for group in groups:
        for session in group:
            for turn in session.turns:
                for call in turn.calls:
                    failure = read_failure(call)
                    if failure is not None:
                        yield Mistake(project, group[0].id, key_of(call), call, failure.answer)


def key_of(call: Call) -> str:
    """Return the key of a failed call: program and verb, or tool, and the masked first line of its error."""
    assert call.status is CallStatus.FAILED
    who = family(call.command) if call.kind is CallKind.SHELL and call.command is not None else call.name
    return f"{who or call.name} | {error_key(call.result)}"
