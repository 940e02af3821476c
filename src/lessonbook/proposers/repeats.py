"""The proposer ``repeats``: what happened in two sessions or more, without any model.

One pass; of each session only small incidents are kept, so memory grows with what went wrong, not with what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lessonbook.core.candidate import Proposal
from lessonbook.core.session import Session
from lessonbook.proposers import blocked, corrected, fixed, prepared, recorded, refused
from lessonbook.proposers.draft import Draft
from lessonbook.proposers.fixed_rules import AGAIN, FIXED
from lessonbook.proposers.incident import History, Incident
from lessonbook.proposers.merged import merged
from lessonbook.proposers.wording import same_rule

FEW = 3
SESSIONS_A_PROPOSAL = 4
"""At most one proposal for this many sessions: a person has to read them."""

LEAST_CHANCE = 0.6
"""A mistake less likely than this to come again soon is left out."""

_LEAST = 2

Finder = Callable[[Session], Iterator[Incident]]
Drafter = Callable[[Sequence[Incident], History], Iterator[Draft]]

_SOURCES: tuple[tuple[Finder, Drafter], ...] = (
    (fixed.incidents, fixed.drafts),
    (prepared.incidents, prepared.drafts),
    (refused.incidents, refused.drafts),
    (blocked.incidents, blocked.drafts),
    (corrected.incidents, corrected.drafts),
    (recorded.incidents, recorded.drafts),
)


@dataclass(slots=True)
class Repeats:
    """Finds what recurs. One object serves one run; ``history`` holds what it read."""

    name: str = "repeats"
    history: History = field(default_factory=History)
    once: list[Proposal] = field(default_factory=list)
    """What a person said once in words of a rule: not offered yet, but worth telling."""

    def propose(self, sessions: Iterable[Session]) -> Sequence[Proposal]:
        """Return all that recurs, most worthwhile first; ``budget`` says how many of them a person should be shown."""
        found: list[list[Incident]] = [[] for _ in _SOURCES]
        for session in sessions:
            self.history.add(session)
            for source, (incidents, _) in zip(found, _SOURCES, strict=True):
                source.extend(incidents(session))
        drafts = [
            draft
            for source, (_, drafter) in zip(found, _SOURCES, strict=True)
            for draft in drafter(source, self.history)
        ]
        wanted = [draft for draft in merged(drafts) if _wanted(draft)]
        ranked = sorted(_distinct(wanted), key=_rank)
        self.once = [draft.proposal for draft in ranked if draft.sessions < _LEAST]
        return [draft.proposal for draft in ranked if draft.sessions >= _LEAST]

    def budget(self) -> int:
        """How many proposals the sessions read are good for, known ones included: a few even for a handful."""
        return max(FEW, math.ceil(self.history.sessions / SESSIONS_A_PROPOSAL))


def _rank(draft: Draft) -> tuple[float, str]:
    return -draft.worth, draft.proposal.key


def _wanted(draft: Draft) -> bool:
    """A mistake that will hardly come again is not worth a rule that every session pays for; a person's word is."""
    return draft.proposal.evidence.kind not in (FIXED, AGAIN) or draft.chance >= LEAST_CHANCE


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Leave out a draft that says what a better one of the same book already says."""
    kept: list[Draft] = []
    for draft in sorted(drafts, key=lambda draft: -draft.worth):
        if not any(_same(draft.proposal, other.proposal) for other in kept):
            kept.append(draft)
    return kept


def _same(one: Proposal, other: Proposal) -> bool:
    return one.book is other.book and one.cwd == other.cwd and same_rule(one.rule or "", other.rule or "")
