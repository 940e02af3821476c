"""Finds the lessons that fit a question, works out their scores, and says what each is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from lessonbook.core.clean import clean_line
from lessonbook.core.lesson import Kept, Part, Recalled
from lessonbook.core.tidy import same_text, tidy_lesson
from lessonbook.core.words import Term, stems, terms
from lessonbook.memory.mnemopi import candidates, ranking
from lessonbook.memory.mnemopi.candidates import Statistics
from lessonbook.memory.mnemopi.rows import COLUMNS, CONTEXTS, SHARED, SIDE, as_it_is, kept
from lessonbook.memory.mnemopi.vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUERY_LIMIT = 20_000
BY_WORDS, BY_VECTOR = 60, 40
"""How many lessons of each kind have their whole score worked out, or twice as many as are asked for."""
LIKE = 0.2
"""The cosine below which a lesson that shares no word with the question is no answer to it."""


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
        scores = self._scored(db, numbers, likeness, asked, having)
        best = sorted(scores, key=lambda number: (-_sum(scores[number]), -number))
        # The small terms lift a lesson by a few places only, so no more than these are looked at whole.
        return self._answers(db, best[: 2 * limit + 20], scores, limit, now)

    def newest(self, db: sqlite3.Connection, limit: int, now: float) -> list[Recalled]:
        """Return the lessons of the banks told last that still hold, each text once."""
        query = (
            f"SELECT {COLUMNS} FROM lessons l WHERE l.bank IN ({', '.join('?' * len(self._banks))})"
            " AND l.forgotten IS NULL AND l.invalid IS NULL ORDER BY l.seen DESC, l.id DESC LIMIT ?"
        )
        rows = db.execute(query, (*self._banks, len(self._banks) * limit)).fetchall()
        best = _distinct([((), kept(row)) for row in rows])[:limit]
        return [_shown(one, parts, now) for parts, one in best]

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
    ) -> dict[int, tuple[float, float | None]]:
        lessons = self._statistics.lessons
        counts = {term.stem: term.weight * ranking.idf(lessons, having[term.stem]) for term in asked}
        scores: dict[int, tuple[float, float | None]] = {}
        for number, text, side, contexts in self._texts(db, numbers):
            told = stems(text)
            words = ranking.words_score(
                counts, ranking.counted((told, 1), (stems(side), 1), (stems(contexts), 0.5)), len(told)
            )
            vector = None if likeness is None else float(likeness[number]) if number < len(likeness) else 0.0
            if words or vector:
                scores[number] = (words, vector)
        return scores

    def _texts(self, db: sqlite3.Connection, numbers: Sequence[int]) -> Iterable[tuple[int, str, str, str]]:
        query = (
            f"SELECT l.id, l.text, {SIDE}, coalesce({CONTEXTS}, '')"
            f" FROM lessons l WHERE l.id IN ({', '.join('?' * len(numbers))}) AND l.forgotten IS NULL"
            f" AND +l.bank IN ({', '.join('?' * len(self._banks))})"
        )
        return db.execute(query, (*numbers, *self._banks)).fetchall()

    def _answers(
        self,
        db: sqlite3.Connection,
        numbers: Sequence[int],
        scores: Mapping[int, tuple[float, float | None]],
        limit: int,
        now: float,
    ) -> list[Recalled]:
        query = f"SELECT {COLUMNS} FROM lessons l WHERE l.id IN ({', '.join('?' * len(numbers))})"
        found: list[tuple[float, float, int, tuple[Part, ...], Kept]] = []
        for one in map(as_it_is, db.execute(query, tuple(numbers)).fetchall()):
            words, vector = scores[int(one.id)]
            parts = ranking.parts(words, vector, one, one.bank != SHARED, now)
            found.append((-_total(parts), -one.seen, -int(one.id), parts, one))
        found.sort(key=lambda one: one[:3])
        best = _distinct([(parts, one) for *_, parts, one in found])[:limit]
        return [_shown(one.but(lesson=tidy_lesson(one.lesson).lesson), parts, now) for parts, one in best]


def _sum(score: tuple[float, float | None]) -> float:
    words, vector = score
    return words if vector is None else ranking.WORDS_WEIGHT * words + vector


def _total(parts: Sequence[Part]) -> float:
    return round(sum(part.value for part in parts), 4)


def _shown(found: Kept, parts: tuple[Part, ...], now: float) -> Recalled:
    """Return a lesson as it is recalled, with the sentences it must be weighed with."""
    lesson = found.lesson
    return Recalled(
        id=found.id,
        text=lesson.text,
        context=lesson.context,
        score=_total(parts),
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


def _distinct(found: Sequence[tuple[tuple[Part, ...], Kept]]) -> list[tuple[tuple[Part, ...], Kept]]:
    """Return each text once, though it may stand in both banks."""
    first: dict[str, tuple[tuple[Part, ...], Kept]] = {}
    for parts, one in found:
        first.setdefault(same_text(one.lesson.text), (parts, one))
    return list(first.values())
