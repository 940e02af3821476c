"""What was extracted from one text: the things it names and the facts it states."""

from __future__ import annotations

from lessonbook.core.entity import Entity
from lessonbook.core.fact import Fact
from lessonbook.core.value import Value


class Extraction(Value):
    """What one text holds; the places of entities and facts are in that text."""

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
