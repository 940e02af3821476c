"""What becomes of a lesson that is told to a team: a new row, an old one told again, or a new text under an old key.

Inside the caller's transaction, which no other one writes the bank beside.
"""

from __future__ import annotations

from typing import Any

from lessonbook.core.lesson import Lesson, Outcome, Receipt
from lessonbook.core.value import Value
from lessonbook.memory.postgres import changing, noting
from lessonbook.memory.postgres.rows import columns, same_hash
from lessonbook.memory.postgres.vectors import Vectors

_FILLED = ("title", "key", "cue", "component", "evidence", "confidence", "valid_until")
"""Fields that a lesson told again brings with it where the kept one has none or another."""


class Teller(Value):
    """One open transaction that lessons are told in; ``now`` is when they are told, in epoch seconds."""

    db: Any
    vectors: Vectors
    now: float

    def tell(self, bank: str, lesson: Lesson) -> Receipt:
        """Keep a tidied lesson in ``bank``; the same text again, or another under the same key, adds no row."""
        known = self.find(bank, "same_hash", same_hash(lesson.text))
        by_key = self.find(bank, "key", lesson.key)
        if known is not None:
            notes = self._hand_over(by_key, known) if by_key not in (None, known) else ()
            return self._again(bank, known, lesson).but(notes=notes)
        notes = ()
        if by_key is None:
            number = changing.insert(self.db, bank, lesson, self.now)
        else:
            number, notes = by_key, (f"It takes the place of what was kept under the key “{lesson.key}”.",)
            contexts = [lesson.context] if lesson.context else []
            told = {**columns(lesson, contexts), "forgotten": None, "invalid": None, "superseded_by": None}
            changing.change(self.db, number, "replaced", told, self.now)
            self.db.execute("UPDATE lessons SET seen = greatest(seen, %s) WHERE id = %s", (self.now, number))
        self.vectors.keep(self.db, number, lesson.text)
        said = noting.disagreements(self.db, number, self.now)
        notes += tuple(f"It may contradict lesson {older}: {why}" for older, why in said)
        return Receipt(Outcome.STORED, id=str(number), notes=notes)

    def find(self, bank: str, name: str, value: str | None) -> int | None:
        """Return the lesson of a bank with this ``same_hash``, ``key`` or ``origin``; ``None`` where there is none."""
        if value is None:
            return None
        found = self.db.execute(f"SELECT id FROM lessons WHERE bank = %s AND {name} = %s", (bank, value)).fetchone()
        return int(found[0]) if found else None

    def _again(self, bank: str, number: int, lesson: Lesson) -> Receipt:
        """The same words are there: they count as the newest, are recalled again and gain what is new."""
        found, known = changing.get(self.db, number), changing.contexts(self.db, number)
        brought = {name: getattr(lesson, name) for name in _FILLED if getattr(lesson, name) is not None}
        told = found.lesson.but(**brought, **({"tags": lesson.tags} if lesson.tags else {}))
        contexts = known if not lesson.context or lesson.context in known else [*known, lesson.context]
        if told != found.lesson or contexts != known:
            changing.rewrite(self.db, number, told, contexts, bank, "updated", self.now)
        if found.forgotten is not None:
            changing.change(self.db, number, "revived", {"forgotten": None}, self.now)
        self.db.execute("UPDATE lessons SET seen = greatest(seen, %s) WHERE id = %s", (self.now, number))
        return Receipt(Outcome.DUPLICATE, id=str(number))

    def _hand_over(self, older: int | None, newer: int) -> tuple[str, ...]:
        """The key moves from one lesson to another that already says what is told now."""
        if older is None:
            return ()
        given = {"key": None, "invalid": self.now, "superseded_by": newer}
        changing.change(self.db, older, "invalidated", given, self.now)
        return (f"Lesson {older}, kept under that key until now, is marked as replaced by it.",)
