"""Finds the lessons that fit a question, works out their scores, and says what each is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial

from lessonbook.core.clean import clean_line
from lessonbook.core.lesson import Lesson, Part, Recalled
from lessonbook.core.tidy import same_text, tidy_lesson
from lessonbook.core.words import Term, stems, terms
from lessonbook.memory.mnemopi import candidates, ranking
from lessonbook.memory.mnemopi.candidates import Statistics
from lessonbook.memory.mnemopi.ranking import Standing
from lessonbook.memory.mnemopi.rows import CONTEXTS, SIDE
from lessonbook.memory.mnemopi.vectors import Vectors, likest

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


_SHOWN = f"{ranking.FIELDS}, l.text, {CONTEXTS}, l.source, l.title, l.superseded_by"
"""What an answer is made of: what makes a lesson's small terms, then what it shows."""
_TEXT = len(Standing.__annotations__)
"""The place of the text in it; the contexts come after."""

Scored = tuple[float, int, float, "float | None", "Sequence[Any]"]
"""What a lesson's words and vector say of the question together, its number, each alone, and its row of ``_SHOWN``."""


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
        scored.sort(key=lambda one: one[:2], reverse=True)
        # The small terms lift a lesson by a few places only, so no more than these are looked at whole.
        return _answers(scored[: 2 * limit + 20], limit, now)

    def newest(self, db: sqlite3.Connection, limit: int, now: float) -> list[Recalled]:
        """Return the lessons of the banks told last that still hold, each text once."""
        # Bank by bank, since within one the index has them in this order, and no more than these are looked at.
        told = "SELECT id FROM lessons WHERE bank = ? AND forgotten IS NULL AND invalid IS NULL"
        banks = [f"SELECT * FROM ({told} ORDER BY seen DESC, id DESC LIMIT {limit:d})" for _ in self._banks]
        query = (
            f"SELECT {_SHOWN} FROM lessons l WHERE l.id IN ({' UNION ALL '.join(banks)})"
            " ORDER BY l.seen DESC, l.id DESC"
        )
        first: dict[str, tuple[Standing, Sequence[Any]]] = {}
        for row in db.execute(query, self._banks):
            found = Standing(*row[:_TEXT])
            first.setdefault(found.same, (found, row))
        return [_shown(found, row, (), now) for found, row in list(first.values())[:limit]]

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
        likeness = self._vectors.likeness(db, ranking.vector_weights(asked, lessons, having))
        if likeness is None:
            return candidates.by_words(db, asked, having, lessons, wanted, within, None), None
        numbers = candidates.by_words(db, asked, having, lessons, wanted, within, partial(likest, likeness))
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
        for *row, side in self._told(db, numbers):
            number, text, contexts = row[0], row[_TEXT], row[_TEXT + 1] or ""
            words = ranking.words_score(counts, _stems(text), _stems(side), _stems(contexts))
            if likeness is None:
                nearness, vector = words, None
            else:
                vector = float(likeness[number]) if number < len(likeness) else 0.0
                nearness = ranking.WORDS_WEIGHT * words + vector
            if words or vector:
                scored.append((nearness, number, words, vector, row))
        return scored

    def _told(self, db: sqlite3.Connection, numbers: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        query = (
            f"SELECT {_SHOWN}, {SIDE} FROM lessons l WHERE l.id IN ({', '.join('?' * len(numbers))})"
            f" AND l.forgotten IS NULL AND +l.bank IN ({', '.join('?' * len(self._banks))})"
        )
        return db.execute(query, (*numbers, *self._banks))


def _answers(scored: Sequence[Scored], limit: int, now: float) -> list[Recalled]:
    weighed = []
    for _, number, words, vector, row in scored:
        found = Standing(*row[:_TEXT])
        made = ranking.values(words, vector, found, now)
        weighed.append((ranking.total(made), found.seen, number, words, made, found, row))
    weighed.sort(key=lambda one: one[:3], reverse=True)
    first: dict[str, Recalled] = {}
    for *_, words, made, found, row in weighed:  # a text may stand in both banks
        if found.same not in first:
            first[found.same] = _shown(found, row, ranking.parts(made, words, found, now), now)
        if len(first) == limit:
            break
    return list(first.values())


def _stems(told: str) -> tuple[str, ...]:
    return _kept_stems(told) if len(told) <= _USUAL else tuple(stems(told))


_USUAL = 1_000
"""Characters of a lesson whose words are kept at hand, for the many questions that come close: a few MB in all."""


@lru_cache(maxsize=1 << 12)
def _kept_stems(told: str) -> tuple[str, ...]:
    return tuple(stems(told)) if told.strip() else ()


def _shown(found: Standing, row: Sequence[Any], parts: tuple[Part, ...], now: float) -> Recalled:
    """Return a lesson as it is recalled, cleaned once more, with the sentences it must be weighed with."""
    text, contexts, source, title, superseded_by = row[_TEXT : _TEXT + 5]
    lesson = tidy_lesson(Lesson(text, contexts, source=source, title=title)).lesson
    return Recalled(
        id=str(found.number),
        text=lesson.text,
        context=lesson.context,
        score=round(sum(part.value for part in parts), 4),
        at=found.seen,
        bank=found.bank,
        source=lesson.source,
        title=lesson.title,
        parts=parts,
        marks=tuple(_marks(found, superseded_by, now)),
    )


def _marks(found: Standing, superseded_by: int | None, now: float) -> Iterable[str]:
    if superseded_by is not None:
        yield f"lesson {superseded_by} took its place"
    elif found.invalid is not None:
        yield "marked as no longer holding"
    if found.valid_until is not None and found.valid_until < now:
        yield "held for a time that has passed"
    if found.veracity == "false":
        yield "found to be wrong"
