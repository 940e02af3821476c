"""What a text states, as a value that can be compared: who, does what, with what, and under which limits."""

from __future__ import annotations

from enum import StrEnum

from lessonbook.core.fact_keys import limit_key, phrase_key, thing_key
from lessonbook.core.value import Value


class Relation(StrEnum):
    """What a fact says of its object."""

    USE = "use"
    """The subject uses the object, or is told to."""
    PREFER = "prefer"
    """The subject likes the object better."""
    DO = "do"
    """The subject always or never does what the object says: a verb and what follows it."""
    REQUIRE = "require"
    """The subject needs the object."""
    LOCATED = "located"
    """The subject is at the path the object names."""
    VERSION = "version"
    """The subject is at a version."""
    VALUE = "value"
    """The setting the subject names has the object as its value."""
    BEFORE = "before"
    """The subject comes before the object."""
    AFTER = "after"
    """The subject comes after the object."""
    FAILS = "fails"
    """The subject fails, with the error the object names; not ``positive``: it works."""


class Fact(Value):
    """One statement of a text. The fields hold words of the text as they stand there, and ``""`` where it has none.

    ``subject`` is ``""`` for whoever works in the project. ``positive`` is false for "do not", "never", "does not".
    """

    relation: Relation
    object: str
    subject: str = ""
    positive: bool = True
    instead: str = ""
    """What the object is to be taken in place of."""
    purpose: str = ""
    """What for."""
    place: str = ""
    """Where it holds, with the word that says so: "in legacy/", "on CI"."""
    condition: str = ""
    """When it holds, and whatever else narrows it."""
    version: str = ""
    """A version or range, as ``entity_versions.version_key`` writes it."""
    start: int = 0
    end: int = 0
    said: str = ""
    """The clause that says it, on one line."""

    @property
    def subject_key(self) -> str:
        """The subject as it is compared."""
        return thing_key(self.subject)

    @property
    def object_key(self) -> str:
        """The object as it is compared."""
        return phrase_key(self.object) if self.relation is Relation.DO else thing_key(self.object)

    @property
    def instead_key(self) -> str:
        """What the object is taken in place of, as it is compared."""
        return thing_key(self.instead)

    @property
    def limits_key(self) -> tuple[str, ...]:
        """What it is for, where and when it holds, as they are compared."""
        return limit_key(f"{self.purpose} {self.place} {self.condition}")
