"""Takes lessons that were read from elsewhere into a team's bank: each once, however often they come.

What is kept there already is never changed by it, but for a context it did not have. Under the same key the lesson that
was told last holds, and the other one is kept as replaced by it. Inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from lessonbook.core.care import Imported, Link, Taken
from lessonbook.core.lesson import Kept, Lesson
from lessonbook.core.tidy import tidy_lesson
from lessonbook.core.value import Value
from lessonbook.memory.importing.json_lines import origin_of
from lessonbook.memory.mnemopi.fields import TEXT_LIMIT
from lessonbook.memory.postgres import changing, noting
from lessonbook.memory.postgres.rows import same_hash
from lessonbook.memory.postgres.telling import Teller
from lessonbook.memory.postgres.vectors import Vectors
from lessonbook.memory.replacing import leads_to


class Receiver(Value):
    """One open transaction that lessons are taken into."""

    db: Any
    vectors: Vectors
    now: float
    taken: Taken

    def take(self, bank: str, one: Imported) -> None:
        """Keep one lesson in ``bank``, unless it is there already."""
        teller = Teller(self.db, self.vectors, self.now)
        known = self._by_origin(bank, one.origin)
        tidied = tidy_lesson(one.lesson, TEXT_LIMIT, TEXT_LIMIT)
        if known is None:
            known = teller.find(bank, "same_hash", same_hash(tidied.lesson.text))
            if known is not None:
                self._again(known, one, tidied.lesson)
        if known is None:
            self.taken.notes.update((*one.notes, *tidied.notes))
            known = self._add(bank, one, tidied.lesson, teller.find(bank, "key", tidied.lesson.key))
        else:
            self.taken.known += 1
        if one.superseded_by:
            self.taken.links.append(Link(known, bank, one.superseded_by))

    def link(self, links: Iterable[Link], banks: Collection[str]) -> None:
        """Note which lessons hold in the place of those that no longer do, as far as one of ``banks`` has them."""
        for one in links:
            found = (self._by_origin(bank, one.superseded_by) for bank in dict.fromkeys((one.bank, *banks)))
            other = next((number for number in found if number is not None), None)
            if other is not None and not leads_to(other, one.number, self._next):
                where = "id = %s AND superseded_by IS NULL AND invalid IS NOT NULL"
                self.db.execute(f"UPDATE lessons SET superseded_by = %s WHERE {where}", (other, one.number))

    def _by_origin(self, bank: str, origin: str) -> int | None:
        """Return the lesson of an origin: one that was taken in under it, or that was told here and exported."""
        found = self.db.execute("SELECT id FROM lessons WHERE bank = %s AND origin = %s", (bank, origin)).fetchone()
        if found:
            return int(found[0])
        number = origin.rsplit(":", 2)[-2] if origin.count(":") >= 3 else ""
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            return None
        query = "SELECT id, bank, created FROM lessons WHERE id = %s AND bank = %s AND origin IS NULL"
        row = self.db.execute(query, (int(number), bank)).fetchone()
        return row[0] if row and own_origin(*row) == origin else None

    def _again(self, number: int, one: Imported, lesson: Lesson) -> None:
        """The same words are here: they gain the context, and are known by this origin too where they have none."""
        self.db.execute("UPDATE lessons SET origin = %s WHERE id = %s AND origin IS NULL", (one.origin, number))
        contexts = changing.contexts(self.db, number)
        if lesson.context and lesson.context not in contexts:
            changing.give_contexts(self.db, number, [*contexts, lesson.context])

    def _add(self, bank: str, one: Imported, lesson: Lesson, holder: int | None) -> int:
        last = holder is None or self._is_last(holder, one)
        number = changing.insert(self.db, bank, lesson if holder is None else lesson.but(key=None), self.now)
        keeping = self._keeping(one)
        if holder is not None:
            self.taken.replaced += 1
            if not last:
                keeping |= {"invalid": keeping["invalid"] or self.now, "superseded_by": holder}
        names = ", ".join(f"{name} = %s" for name in keeping)
        self.db.execute(f"UPDATE lessons SET {names} WHERE id = %s", (*keeping.values(), number))
        if holder is not None and last:
            given = {"key": None, "invalid": self.now, "superseded_by": number}
            changing.change(self.db, holder, "invalidated", given, self.now)
            changing.give_key(self.db, number, lesson)
        self.vectors.keep(self.db, number, lesson.text)
        self.taken.stored[bank] += 1
        if keeping["forgotten"] is None and keeping["invalid"] is None:
            self.taken.contradicting += bool(noting.disagreements(self.db, number, self.now))
        return number

    def _keeping(self, one: Imported) -> dict[str, Any]:
        """Return the columns that say how the lesson fared; what stopped holding nobody knows when, stops now."""
        seen = self._time(one.seen if one.seen is not None else one.created)
        gone = one.invalid if one.invalid is not None or one.superseded_by is None else 0.0
        return {
            "origin": one.origin,
            "created": min(seen, self._time(one.created) if one.created is not None else seen),
            "seen": seen,
            "recalled": min(one.recalled, 2**31 - 1),
            "recalled_at": None if one.recalled_at is None else self._time(one.recalled_at),
            "forgotten": None if one.forgotten is None else self._time(one.forgotten),
            "invalid": None if gone is None else self._time(gone or None),
            "pinned": one.pinned,
        }

    def _time(self, at: float | None) -> float:
        """Return a time that has passed: now for one that has not, or that is not known."""
        return self.now if at is None else min(max(at, 0.0), self.now)

    def _is_last(self, holder: int, one: Imported) -> bool:
        if one.invalid is not None or one.forgotten is not None or one.superseded_by:
            return False
        kept = changing.get(self.db, holder)
        gone = kept.forgotten is not None or kept.invalid is not None
        return gone or self._time(one.seen if one.seen is not None else one.created) > kept.seen

    def _next(self, number: int) -> int | None:
        row = self.db.execute("SELECT superseded_by FROM lessons WHERE id = %s", (number,)).fetchone()
        return row[0] if row else None


def own_origin(number: int, bank: str, created: float) -> str:
    """Return what names a lesson that was told here for good, as an export of it does."""
    return origin_of(Kept(str(number), Lesson(""), bank, created, 0.0))
