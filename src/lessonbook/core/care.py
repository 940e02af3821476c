"""What a person is told of a bank as a whole: lists and what narrows them, single lessons, pairs, counts, findings.

Every bank gives these, whatever it is kept in (``care_ports``). Times are epoch seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lessonbook.core.lesson import Change, Kept, Lesson
from lessonbook.core.value import Value

OFTEN = 5
"""A lesson recalled so many times is recalled often."""
STATES = ("all", "holding", "expired", "no longer holding", "replaced", "forgotten", "pinned")
"""What the states of a bank's lessons are counted under."""


class Contradiction(Value):
    """Two lessons that may not both hold: why, when it was found, and when a person let it stand (epoch seconds)."""

    newer: str
    older: str
    kind: str
    said: str
    at: float
    dismissed: float | None
    newer_text: str
    older_text: str


class Pair(Value):
    """Two lessons that say nearly the same: the one to keep, and the other. ``likeness`` is from 0.6 to 1."""

    kept: str
    other: str
    likeness: float


class Wanted(Value):
    """Which lessons a list is about; ``None`` leaves that open."""

    forgotten: bool = False
    """The forgotten ones instead of the others."""
    about: str | None = None
    """The name of an entity: a file, a command, a package, …; of a file, its last part is enough."""
    memory_type: str | None = None
    source: str | None = None
    tag: str | None = None


class Told(Value):
    """One context a lesson was told in, with what was told beside it, and when (epoch seconds)."""

    context: str
    metadata: Mapping[str, str]
    at: float


class Named(Value):
    """Something a lesson names: what kind of thing it is, and its name as it stands there."""

    kind: str
    value: str


class Shown(Value):
    """One lesson with all that belongs to it, but for its vector."""

    kept: Kept
    contexts: tuple[Told, ...]
    entities: tuple[Named, ...]
    facts: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]
    twins: tuple[Pair, ...]
    """Pairs that are proposed for merging and that it is one of."""
    replaces: tuple[str, ...]
    """The lessons in whose place it holds."""
    history: tuple[Change, ...]


class Stats(Value):
    """What a bank's file holds, all its banks together where nothing else is said."""

    banks: Mapping[str, int]
    """Lessons that are not forgotten, by bank."""
    types: Mapping[str, int]
    veracities: Mapping[str, int]
    states: Mapping[str, int]
    """How many there are in ``all``; those that hold, and why the others do not; ``pinned`` ones are among these."""
    never_recalled: int
    often_recalled: int
    """Recalled ``OFTEN`` times or more."""
    changes: int
    contradictions: int
    """Pairs that may contradict each other and that nobody settled."""
    twins: int
    """Pairs that are proposed for merging."""
    vectors: int
    unembedded: int
    """Lessons that wait for a vector."""
    bytes: int
    """Of the file and its journal."""
    unused_bytes: int
    """Of the file, what ``vacuum`` gives back."""

    @property
    def bytes_per_lesson(self) -> int | None:
        """Bytes of the file for each lesson; ``None`` where there is none."""
        return round(self.bytes / self.states["all"]) if self.states["all"] else None


class Slept(Value):
    """What a sleep did."""

    reindexed: bool = False
    """The index of words was made anew, as other rules had made it."""
    embedded: int = 0
    """Vectors made."""
    unembedded: int = 0
    """Lessons that still wait for one, as nothing here makes them."""
    twins: int = 0
    """Pairs newly proposed for merging."""
    uncompared: int = 0
    """Lessons that the next sleep compares with the others."""
    expired: int = 0
    """Lessons that were to hold until a time that has passed."""


class Summary(Value):
    """A group of episodes: the lesson that sums it up, or why there is none."""

    sources: tuple[str, ...]
    lesson: str | None = None
    text: str = ""
    problem: str = ""


class Extracted(Value):
    """What came of asking a model."""

    lessons: int = 0
    """Lessons of which it has said what they name and state."""
    refused: int = 0
    """Lessons of which it said nothing of use: the rules alone hold, and it is not asked again."""
    contradictions: int = 0
    """Pairs newly found that may not both hold."""
    left: int = 0
    """Lessons to ask about the next time."""
    problem: str = ""
    """Why it ended early; empty where it did not."""


class Finding(Value):
    """One thing that was looked at: ``problem`` says what is wrong, and is empty where nothing is."""

    about: str
    said: str
    problem: bool = False


class Imported(Value):
    """One lesson of another store, cleaned and redacted. Times are epoch seconds, ``None`` where the source has none.

    ``origin`` names it for good: read again, from this file or a copy of it, it is the same. ``superseded_by`` and
    ``derived_from`` are origins too.
    """

    lesson: Lesson
    origin: str
    bank: str = ""
    """The bank it was in, as its own store calls it."""
    created: float | None = None
    seen: float | None = None
    """When it was last told."""
    recalled: int = 0
    recalled_at: float | None = None
    superseded_by: str | None = None
    invalid: float | None = None
    """When it stopped holding; 0 where it did and nobody knows when."""
    forgotten: float | None = None
    pinned: bool = False
    derived_from: tuple[str, ...] = ()
    """Lessons of the same file that say the same in full: what the source took out of them or summed up by itself."""
    notes: tuple[str, ...] = ()
    """Sentences a person must be told, such as that a secret was redacted."""


class Link(Value):
    """A lesson that was taken in, its bank, and the origin of the one that holds in its place."""

    number: int
    bank: str
    superseded_by: str


class Taken:
    """What became of the lessons that were handed over."""

    def __init__(self) -> None:
        self.stored = Counter[str]()
        """New lessons, by bank."""
        self.known = 0
        """Lessons that were there already."""
        self.replaced = 0
        """Lessons that another one of the same key holds in the place of, here or among those handed over."""
        self.contradicting = 0
        """New lessons that may contradict one that is there."""
        self.notes = Counter[str]()
        """Sentences on what had to be done to a lesson, such as that a secret was redacted; and to how many."""
        self.links: list[Link] = []

    def add(self, other: Taken) -> None:
        """Count what became of more lessons."""
        self.stored += other.stored
        self.known += other.known
        self.replaced += other.replaced
        self.contradicting += other.contradicting
        self.notes += other.notes
        self.links += other.links
