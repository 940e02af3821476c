"""A lesson, and what a backend answers when it is asked to keep one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

EMPTY = "Lesson was empty after sanitization; nothing stored."
"""Why a lesson of nothing but white space and control characters is refused: the seed's own sentence."""
NO_GLOBAL = "Global memory scope is only available with the Mnemopi backend."
"""Why a lesson for every project is refused where no bank is shared: the seed's own sentence."""


class Scope(StrEnum):
    """Which bank a lesson is meant for."""

    PROJECT = "project"
    GLOBAL = "global"


class Outcome(StrEnum):
    """What became of a lesson that was handed to a backend."""

    STORED = "stored"
    QUEUED = "queued"
    DUPLICATE = "duplicate"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned: one sentence or a few, already cleaned, redacted and bounded by ``actions.learn``."""

    text: str
    context: str | None = None
    scope: Scope = Scope.PROJECT
    source: str = "coding-agent-learn"
    importance: float = 0.8
    veracity: str = "tool"
    memory_type: str = "fact"
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A backend's answer: what happened, the id it is kept under, and why it was refused when it was."""

    outcome: Outcome
    id: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    """Sentences the caller must be told, such as that the oldest lesson moved to the archive."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One lesson found again. ``score`` is comparable within one answer only; ``at`` is epoch seconds or ``None``."""

    id: str
    text: str
    context: str | None
    score: float
    at: float | None
    bank: str
    source: str = ""
