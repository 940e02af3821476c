"""Finds the lessons that fit a question, works out their scores, and says what each is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from lessonbook.core.clean import clean_line
from lessonbook.core.lesson import Kept, Part, Recalled
from lessonbook.core.tidy import same_text
from lessonbook.core.value import Value
from lessonbook.core.words import Term, stems, terms
from lessonbook.memory.mnemopi import candidates, ranking
from lessonbook.memory.mnemopi.candidates import Statistics
from lessonbook.memory.mnemopi.ranking import Standing
from lessonbook.memory.mnemopi.rows import COLUMNS, CONTEXTS, SIDE, kept
from lessonbook.memory.mnemopi.vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

QUERY_LIMIT = 20_000
BY_WORDS, BY_VECTOR = 30, 20
"""How many lessons of each kind have their whole score worked out, or twice as many as are asked for."""
LIKE = 0.2
"""The cosine below which a lesson that shares no word with the question is no answer to it."""


class Scored(Value):
    """A lesson with what its words and its vector say of the question; ``vector`` is ``None`` without one."""

    found: Standing
    words: float
    vector: float | None

    @property
    def nearness(self) -> float:
        """What both say together."""
        return self.words if self.vector is None else ranking.WORDS_WEIGHT * self.words + self.vector


class Searching:
    """Asks one open file; keeps what it learned of the file's size and words."""

    def __init__(self, vectors: Vectors, banks: Sequence[str]) -> None:
        self._vectors = vectors
        self._banks = tuple(banks)
        self._statistics = Statistics()

    def search(self, db: sqlite3.Connection, question: str, limit: int, now: float) -> list[Recalled]:
        """Return the lessons of the banks that fit the question best, each text once, with its score's parts."""
        asked = terms(same_text(clean_line(question[:QUERY_LIMIT])))
        if not asked:
            return []
        statistics = self._statistics
        statistics.refresh(db)
        having = statistics.having(db, [term.stem for term in asked])
        numbers, likeness = self._candidates(db, asked, having, limit)
        scored = self._scored(db, numbers, likeness, asked, having)
        scored.sort(key=lambda one: (-one.nearness, -one.found.number))
        # The small terms lift a lesson by a few places only, so no more than these are looked at whole.
        return self._answers(db, scored[: 2 * limit + 20], limit, now)

    def newest(self, db: sqlite3.Connection, limit: int, now: float) -> list[Recalled]:
        """Return the lessons of the banks told last that still hold, each text once."""
        # Bank by bank, since within one the index has them in this order, and no more than these are looked at.
        told = "SELECT id FROM lessons WHERE bank = ? AND forgotten IS NULL AND invalid IS NULL"
        banks = [f"SELECT * FROM ({told} ORDER BY seen DESC, id DESC LIMIT {limit:d})" for _ in self._banks]
        query = (
            f"SELECT {COLUMNS}, l.same FROM lessons l WHERE l.id IN ({' UNION ALL '.join(banks)})"
            " ORDER BY l.seen DESC, l.id DESC"
        )
        first: dict[str, tuple[Any, ...]] = {}
        for row in db.execute(query, self._banks):
            first.setdefault(row[-1], row)
        return [_shown(kept(row), (), now) for row in list(first.values())[:limit]]

    def count(self, db: sqlite3.Connection) -> int:
        """Return how many different lessons of the banks are not forgotten; by the indexes alone, but for twins."""
        told = (
            "SELECT (SELECT count(*) FROM lessons WHERE bank = ?1)"
            " - (SELECT count(*) FROM lessons WHERE bank = ?1 AND forgotten IS NOT NULL)"
        )
        counts = {bank: int(db.execute(told, (bank,)).fetchone()[0]) for bank in self._banks}
        if len(counts) == 1 or not all(counts.values()):
            return sum(counts.values())
        twins = (
            "SELECT count(*) FROM lessons a CROSS JOIN lessons b ON b.bank = ? AND b.same = a.same"
            " WHERE a.bank = ? AND a.forgotten IS NULL AND b.forgotten IS NULL"
        )
        few, many = sorted(self._banks, key=lambda bank: counts[bank])
        return sum(counts.values()) - int(db.execute(twins, (many, few)).fetchone()[0])

    def _candidates(
        self, db: sqlite3.Connection, asked: Sequence[Term], having: Mapping[str, int], limit: int
    ) -> tuple[list[int], NDArray[np.float32] | None]:
        lessons, own = self._statistics.lessons, self._statistics.own(db, self._banks)
        few = 2 * own < lessons
        within = candidates.within_banks(self._banks) if few else ""
        wanted = max(BY_WORDS, 2 * limit) if few else max(BY_WORDS, 2 * limit) * lessons // max(own, 1)
        numbers = candidates.by_words(db, asked, having, lessons, wanted, within)
        likeness = self._vectors.likeness(db, ranking.vector_weights(asked, lessons, having))
        if likeness is None:
            return numbers, None
        near = self._vectors.nearest(db, likeness, max(BY_VECTOR, 2 * limit), self._banks if few else None, LIKE)
        return list(dict.fromkeys((*numbers, *near))), likeness

    def _scored(
        self,
        db: sqlite3.Connection,
        numbers: Sequence[int],
        likeness: NDArray[np.float32] | None,
        asked: Sequence[Term],
        having: Mapping[str, int],
    ) -> list[Scored]:
        lessons = self._statistics.lessons
        counts = {term.stem: term.weight * ranking.idf(lessons, having[term.stem]) for term in asked}
        scored: list[Scored] = []
        for *fields, text, side, contexts in self._told(db, numbers):
            found = Standing(*fields)
            words = ranking.words_score(counts, _stems(text), _stems(side), _stems(contexts))
            vector = None if likeness is None else 0.0
            if likeness is not None and found.number < len(likeness):
                vector = float(likeness[found.number])
            if words or vector:
                scored.append(Scored(found, words, vector))
        return scored

    def _told(self, db: sqlite3.Connection, numbers: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        query = (
            f"SELECT {ranking.FIELDS}, l.text, {SIDE}, coalesce({CONTEXTS}, '')"
            f" FROM lessons l WHERE l.id IN ({', '.join('?' * len(numbers))}) AND l.forgotten IS NULL"
            f" AND +l.bank IN ({', '.join('?' * len(self._banks))})"
        )
        return db.execute(query, (*numbers, *self._banks))

    def _answers(self, db: sqlite3.Connection, scored: Sequence[Scored], limit: int, now: float) -> list[Recalled]:
        weighed = [(one, ranking.values(one.words, one.vector, one.found, now)) for one in scored]
        weighed.sort(key=lambda pair: (-ranking.total(pair[1]), -pair[0].found.seen, -pair[0].found.number))
        first: dict[str, tuple[int, tuple[Part, ...]]] = {}
        for one, made in weighed:  # a text may stand in both banks
            if one.found.same not in first:
                first[one.found.same] = (one.found.number, ranking.parts(made, one.words, one.found, now))
            if len(first) == limit:
                break
        return self._shown(db, dict(first.values()), now)

    def _shown(self, db: sqlite3.Connection, best: Mapping[int, tuple[Part, ...]], now: float) -> list[Recalled]:
        query = f"SELECT {COLUMNS} FROM lessons l WHERE l.id IN ({', '.join('?' * len(best))})"
        rows = {int(row[0]): row for row in db.execute(query, tuple(best))}
        return [_shown(kept(rows[number]), parts, now) for number, parts in best.items()]


def _stems(told: str) -> tuple[str, ...]:
    return _kept_stems(told) if len(told) <= _USUAL else tuple(stems(told))


_USUAL = 1_000
"""Characters of a lesson whose words are kept at hand, for the many questions that come close: a few MB in all."""


@lru_cache(maxsize=1 << 12)
def _kept_stems(told: str) -> tuple[str, ...]:
    return tuple(stems(told)) if told.strip() else ()


def _shown(found: Kept, parts: tuple[Part, ...], now: float) -> Recalled:
    """Return a lesson as it is recalled, with the sentences it must be weighed with."""
    lesson = found.lesson
    return Recalled(
        id=found.id,
        text=lesson.text,
        context=lesson.context,
        score=round(sum(part.value for part in parts), 4),
        at=found.seen,
        bank=found.bank,
        source=lesson.source,
        title=lesson.title,
        parts=parts,
        marks=tuple(_marks(found, now)),
    )


def _marks(found: Kept, now: float) -> Iterable[str]:
    until = found.lesson.valid_until
    if found.superseded_by is not None:
        yield f"lesson {found.superseded_by} took its place"
    elif found.invalid is not None:
        yield "marked as no longer holding"
    if until is not None and until < now:
        yield "held for a time that has passed"
    if found.lesson.veracity == "false":
        yield "found to be wrong"
