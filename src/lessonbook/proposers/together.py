"""Several proposers over one reading of the sessions, and one list of what they propose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lessonbook.core.candidate import Passed, Proposal
from lessonbook.core.ports import Proposer
from lessonbook.core.session import Session
from lessonbook.proposers.incident import History
from lessonbook.proposers.mining import budget, distinct


@dataclass(slots=True)
class Together:
    """Shows each session to every proposer, once, and ranks what they return."""

    proposers: Sequence[Proposer]
    history: History = field(default_factory=History)

    def see(self, session: Session) -> None:
        """Show one session to every proposer."""
        self.history.add(session)
        for proposer in self.proposers:
            proposer.see(session)

    def take(self, session: Session, notes: Sequence[Any]) -> None:
        """Give every proposer what it noted of one session, which comes without its turns."""
        self.history.add(session)
        for proposer, note in zip(self.proposers, notes, strict=True):
            proposer.take(session, note)

    def proposals(self) -> list[Proposal]:
        """Return what they propose, most worthwhile first, each lesson once."""
        every = [one for proposer in self.proposers for one in proposer.proposals()]
        return distinct(sorted(every, key=lambda one: (-one.worth, one.key)))

    def passed(self) -> list[Passed]:
        """Return what they found and did not propose, and why; complete after ``proposals``."""
        return [one for proposer in self.proposers for one in proposer.passed]

    def budget(self) -> int:
        """How many proposals the sessions seen are good for."""
        return budget(self.history.sessions)
