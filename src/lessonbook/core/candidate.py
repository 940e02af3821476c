"""A candidate: one proposed change to a book, waiting on its own pending branch; and what a proposer offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lessonbook.core.pending import Candidate as Candidate
from lessonbook.core.pending import Twin as Twin
from lessonbook.core.pending import is_candidate_id as is_candidate_id


class BookKind(StrEnum):
    """Which book a proposal belongs to: what holds everywhere, or what only makes sense in one project."""

    GLOBAL = "global"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a proposal rests on, in a form a person can check by opening the sessions."""

    kind: str
    """A finding or proposal kind, such as ``failed-then-worked`` or ``refused``."""
    agents: tuple[str, ...]
    sessions: tuple[str, ...]
    """``<session id> turn <n> (<path>)`` of each session it was seen in, first seen first."""
    count: int
    """How many times it happened, in all sessions."""
    first: float | None
    last: float | None
    examples: Mapping[str, str] = field(default_factory=dict)
    """Short, redacted, one line each: ``failed``, ``error``, ``worked``, ``said``."""
    times: tuple[float, ...] = ()
    """When it happened each time, in epoch seconds, where the sessions say; in any order."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a proposer offers: a rule for ``AGENTS.md``, or a skill; to which book; and why."""

    title: str
    """The commit's subject after its prefix: one line, under 72 characters."""
    book: BookKind
    evidence: Evidence
    key: str
    """A stable fingerprint of what it is about: equal keys are the same lesson, whatever the wording."""
    rule: str | None = None
    """The paragraph for ``AGENTS.md``; ``None`` where ``skill_name`` and ``skill_text`` are given."""
    skill_name: str | None = None
    skill_text: str | None = None
    cwd: str | None = None
    """A folder of the project it belongs to, where ``book`` is ``PROJECT``."""
    repo: str | None = None
    """The remote address of that project's repository, where the sessions record it."""
    about: tuple[str, ...] = ()
    """Keys of the calls it is about, where ``key`` says more than that; else ``key`` is all there is."""
    worth: float = 0.0
    """What it is ranked by: sessions it was seen in, times how sure it is."""
    proposer: str = ""
    """The name of the proposer it comes from."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Something a proposer found and did not propose, and why not."""

    title: str
    text: str
    reason: str
