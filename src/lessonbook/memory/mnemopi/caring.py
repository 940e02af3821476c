"""Finds lessons that say nearly the same, and merges the two that a person or agent chose; nothing merges by itself.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from lessonbook.core.care import Pair
from lessonbook.core.errors import InputError
from lessonbook.core.twins import Index, Print, print_of, similarity
from lessonbook.core.value import Value
from lessonbook.memory.mnemopi import changing, index
from lessonbook.memory.mnemopi.vectors import Vectors

MERGED, APART = "merged", "apart"
_LOOKED = "twins"
_BETWEEN = 50
"""Lessons compared between two looks at whether it is enough."""


class Looked(Value):
    """Up to which lesson and which change twins were looked for."""

    lesson: int = 0
    change: int = 0

    @classmethod
    def kept(cls, db: sqlite3.Connection) -> Looked:
        """Return up to where the file says that was looked."""
        found = db.execute("SELECT value FROM about WHERE name = ?", (_LOOKED,)).fetchone()
        said = re.fullmatch(r"(\d{1,18}) (\d{1,18})", str(found[0]), re.ASCII) if found else None
        return cls(int(said[1]), int(said[2])) if said else cls()

    @classmethod
    def now(cls, db: sqlite3.Connection) -> Looked:
        """Return where everything that is there now was looked at."""
        newest = "SELECT (SELECT coalesce(max(id), 0) FROM lessons), (SELECT coalesce(max(number), 0) FROM changes)"
        return cls(*db.execute(newest).fetchone())

    def fresh(self, db: sqlite3.Connection) -> list[int]:
        """Return the lessons that came or changed since, the changed ones first."""
        changed = "SELECT DISTINCT lesson FROM changes WHERE number > ? AND lesson <= ? ORDER BY lesson"
        came = "SELECT id FROM lessons WHERE id > ? ORDER BY id"
        rows = [*db.execute(changed, (self.change, self.lesson)), *db.execute(came, (self.lesson,))]
        return [int(row[0]) for row in rows]

    def until(self, number: int) -> Looked:
        """Return where the lessons before ``number`` were looked at; changed ones are looked at again."""
        return self.but(lesson=max(self.lesson, number - 1))

    def keep(self, db: sqlite3.Connection) -> None:
        """Note it in the file."""
        said = f"{self.lesson} {self.change}"
        db.execute("INSERT OR REPLACE INTO about (name, value) VALUES (?, ?)", (_LOOKED, said))


def find(
    db: sqlite3.Connection, banks: Sequence[str], looked: Looked, enough: Callable[[], bool]
) -> tuple[list[Pair], Looked]:
    """Return the near twins, within a bank, of each lesson that is new or changed since ``looked``, and what is now.

    Of two the one told last is to be kept; each lesson is paired with its newest twin alone. Pinned lessons, forgotten
    ones and those that no longer hold are left alone. It stops when ``enough`` says so, and goes on from there next
    time. Only reads, so that nobody waits while many lessons are compared.
    """
    fresh = looked.fresh(db)
    found: dict[tuple[str, str], Pair] = {}
    rows = {bank: _compared(db, bank) for bank in banks}
    twins = {bank: Index([one for _, one in compared]) for bank, compared in rows.items()}
    place_of = {number: (bank, place) for bank in banks for place, (number, _) in enumerate(rows[bank])}
    for count, number in enumerate(fresh):
        if count % _BETWEEN == 0 and count and enough():
            return list(found.values()), looked.until(number)
        if number in place_of:
            bank, place = place_of[number]
            for pair in _paired(rows[bank], twins[bank], place):
                found[pair.kept, pair.other] = pair
    return list(found.values()), Looked.now(db)


def note(db: sqlite3.Connection, pairs: Sequence[Pair], looked: Looked, now: float) -> int:
    """Note the pairs that nobody decided on yet, and up to where was looked; return how many pairs are new."""
    before = db.total_changes
    db.executemany(
        "INSERT INTO merges (kept, other, likeness, at) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS"
        " (SELECT 1 FROM merges WHERE (kept = ?1 AND other = ?2) OR (kept = ?2 AND other = ?1))"
        " AND 2 = (SELECT count(*) FROM lessons WHERE id IN (?1, ?2))",
        [(int(pair.kept), int(pair.other), pair.likeness, now) for pair in pairs],
    )
    new = db.total_changes - before
    looked.keep(db)
    return new


def _compared(db: sqlite3.Connection, bank: str) -> list[tuple[int, Print]]:
    rows = db.execute(
        "SELECT id, text FROM lessons WHERE bank = ? AND forgotten IS NULL AND invalid IS NULL AND NOT pinned"
        " ORDER BY seen, id",
        (bank,),
    )
    return [(number, print_of(text)) for number, text in rows]


def _paired(rows: Sequence[tuple[int, Print]], twins: Index, place: int) -> Iterator[Pair]:
    """Yield a lesson with its newest twin; ``rows`` are ordered by when they were told."""
    one = rows[place][1]
    others = [other for other in twins.near(one) if other != place]
    if others:
        newer, older = (others[-1], place) if others[-1] > place else (place, others[-1])
        likeness = round(similarity(one, rows[others[-1]][1]), 3)
        yield Pair(str(rows[newer][0]), str(rows[older][0]), likeness)


def proposed(db: sqlite3.Connection, banks: Sequence[str]) -> list[Pair]:
    """Return the pairs nobody decided on yet, likest first; without those one of which was changed away since."""
    rows = db.execute(
        "SELECT m.kept, m.other, m.likeness"
        " FROM merges m JOIN lessons k ON k.id = m.kept JOIN lessons o ON o.id = m.other"
        f" WHERE m.decided IS NULL AND k.bank IN ({', '.join('?' * len(banks))})"
        " AND k.bank = o.bank AND coalesce(k.forgotten, k.invalid, o.forgotten, o.invalid) IS NULL"
        " AND NOT (k.pinned AND o.pinned) ORDER BY m.likeness DESC, m.kept, m.other",
        tuple(banks),
    )
    return [Pair(str(kept), str(other), likeness) for kept, other, likeness in rows]


def merge(db: sqlite3.Connection, vectors: Vectors, kept: int, other: int, now: float) -> None:
    """Let ``kept`` take the place of ``other`` and have its contexts too; undoing ``other`` parts them again.

    Raises ``InputError`` where they are one, or one of them is gone.
    """
    found = dict(db.execute("SELECT id, coalesce(forgotten, invalid) FROM lessons WHERE id IN (?, ?)", (kept, other)))
    if kept == other or len(found) < 2:
        raise InputError("Name two lessons to merge.")
    for number, gone in found.items():
        if gone is not None:
            raise InputError(f"Lesson {number} was forgotten or no longer holds; there is nothing to merge.")
    with index.reindexed(db, kept):
        db.execute(
            "INSERT OR IGNORE INTO sightings (lesson, context, metadata, at)"
            " SELECT ?1, context, metadata, ?3 FROM lessons WHERE id = ?2 AND context IS NOT NULL"
            " AND context IS NOT (SELECT context FROM lessons WHERE id = ?1)"
            " UNION ALL SELECT ?1, context, metadata, at FROM sightings WHERE lesson = ?2",
            (kept, other, now),
        )
    changing.change(db, vectors, other, MERGED, {"invalid": now, "superseded_by": kept}, now)
    decide(db, kept, other, MERGED, now)


def decide(db: sqlite3.Connection, kept: int, other: int, decided: str, now: float) -> None:
    """Note what was decided on two lessons, so that it is not proposed again."""
    done = db.execute(
        "UPDATE merges SET decided = ?3 WHERE (kept = ?1 AND other = ?2) OR (kept = ?2 AND other = ?1)",
        (kept, other, decided),
    )
    if not done.rowcount:
        db.execute(
            "INSERT INTO merges (kept, other, likeness, at, decided) VALUES (?, ?, 0, ?, ?)",
            (kept, other, now, decided),
        )
