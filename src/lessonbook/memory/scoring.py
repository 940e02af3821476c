"""A small keyword score for stores without an index: rare words count more, and a word that matches is never missed."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

MAX_TERMS = 64
"""A question may be a whole page; its first distinct terms are enough to find what it is about."""

_WORD = re.compile(r"\w+")
_ACCENTS = dict.fromkeys(range(0x300, 0x370))


def fold(text: str) -> str:
    """Return ``text`` without letter case and Western accents, composed or not: what two spellings of a word share."""
    apart = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", apart.translate(_ACCENTS))


def terms(query: str) -> tuple[str, ...]:
    """Return the query's distinct words, in order; where it has none, its runs of symbols."""
    found = dict.fromkeys(_WORD.findall(query)) or dict.fromkeys(query.split())
    return tuple(found)[:MAX_TERMS]


def rank(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return ``(index, score)`` of each text that shares a term with ``query``, best first, earlier first on a tie."""
    wanted = terms(fold(query))
    folded = [fold(text) for text in texts]
    words = [frozenset(_WORD.findall(text)) for text in folded]
    scores = [0.0] * len(texts)
    for term in wanted:
        hits = [_match(term, text, found) for text, found in zip(folded, words, strict=True)]
        weight = math.log(1 + len(texts) / (1 + sum(hit > 0 for hit in hits)))
        scores = [score + weight * hit for score, hit in zip(scores, hits, strict=True)]
    ranked = [(index, score) for index, score in enumerate(scores) if score > 0]
    return sorted(ranked, key=lambda pair: -pair[1])


def _match(term: str, text: str, words: frozenset[str]) -> float:
    if term in words:
        return 1.0
    # Inside a longer word: plurals, compounds, and scripts that put no space between words.
    if (len(term) > 2 or not term.isascii() or not term.isalnum()) and term in text:
        return 0.6
    return 0.3 if any(len(word) > 3 and term.startswith(word) for word in words) else 0.0
