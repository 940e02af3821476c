"""Learns people's names from sessions, and takes them out of what is kept and sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lessonbook.core.candidate import Proposal
from lessonbook.core.redact_names import NAME_LABEL, Names, guessed, told
from lessonbook.core.session import Session

_LONGEST = 4_000
_GIT = "git"


def learn_names(session: Session, names: Names) -> None:
    """Learn the names that a session gives away."""
    for found in names_of(session):
        names.learn(found)


def names_of(session: Session) -> tuple[frozenset[str], ...]:
    """Return the names that a session gives away, text by text: where it ran, what was typed, said and told by git."""
    met: set[str] = set()
    found: list[frozenset[str]] = []
    for text in _texts(session):
        new = told(text[:_LONGEST]) - met
        if new:
            met |= new
            found.append(new)
    return tuple(found)


def _texts(session: Session) -> Iterator[str]:
    yield from (text for text in (session.cwd, session.path, session.title, session.branch, session.repo) if text)
    for turn in session.turns:
        yield turn.prompt
        yield turn.reply
        yield from turn.steered
        for call in turn.calls:
            if call.deny_reason:
                yield call.deny_reason
            if call.command and _GIT in call.command:
                yield call.command
                yield call.result


def nameless(proposal: Proposal, names: Names) -> Proposal:
    """Return the proposal without the names of people: those that are sure, and what looks like one."""

    def without(text: str) -> str:
        return names.without(text, guess=True)

    evidence = proposal.evidence
    texts = names.without(" ".join((proposal.title, proposal.rule or "", *evidence.examples.values())))
    examples = {name: without(text) for name, text in evidence.examples.items()}
    return replace(
        proposal,
        title=without(proposal.title),
        key=_key(without(proposal.key), texts),
        rule=proposal.rule and without(proposal.rule),
        skill_text=proposal.skill_text and without(proposal.skill_text),
        evidence=replace(evidence, examples=examples, sessions=tuple(_mark(mark, names) for mark in evidence.sessions)),
    )


def _key(key: str, texts: str) -> str:
    """A key is in small letters, so what looks like a name there is known by the texts it was made of."""
    for name in guessed(texts):
        key = re.sub(re.escape(name), NAME_LABEL, key, flags=re.IGNORECASE)
    return key


def _mark(mark: str, names: Names) -> str:
    """A mark whose path a shell still opens: a part of it that names a person is ``*``."""
    named, _, path = mark.rpartition(" (")
    parts = path.removesuffix(")").split("/")
    return f"{named} ({'/'.join(part if names.without(part) == part else '*' for part in parts)})" if named else mark
