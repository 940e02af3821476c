"""Lessons and questions for the ``bank`` bench: each side is told and asked the very same ones."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_SPELT = """
adapter archive balance barrier bearer bucket builder bundle cache canary catalog checksum column commit compiler config
container counter daemon deadline digest dispatch driver endpoint engine envelope exporter fallback firewall fixture
gateway handler header import index invoice journal kernel ledger listener lock manifest metric migration mirror module
monitor network packet parser partition pipeline policy profile proxy queue release replica router schema
"""
WORDS = tuple(_SPELT.split())
"""Sixty, so that two of them are common words in any large bank."""
KINDS: dict[str, Callable[[Random, int], str]] = {
    "two common words": lambda chance, _: " ".join(_words(chance, 2)),
    "a rare term": lambda chance, count: f"code E{chance.randrange(count)}",
    "a sentence": lambda chance, _: "what can I do when the {} of the {} ends with a {} deadline".format(
        *_words(chance, 3)
    ),
    "no match": lambda chance, _: f"qqzv{chance.randrange(1_000_000)}",
}
"""What is asked, by kind, of a bank that holds the lessons from 0 up to a count."""


def lesson(number: int) -> str:
    """Return the lesson of a number: about 190 characters, one term of its own, the rest common words."""
    a, b, c, d, e, f, g, h, i = _words(Random(number), 9)
    return (
        f"Case {number}: if the {a} {b} stops with the {c} code E{number}, look at the {d} {e} before anything else,"
        f" since the {f} and the {g} depend on one {h}; what helped was a larger {i} limit."
    )


def questions(kind: str, count: int, how_many: int) -> list[str]:
    """Return ``how_many`` questions of a kind to a bank of ``count`` lessons, the same ones every time."""
    chance = Random(f"{kind} {count}")
    return [KINDS[kind](chance, count) for _ in range(how_many)]


def asked_for(question: str) -> str:
    """Return how the lesson begins that a question of the kind ``a rare term`` is about."""
    return f"Case {question.rpartition('E')[2]}:"


def _words(chance: Random, how_many: int) -> list[str]:
    return [chance.choice(WORDS) for _ in range(how_many)]
