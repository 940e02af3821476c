"""Takes lessons that were read from elsewhere into a bank: each once, however often they come.

What is kept here already is never changed by it, but for a context it did not have. Under the same key the lesson that
was told last holds, and the other one is kept as replaced by it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable

from lessonbook.core.care import Imported, Link, Taken
from lessonbook.core.tidy import tidy_lesson
from lessonbook.core.value import Value
from lessonbook.memory.mnemopi import changing, index, noting
from lessonbook.memory.mnemopi.fields import TEXT_LIMIT
from lessonbook.memory.mnemopi.rows import as_json, columns
from lessonbook.memory.mnemopi.vectors import Vectors

_OWN = re.compile(r"lessonbook:(.+):(\d{1,18}):(\d+\.\d{6})")
"""The origin of a lesson that a bank of ours was told, not given: its bank, its row and when it was told first."""


class Receiver(Value):
    """One open transaction that lessons are taken into."""

    db: sqlite3.Connection
    vectors: Vectors
    now: float
    taken: Taken

    def take(self, bank: str, one: Imported) -> None:
        """Keep one lesson in ``bank``, unless it is there already."""
        known = self._by_origin(bank, one.origin)
        tidied = tidy_lesson(one.lesson, TEXT_LIMIT, TEXT_LIMIT)
        told = columns(tidied.lesson)
        if known is None:
            known = self._find(bank, "same", told["same"])
            if known is not None:
                self._again(known, one, told["context"])
        if known is None:
            self.taken.notes.update((*one.notes, *tidied.notes))
            known = self._add(bank, one, told)
        else:
            self.taken.known += 1
        if one.superseded_by:
            self.taken.links.append(Link(known, bank, one.superseded_by))

    def link(self, links: Iterable[Link], banks: Collection[str]) -> None:
        """Note which lessons hold in the place of those that no longer do, as far as one of ``banks`` has them."""
        for one in links:
            found = (self._by_origin(bank, one.superseded_by) for bank in dict.fromkeys((one.bank, *banks)))
            other = next((number for number in found if number is not None), None)
            if other is not None and not self._leads_to(other, one.number):
                self.db.execute(
                    "UPDATE lessons SET superseded_by = ?"
                    " WHERE id = ? AND superseded_by IS NULL AND invalid IS NOT NULL",
                    (other, one.number),
                )

    def _by_origin(self, bank: str, origin: str) -> int | None:
        own = _OWN.fullmatch(origin)
        if own and own[1] == bank:
            query = "SELECT id FROM lessons WHERE id = ? AND bank = ? AND origin IS NULL"
            found = self.db.execute(f"{query} AND printf('%.6f', created) = ?", (int(own[2]), bank, own[3])).fetchone()
            if found:
                return int(found[0])
        return self._find(bank, "origin", origin)

    def _find(self, bank: str, column: str, value: object) -> int | None:
        query = f"SELECT id FROM lessons WHERE bank = ? AND {column} = ?"
        found = self.db.execute(query, (bank, value)).fetchone()
        return int(found[0]) if found else None

    def _again(self, number: int, one: Imported, context: object) -> None:
        """The same words are here: they gain the context, and are known by this origin too where they have none."""
        self.db.execute("UPDATE lessons SET origin = ? WHERE id = ? AND origin IS NULL", (one.origin, number))
        kept = self.db.execute("SELECT context FROM lessons WHERE id = ?", (number,)).fetchone()[0]
        if context and context != kept:
            with index.reindexed(self.db, number):
                self.db.execute(
                    "INSERT OR IGNORE INTO sightings (lesson, context, metadata, at) VALUES (?, ?, ?, ?)",
                    (number, context, as_json(one.lesson.metadata), self._time(one.seen)),
                )

    def _add(self, bank: str, one: Imported, told: dict[str, object]) -> int:
        key, holder = told["key"], self._find(bank, "key", told["key"])
        row = {"bank": bank, **told, "origin": one.origin, **self._keeping(one)}
        last = holder is None or self._is_last(holder, one)
        if holder is not None:
            row["key"] = None
            self.taken.replaced += 1
            if not last:
                row |= {"invalid": row["invalid"] or self.now, "superseded_by": holder}
        number = self._insert(row)
        if holder is not None and last:
            given = {"key": None, "invalid": self.now, "superseded_by": number}
            changing.change(self.db, self.vectors, holder, "invalidated", given, self.now)
            changing.set_columns(self.db, self.vectors, number, {"key": key})
        self.taken.stored[bank] += 1
        self.taken.contradicting += bool(noting.disagreements(self.db, number, self.now)) if _holds(row) else 0
        return number

    def _insert(self, row: dict[str, object]) -> int:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        insert = f"INSERT INTO lessons ({names}) VALUES ({marks}) RETURNING id"
        number = int(self.db.execute(insert, tuple(row.values())).fetchone()[0])
        noting.note(self.db, number)
        index.add(self.db, number)
        changing.embed(self.db, self.vectors, number)
        return number

    def _keeping(self, one: Imported) -> dict[str, object]:
        """Return the columns that say how the lesson fared; what stopped holding nobody knows when, stops now."""
        seen = self._time(one.seen if one.seen is not None else one.created)
        gone = one.invalid if one.invalid is not None or one.superseded_by is None else 0.0
        return {
            "created": min(seen, self._time(one.created) if one.created is not None else seen),
            "seen": seen,
            "recalled": min(one.recalled, 2**53),
            "recalled_at": None if one.recalled_at is None else self._time(one.recalled_at),
            "forgotten": None if one.forgotten is None else self._time(one.forgotten),
            "invalid": None if gone is None else self._time(gone or None),
            "pinned": int(one.pinned),
        }

    def _time(self, at: float | None) -> float:
        """Return a time that has passed: now for one that has not, or that is not known."""
        return self.now if at is None else min(max(at, 0.0), self.now)

    def _is_last(self, holder: int, one: Imported) -> bool:
        seen, gone = self.db.execute(
            "SELECT seen, coalesce(forgotten, invalid) FROM lessons WHERE id = ?", (holder,)
        ).fetchone()
        if one.invalid is not None or one.forgotten is not None or one.superseded_by:
            return False
        return gone is not None or self._time(one.seen if one.seen is not None else one.created) > seen

    def _leads_to(self, number: int, end: int) -> bool:
        """Whether ``end`` is what holds, by any way, in the place of ``number``, or is it itself."""
        met: set[int] = set()
        following: int | None = number
        while following is not None and following not in met:
            if following == end:
                return True
            met.add(following)
            row = self.db.execute("SELECT superseded_by FROM lessons WHERE id = ?", (following,)).fetchone()
            following = row[0] if row else None
        return False


def _holds(row: dict[str, object]) -> bool:
    return row["forgotten"] is None and row["invalid"] is None
