"""How a lesson's score is made: what its words and its vector say of the question, then a few small, documented terms.

``words`` is BM25 divided by the most that a text of common length could get, so that it says which share of what was
asked for is there: 0 for nothing, about 1 for all of it, whatever the bank's size. ``vector`` is a cosine. Both are of
one scale and are added as they are: no rank is used, so a strong answer of one is not lost among weak ones of the
other. The weights were chosen on two public sets (``docs/recall.md``) and lie on a plateau.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, log

from lessonbook.core.lesson import Kept, Part
from lessonbook.core.words import Term

WORDS_WEIGHT = 0.8
"""What ``words`` counts beside a cosine."""
SATURATION, LENGTH, COMMON_LENGTH = 1.2, 0.3, 25
"""BM25's k1 and b, and how many words a lesson usually has; fixed, so that a score does not change with the others."""
UNSEEN = 5
"""In how many lessons a word that no lesson has is taken to be, for how much it counts in the question's vector."""
FRESH, FRESH_DAYS = 0.03, 90.0
IMPORTANT, PINNED, OWN, TOLD = 0.05, 0.05, 0.02, 0.02
OUTDATED, WRONG = -1.0, -1.0
_SURE = {"stated": TOLD, "true": TOLD, "false": WRONG}


def idf(lessons: int, having: int) -> float:
    """Return how much a word says that ``having`` of ``lessons`` have."""
    return log(1 + lessons / max(having, 1))


def words_score(asked: Mapping[str, float], told: Mapping[str, float], length: int) -> float:
    """Return which share of what was asked for a text has.

    ``asked`` is what each stem counts, ``told`` how often the text has each, ``length`` how many words it has.
    """
    whole = sum(asked.values())
    if not whole:
        return 0.0
    usual = SATURATION * (1 - LENGTH + LENGTH * length / COMMON_LENGTH)
    found = (
        counts * told[stem] * (SATURATION + 1) / (told[stem] + usual) for stem, counts in asked.items() if stem in told
    )
    return sum(found) / whole


def counted(*fields: tuple[Sequence[str], float]) -> Counter[str]:
    """Return how often each stem stands in the fields, each field's stems counting as much as its weight."""
    told: Counter[str] = Counter()
    for stems, weight in fields:
        for stem in stems:
            told[stem] += weight  # type: ignore[assignment]
    return told


def vector_weights(terms: Sequence[Term], lessons: int, having: Mapping[str, int]) -> list[tuple[str, float]]:
    """Return each word of a question with what it counts in the question's vector."""
    return [(term.word, idf(lessons, having.get(term.stem, 0) or UNSEEN) ** 0.5) for term in terms]


def parts(words: float | None, vector: float | None, found: Kept, own: bool, now: float) -> tuple[Part, ...]:
    """Return what a lesson's score is made of, the largest things first; ``own`` is whether it is the project's own.

    ``words`` or ``vector`` is ``None`` where it was not asked.
    """
    lesson = found.lesson
    days = max(0.0, now - found.seen) / 86_400
    weight = WORDS_WEIGHT if vector is not None else 1.0
    made = [
        Part("words", weight * words, f"{words:.2f} of what was asked for") if words else None,
        Part("vector", vector, "cosine") if vector else None,
        Part("recency", FRESH * exp(-days / FRESH_DAYS), f"told {days:,.0f} days ago"),
        Part("importance", IMPORTANT * (lesson.importance - 0.5), f"importance {lesson.importance:g}"),
        Part("veracity", _SURE[lesson.veracity], lesson.veracity) if lesson.veracity in _SURE else None,
        Part("scope", OWN, "this project's own") if own else None,
        Part("pinned", PINNED) if found.pinned else None,
        Part("outdated", OUTDATED, "no longer holds") if is_outdated(found, now) else None,
    ]
    return tuple(part for part in made if part is not None)


def is_outdated(found: Kept, now: float) -> bool:
    """Whether a lesson stopped holding: marked so, or its time has passed."""
    until = found.lesson.valid_until
    return found.invalid is not None or (until is not None and until < now)
