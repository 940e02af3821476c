"""Which late mistakes a project's early lessons name, and what lists that need no mining would name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.history import Mistake, Project
from lessonbook.core.candidate import Proposal
from lessonbook.core.session import Session
from lessonbook.proposers.incident import Incident
from lessonbook.proposers.matching import is_again, names, words
from lessonbook.proposers.repeats import Repeats
from lessonbook.proposers.shortlist import shortlist

LISTED = 2
"""In how many sessions of other projects a mistake stands before a fixed list of common ones would have it."""


@dataclass(frozen=True)
class Judged:
    """A project, what its early part proposes, and what of that its late part bears out."""

    project: Project
    proposals: tuple[Proposal, ...]
    allowed: int
    named: tuple[Mistake, ...]
    useful: tuple[Proposal, ...]
    words_repeated: tuple[Incident, ...]
    """Refusals, stops and corrections of the late part that were there early."""
    words_named: tuple[Incident, ...]


def judge(project: Project) -> Judged:
    """Propose from the early part, as ``propose`` does for empty books, and look for the triggers in the late one."""
    repeats = Repeats()
    ranked = repeats.propose(_each(project.early))
    proposals = tuple(ranked[at] for at in shortlist(ranked, repeats.budget())[0])
    early, late = list(_words(project.early)), list(_words(project.late))
    again = tuple(word for word in late if any(is_again(word, earlier) for earlier in early))
    calls = [call for session in _each(project.late) for turn in session.turns for call in turn.calls]
    return Judged(
        project,
        proposals,
        repeats.budget(),
        tuple(mistake for mistake in project.repeated if any(names(one, mistake.call) for one in proposals)),
        tuple(one for one in proposals if any(names(one, what) for what in (*calls, *late))),
        again,
        tuple(word for word in again if any(names(one, word) for one in proposals)),
    )


def fixed_list(others: Iterable[Project]) -> frozenset[str]:
    """Return the keys that failed in two sessions or more of other projects: what everybody could be told."""
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for project in others:
        for mistake in (*project.early_failures, *project.late_failures):
            if not mistake.answer:
                seen[mistake.key].add((project.name, mistake.session))
    return frozenset(key for key, sessions in seen.items() if len(sessions) >= LISTED)


def most_frequent(project: Project, most: int) -> frozenset[str]:
    """Return the keys that failed most in the early part: a list without any sense, as long as ours."""
    times = Counter(mistake.key for mistake in project.early_failures if not mistake.answer)
    return frozenset(key for key, _ in times.most_common(most))


def _each(groups: Sequence[tuple[Session, ...]]) -> Iterator[Session]:
    return (session for group in groups for session in group)


def _words(groups: Sequence[tuple[Session, ...]]) -> Iterator[Incident]:
    return (incident for session in _each(groups) for incident in words(session))
