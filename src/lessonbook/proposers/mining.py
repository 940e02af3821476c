"""What every proposer that needs no model does: keep small incidents of each session, and draft lessons at the end.

One pass; of each session only incidents are kept, so memory grows with what went wrong, not with what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lessonbook.core.candidate import Passed, Proposal
from lessonbook.core.session import Session
from lessonbook.proposers.draft import Draft
from lessonbook.proposers.fixed_rules import AGAIN, FIXED
from lessonbook.proposers.incident import History, Incident, moved
from lessonbook.proposers.merged import merged
from lessonbook.proposers.wording import same_rule

FEW = 3
SESSIONS_A_PROPOSAL = 4
"""At most one proposal for this many sessions: a person has to read them."""

LEAST_CHANCE = 0.6
"""A mistake less likely than this to come again soon is left out."""

ONCE = "seen in one session only, so far"

_LEAST = 2

Finder = Callable[[Session], Iterator[Incident]]
Drafter = Callable[[Sequence[Incident], History], Iterator[Draft]]
Source = tuple[Finder, Drafter]
Note = list[list[Incident]]
"""What each source finds in one session."""


@dataclass(slots=True)
class Mined:
    """One proposer over its sources. One object serves one run; ``history`` holds which sessions it saw."""

    name: str
    sources: tuple[Source, ...]
    history: History = field(default_factory=History)
    passed: list[Passed] = field(default_factory=list)
    """What a person said once in words of a rule: not offered yet, but worth telling."""
    found: list[list[Incident]] = field(default_factory=list)

    def see(self, session: Session) -> None:
        """Keep what the sources find in one session."""
        self.take(session, self.note(session))

    def note(self, session: Session) -> Note:
        """Return what each source finds in one session."""
        return [list(incidents(session)) for incidents, _ in self.sources]

    def take(self, session: Session, note: Note) -> None:
        """Keep what was noted of a session, which may have found its project meanwhile."""
        self.history.add(session)
        self.found = self.found or [[] for _ in self.sources]
        for kept, found in zip(self.found, note, strict=True):
            kept.extend(moved(found, session))

    def proposals(self) -> Sequence[Proposal]:
        """Return all that recurs in the sessions seen, most worthwhile first."""
        found = zip(self.found, self.sources, strict=True) if self.found else ()
        drafts = [draft for kept, (_, drafter) in found for draft in drafter(kept, self.history)]
        wanted = [draft for draft in merged(drafts) if _wanted(draft)]
        ranked = sorted(_distinct(wanted), key=_rank)
        once = [draft.proposal for draft in ranked if draft.sessions < _LEAST]
        self.passed = [Passed(one.title, one.rule or "", ONCE) for one in once]
        return [
            replace(draft.proposal, worth=draft.worth, proposer=self.name)
            for draft in ranked
            if draft.sessions >= _LEAST
        ]

    def propose(self, sessions: Iterable[Session]) -> Sequence[Proposal]:
        """See all the sessions, and return what they teach."""
        for session in sessions:
            self.see(session)
        return self.proposals()

    def budget(self) -> int:
        """How many proposals the sessions seen are good for."""
        return budget(self.history.sessions)


def budget(sessions: int) -> int:
    """Return how many proposals so many sessions are good for, known ones included: a few even for a handful."""
    return max(FEW, math.ceil(sessions / SESSIONS_A_PROPOSAL))


def distinct(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Leave out a proposal that says what one before it already says, in the same book."""
    kept: list[Proposal] = []
    for proposal in proposals:
        if not any(_same(proposal, other) for other in kept):
            kept.append(proposal)
    return kept


def _rank(draft: Draft) -> tuple[float, str]:
    return -draft.worth, draft.proposal.key


def _wanted(draft: Draft) -> bool:
    """A mistake that will hardly come again is not worth a rule that every session pays for; a person's word is."""
    return draft.proposal.evidence.kind not in (FIXED, AGAIN) or draft.chance >= LEAST_CHANCE


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    ordered = sorted(drafts, key=lambda draft: -draft.worth)
    kept = {id(proposal) for proposal in distinct([draft.proposal for draft in ordered])}
    return [draft for draft in ordered if id(draft.proposal) in kept]


def _same(one: Proposal, other: Proposal) -> bool:
    if one.book is not other.book or one.cwd != other.cwd:
        return False
    if one.skill_name or other.skill_name:
        return one.skill_name == other.skill_name
    return same_rule(one.rule or "", other.rule or "")
