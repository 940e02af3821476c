"""Whether a lesson is about a call or a person's words: how to tell what it would have prevented."""

from __future__ import annotations

from collections.abc import Iterator

from lessonbook.core.candidate import Proposal
from lessonbook.core.failure import read_failure
from lessonbook.core.session import Call, Session
from lessonbook.proposers import blocked, corrected, fixed, recorded, refused
from lessonbook.proposers.draft import comparable_key
from lessonbook.proposers.incident import Incident
from lessonbook.proposers.merged import JOINT
from lessonbook.proposers.wording import alike

_ALIKE = 0.5
_FREE = (corrected.CORRECTED, recorded.RECORDED)
"""Kinds that are known by their words, not by what they are about."""


def about(call: Call) -> frozenset[str]:
    """Return the keys a proposal about this call carries; none for a call that went well."""
    failure = read_failure(call)
    topics = refused.topics(call) | blocked.topics(call)
    if failure is not None:
        topics.add(fixed.topic_of(failure))
    return frozenset(map(comparable_key, topics))


def triggers(proposal: Proposal) -> frozenset[str]:
    """Return the keys of the calls that a proposal is about."""
    return frozenset(part for key in proposal.about or (proposal.key,) for part in key.split(JOINT))


def names(proposal: Proposal, what: Call | Incident) -> bool:
    """Whether a proposal is about a call, by what failed and why, or about what a person said."""
    if isinstance(what, Call):
        return not triggers(proposal).isdisjoint(about(what))
    if what.topic in _FREE:
        said = proposal.evidence.examples.get("said", "")
        return proposal.evidence.kind == what.topic and alike(said, what.said, _ALIKE)
    return comparable_key(what.topic) in triggers(proposal)


def words(session: Session) -> Iterator[Incident]:
    """Yield what a person or a rule said no to in a session, and what a person corrected."""
    for find in (refused.incidents, blocked.incidents, corrected.incidents):
        yield from find(session)


def is_again(incident: Incident, earlier: Incident) -> bool:
    """Whether the same was refused, stopped or corrected before."""
    same = incident.topic == earlier.topic
    return same and (incident.topic not in _FREE or alike(incident.said, earlier.said, _ALIKE))
