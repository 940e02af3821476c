"""What becomes of a lesson that is told: a new row, an old one told again, or a new text under an old key.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from lessonbook.core.lesson import Lesson, Outcome, Receipt
from lessonbook.core.value import Value
from lessonbook.memory.mnemopi import changing, index, noting
from lessonbook.memory.mnemopi.rows import as_json, columns
from lessonbook.memory.mnemopi.vectors import Vectors

_FILLED = ("title", "key", "cue", "component", "evidence", "confidence", "valid_until")
"""Fields that a lesson told again brings with it where the kept one has none or another."""


class Teller(Value):
    """One open transaction that lessons are told in."""

    db: sqlite3.Connection
    vectors: Vectors
    now: float

    def tell(self, bank: str, lesson: Lesson) -> Receipt:
        """Keep a tidied lesson in ``bank``; the same text again, or another under the same key, adds no row."""
        by_key = self._find(bank, "key", lesson.key)
        by_text = self._find(bank, "same", columns(lesson)["same"])
        if by_text is not None:
            note = self._hand_over(by_key, by_text) if by_key not in (None, by_text) else ()
            return self._again(by_text, lesson, note)
        if by_key is not None:
            return self._replace(by_key, lesson)
        return self._add(bank, lesson)

    def _find(self, bank: str, column: str, value: object) -> int | None:
        if value is None:
            return None
        found = self.db.execute(
            f"SELECT id FROM lessons WHERE bank = ? AND {column} = ?",
            (bank, value),
        ).fetchone()
        return int(found[0]) if found else None

    def _add(self, bank: str, lesson: Lesson) -> Receipt:
        told = {"bank": bank, **columns(lesson), "created": self.now, "seen": self.now}
        names, marks = ", ".join(told), ", ".join("?" * len(told))
        insert = f"INSERT INTO lessons ({names}) VALUES ({marks}) RETURNING id"
        number = int(self.db.execute(insert, tuple(told.values())).fetchone()[0])
        noting.note(self.db, number)
        index.add(self.db, number)
        changing.embed(self.db, self.vectors, number)
        return Receipt(Outcome.STORED, id=str(number), notes=self._disagreeing(number))

    def _replace(self, number: int, lesson: Lesson) -> Receipt:
        """The text under a key takes the old one's place; the old one stays in the history."""
        told = {**columns(lesson), "forgotten": None, "invalid": None, "superseded_by": None}
        changing.change(self.db, self.vectors, number, "replaced", told, self.now)
        self.db.execute("UPDATE lessons SET seen = max(seen, ?) WHERE id = ?", (self.now, number))
        note = f"It takes the place of what was kept under the key “{lesson.key}”."
        return Receipt(Outcome.STORED, id=str(number), notes=(note, *self._disagreeing(number)))

    def _again(self, number: int, lesson: Lesson, notes: tuple[str, ...]) -> Receipt:
        db = self.db
        db.execute("UPDATE lessons SET seen = max(seen, ?) WHERE id = ?", (self.now, number))
        context, invalid, forgotten = db.execute(
            "SELECT context, invalid, forgotten FROM lessons WHERE id = ?", (number,)
        ).fetchone()
        if lesson.context and lesson.context != context:
            with index.reindexed(db, number):
                db.execute(
                    "INSERT OR IGNORE INTO sightings (lesson, context, metadata, at) VALUES (?, ?, ?, ?)",
                    (number, lesson.context, as_json(lesson.metadata), self.now),
                )
        if forgotten is not None:
            changing.change(db, self.vectors, number, "revived", {"forgotten": None}, self.now)
            notes = (*notes, f"It had been forgotten on {_day(forgotten)} and is recalled again.")
        if invalid is not None:
            notes = (*notes, f"It is marked as no longer holding since {_day(invalid)}; that was left so.")
        brought = {name: getattr(lesson, name) for name in _FILLED if getattr(lesson, name) is not None}
        if lesson.tags:
            brought["tags"] = columns(lesson)["tags"]
        changing.change(db, self.vectors, number, "updated", brought, self.now) if brought else None
        return Receipt(Outcome.DUPLICATE, id=str(number), notes=notes)

    def _hand_over(self, older: int | None, newer: int) -> tuple[str, ...]:
        """The key moves from one lesson to another that already says what is told now."""
        if older is None:
            return ()
        given = {"key": None, "invalid": self.now, "superseded_by": newer}
        changing.change(self.db, self.vectors, older, "invalidated", given, self.now)
        return (f"Lesson {older}, kept under that key until now, is marked as replaced by it.",)

    def _disagreeing(self, number: int) -> tuple[str, ...]:
        said = noting.disagreements(self.db, number, self.now)
        return tuple(f"It may contradict lesson {older}: {why}" for older, why in said)


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
