"""How a lesson's score is made: what its words and its vector say of the question, then a few small, documented terms.

``words`` is BM25 divided by the most that a text of common length could get, so that it says which share of what was
asked for is there: 0 for nothing, about 1 for all of it, whatever the bank's size. ``vector`` is a cosine. Both are of
one scale and are added as they are: no rank is used, so a strong answer of one is not lost among weak ones of the
other. The weights were chosen on two public sets (``docs/recall.md``) and lie on a plateau.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from lessonbook.core.lesson import Part
from lessonbook.core.value import Value
from lessonbook.core.words import Term
from lessonbook.memory.mnemopi.rows import SHARED

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


def words_score(
    asked: Mapping[str, float], text: Sequence[str], side: Sequence[str] = (), contexts: Sequence[str] = ()
) -> float:
    """Return which share of what was asked for a lesson has.

    ``asked`` is what each stem counts; the others are the stems of the lesson's text, of its title and the like, and of
    its contexts, where they count half.
    """
    whole = sum(asked.values())
    if not whole:
        return 0.0
    usual = SATURATION * (1 - LENGTH + LENGTH * len(text) / COMMON_LENGTH)
    found = 0.0
    for stem, counts in asked.items():
        if told := text.count(stem) + side.count(stem) + 0.5 * contexts.count(stem):
            found += counts * told * (SATURATION + 1) / (told + usual)
    return found / whole


def vector_weights(terms: Sequence[Term], lessons: int, having: Mapping[str, int]) -> list[tuple[str, float]]:
    """Return each word of a question with what it counts in the question's vector; numbers are in no vector."""
    meant = (term for term in terms if not term.word.isdigit())
    return [(term.word, idf(lessons, having.get(term.stem, 0) or UNSEEN) ** 0.5) for term in meant]


class Standing(Value):
    """What of a lesson makes the small terms; times are epoch seconds. ``FIELDS`` has its columns, in order."""

    number: int
    same: str
    bank: str
    seen: float
    importance: float
    veracity: str
    pinned: int
    invalid: float | None
    valid_until: float | None


FIELDS = ", ".join(f"l.{name}" for name in ("id", *Standing.__annotations__) if name != "number")


def values(words: float, vector: float | None, found: Standing, now: float) -> dict[str, float]:
    """Return what each part adds to a lesson's score, the largest things first; ``vector`` is ``None`` without one."""
    days = max(0.0, now - found.seen) / 86_400
    made = {
        "words": (WORDS_WEIGHT if vector is not None else 1.0) * words,
        "vector": vector or 0.0,
        "recency": FRESH * exp(-days / FRESH_DAYS),
        "importance": IMPORTANT * (found.importance - 0.5),
        "veracity": _SURE.get(found.veracity, 0.0),
        "scope": 0.0 if found.bank == SHARED else OWN,
        "pinned": PINNED if found.pinned else 0.0,
        "outdated": OUTDATED if is_outdated(found, now) else 0.0,
    }
    return {name: value for name, value in made.items() if value}


def total(made: Mapping[str, float]) -> float:
    """Return the score of which ``values`` are the parts."""
    return round(sum(made.values()), 4)


def parts(made: Mapping[str, float], words: float, found: Standing, now: float) -> tuple[Part, ...]:
    """Return ``values`` with what each comes from, for people; ``words`` is the share of what was asked for."""
    days = max(0.0, now - found.seen) / 86_400
    notes = {
        "words": f"{words:.2f} of what was asked for",
        "vector": "cosine",
        "recency": f"told {days:,.0f} days ago",
        "importance": f"importance {found.importance:g}",
        "veracity": found.veracity,
        "scope": "this project's own",
        "outdated": "no longer holds",
    }
    return tuple(Part(name, value, notes.get(name, "")) for name, value in made.items())


def is_outdated(found: Standing, now: float) -> bool:
    """Whether a lesson stopped holding: marked so, or its time has passed."""
    return found.invalid is not None or (found.valid_until is not None and found.valid_until < now)
