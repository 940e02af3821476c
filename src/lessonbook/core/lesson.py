"""A lesson, and what a backend answers when it is asked to keep one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from lessonbook.core.value import Value

EMPTY = "Lesson was empty after sanitization; nothing stored."
"""Why a lesson of nothing but white space and control characters is refused: the seed's own sentence."""
VERACITIES = ("stated", "inferred", "tool", "imported", "unknown", "true", "false")
"""How sure a lesson is: said by a person, concluded, seen by a tool, brought in, not known, checked, found wrong."""
MEMORY_TYPES = ("fact", "episode", "preference", "procedure", "decision", "note")
"""What kind of thing a lesson is; another backend may use other words, and they are kept."""
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


class Lesson(Value):
    """What was learned: one sentence or a few, already cleaned, redacted and bounded by ``actions.learn``."""

    text: str
    context: str | None = None
    scope: Scope = Scope.PROJECT
    source: str = "coding-agent-learn"
    importance: float = 0.8
    veracity: str = "tool"
    memory_type: str = "fact"
    metadata: Mapping[str, str] = MappingProxyType({})
    title: str | None = None
    tags: tuple[str, ...] = ()
    key: str | None = None
    """Names the lesson within its bank: told again under the same key, the new text takes the old one's place."""
    cue: str | None = None
    """When to think of it: the situation, in the words it will come up in."""
    component: str | None = None
    evidence: str | None = None
    confidence: float | None = None
    """From 0 to 1, as whoever told it judged; ``None`` where nobody said."""
    valid_until: float | None = None
    """Epoch seconds after which it no longer holds; ``None`` where it does not end."""
    branch: str | None = None
    """The git branch it was learned on."""


class Receipt(Value):
    """A backend's answer: what happened, the id it is kept under, and why it was refused when it was."""

    outcome: Outcome
    id: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    """Sentences the caller must be told, such as that the oldest lesson moved to the archive."""


class Recalled(Value):
    """One lesson found again. ``score`` is comparable within one answer only; ``at`` is epoch seconds or ``None``."""

    id: str
    text: str
    context: str | None
    score: float
    at: float | None
    bank: str
    source: str = ""
    title: str | None = None
    parts: tuple[Part, ...] = ()
    """What its score is made of, in the order it was added up; empty where the backend does not say."""
    marks: tuple[str, ...] = ()
    """Sentences a reader must weigh it with, such as that a newer lesson took its place."""


class Part(Value):
    """One part of a score, and where it comes from: ``words`` 0.42, ``recency`` +0.03."""

    name: str
    value: float
    note: str = ""


class Kept(Value):
    """One lesson as a bank keeps it. Times are epoch seconds; ``superseded_by`` is another lesson's id."""

    id: str
    lesson: Lesson
    bank: str
    created: float
    seen: float
    """When it was last told."""
    recalled: int = 0
    recalled_at: float | None = None
    superseded_by: str | None = None
    """The lesson that holds in its place."""
    invalid: float | None = None
    """When it stopped holding, whether or not another took its place."""
    forgotten: float | None = None
    """When it was forgotten: kept, undoable, and never recalled."""
    pinned: bool = False


class Change(Value):
    """One change of a lesson: what was done, and what its fields were before."""

    number: int
    lesson: str
    at: float
    verb: str
    """``replaced``, ``updated``, ``forgotten``, ``revived``, ``invalidated``, ``pinned``, ``unpinned``, ``merged``."""
    before: Mapping[str, object]
    undone: bool = False
