"""The contract every proposer meets: inherit ``ProposerContract``, give it sessions that teach something, and run it.

class TestMyProposer(ProposerContract):
    def proposer(self): return MyProposer()
    def sessions(self): return [...]   # sessions that it makes at least one proposal of
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from lessonbook.core.ports import Proposer
from lessonbook.core.redact import redact, scrub_identity
from lessonbook.core.session import Session

TITLE_MOST = 72


class ProposerContract(ABC):
    """Inherit it in a test class; pytest runs every ``test_`` method against the proposer."""

    @abstractmethod
    def proposer(self) -> Proposer:
        """Return a new proposer."""

    @abstractmethod
    def sessions(self) -> Sequence[Session]:
        """Return sessions that teach something, oldest first."""

    def test_it_is_one(self) -> None:
        """It has the shape of a proposer, and a name."""
        assert isinstance(self.proposer(), Proposer)
        assert self.proposer().name

    def test_nothing_comes_of_nothing(self) -> None:
        """No sessions, no proposals; and sessions without turns teach nothing."""
        assert list(self.proposer().propose([])) == []
        empty = [replace(session, turns=()) for session in self.sessions()]
        assert list(self.proposer().propose(empty)) == []

    def test_one_by_one_is_all_at_once(self) -> None:
        """Seeing sessions one by one comes to the same, from any iterable."""
        single = self.proposer()
        for session in self.sessions():
            single.see(session)
        assert list(single.proposals()) == list(self.proposer().propose(iter(self.sessions()))) != []

    def test_what_another_process_noted_is_as_good(self) -> None:
        """Notes that were sent, and sessions without their turns, come to the same as seeing the sessions."""
        taking = self.proposer()
        for session in self.sessions():
            sent = pickle.dumps((replace(session, turns=()), self.proposer().note(session)))
            taking.take(*pickle.loads(sent))
        assert list(taking.proposals()) == list(self.proposer().propose(self.sessions()))

    def test_each_proposal_can_be_offered(self) -> None:
        """It says who proposes it, what it rests on, and is a rule or a skill, in bounds."""
        made = self.proposer()
        for one in made.propose(self.sessions()):
            assert one.proposer == made.name and one.key and one.worth > 0
            assert 0 < len(one.title) <= TITLE_MOST and "\n" not in one.title
            assert (one.rule is None) != (one.skill_name is None) == (one.skill_text is None)
            assert one.evidence.sessions and one.evidence.count >= len(one.evidence.sessions)

    def test_the_best_come_first_and_no_key_twice_in_a_book(self) -> None:
        """They are ranked by worth, and a lesson is proposed once to one book."""
        found = self.proposer().propose(self.sessions())
        assert [one.worth for one in found] == sorted((one.worth for one in found), reverse=True)
        keys = [(one.book, one.cwd, one.key) for one in found]
        assert len(keys) == len(set(keys))

    def test_nothing_identifying_is_proposed(self) -> None:
        """Secrets, addresses and home folders are taken out of every text."""
        for one in self.proposer().propose(self.sessions()):
            texts = (one.title, one.key, one.rule or "", one.skill_text or "", *one.evidence.examples.values())
            assert not any(redact(text).count or scrub_identity(text).count for text in texts)
