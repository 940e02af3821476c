"""Makes texts and questions into the words they are found by: the same for both, so that each finds the other.

A word is folded (no case, no Western accents) and stemmed. An identifier counts as a whole and as its parts
(``parseConfig``, ``parse``, ``config``). Scripts that put no space between words come as single characters and pairs.
Symbols count where they say something: each emoji, ``++``, ``->``; single punctuation marks only where there is
nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from lessonbook.core.value import Value
from lessonbook.core.words_common import ASKING, FUNCTION

VERSION = "1"
"""Changes whenever the words of any text do: an index made by other rules is made anew."""
TOKENIZE = "unicode61 remove_diacritics 0 categories 'L* N* C* M* S* P*'"
"""The FTS5 tokenizer that takes our words, separated by spaces, as they are."""
MOST_TERMS = 64
"""A question may be a whole page; its first distinct terms are enough to find what it is about."""
ASKING_WEIGHT = 0.3

_PIECE = re.compile(r"\w+|[^\w\s]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_MARKS = frozenset("!\"#%&'()*,-./:;?@[\\]_{}")
"""What ``_says_something`` would say no to."""
_LONGEST = 64
"""Longer words are cut: nobody types them, and one lesson must not fill the index with noise."""


class Term(Value):
    """One word of a question: as it is indexed, how much it counts, and as it was written (for its vector)."""

    stem: str
    weight: float
    word: str


def index_words(text: str) -> str:
    """Return the words a text is found by, separated by single spaces, in their order."""
    return " ".join(stems(text))


def stems(text: str) -> list[str]:
    """Return the words a text is found by, in their order, repeated as they are."""
    pieces = _PIECE.findall(_unaccented(text))
    # A recall makes the words of a hundred lessons, mostly the same few thousand; long ones are seldom seen twice.
    of_piece = _kept_stems_of if max(map(len, pieces), default=0) <= _LONGEST else _stems_of
    return list(chain.from_iterable(map(of_piece, pieces))) or [stem(word) for word in _marks_alone(pieces)]


def terms(question: str) -> list[Term]:
    """Return what a question asks for, each word once, at most ``MOST_TERMS``.

    Function words are left out unless there is nothing else; words that only ask count less.
    """
    said = list(dict.fromkeys(_words(question)))
    meant = [word for word in said if word not in FUNCTION] or said
    found: dict[str, Term] = {}
    for word in meant[: 4 * MOST_TERMS]:
        root, weight = stem(word), ASKING_WEIGHT if word in ASKING else 1.0
        if root not in found or found[root].weight < weight:
            found[root] = Term(root, weight, word)
    return list(found.values())[:MOST_TERMS]


def plain_words(text: str) -> list[str]:
    """Return the words of a text as its vector is made of: parts of identifiers, folded, not stemmed, no numbers.

    A number is found as it is written; near another number, or far from it, says nothing.
    """
    pieces = re.findall(r"\w+", _unaccented(text))
    parts = (part for piece in pieces for part in (_PART.findall(piece) if piece.isascii() else [piece]))
    return [part.casefold() for part in parts if not part.isdigit()]


def fold(text: str) -> str:
    """Return ``text`` without letter case and Western accents, composed or not: what two spellings of a word share."""
    return _unaccented(text.casefold())


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(_ACCENTS))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return what the forms of an English word have in common, roughly; any other word as it is.

    Plural and verb endings, a final ``e``, and ``y`` as ``i``: the first step of Porter's algorithm and a little more.
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word[:_LONGEST]
    word = _without_verb_ending(_singular(word))
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y") and word[-2] not in "aeiou":
        word = f"{word[:-1]}i"
    return word[:_LONGEST]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_verb_ending(word: str) -> str:
    for ending in ("ingly", "edly", "ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and re.search("[aeiouy]", base):
            return base[:-1] if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz" else base
    return word


def _words(text: str) -> list[str]:
    pieces = _PIECE.findall(_unaccented(text))
    return [word for piece in pieces for word in _of_piece(piece)] or _marks_alone(pieces)


def _stems_of(piece: str) -> tuple[str, ...]:
    return _kept_stems_of(piece) if len(piece) <= _LONGEST else tuple(map(stem, _of_piece(piece)))


@lru_cache(maxsize=1 << 15)
def _kept_stems_of(piece: str) -> tuple[str, ...]:
    return tuple(map(stem, _of_piece(piece)))


def _of_piece(piece: str) -> Iterator[str]:
    if piece in _MARKS:
        return
    if not (piece[0].isalnum() or piece[0] == "_"):
        yield from _symbols(piece)
        return
    if piece.isascii():
        parts = _PART.findall(piece)
        yield from (part.lower() for part in parts)
        if len(parts) > 1:
            yield piece.lower()
        return
    for run in _UNSPACED.findall(piece):
        yield from run
        yield from (run[place : place + 2] for place in range(len(run) - 1))
    # Where letters beyond ASCII stand, a capital says nothing of where a word begins.
    yield from (word.casefold() for word in _UNSPACED.sub(" ", piece).replace("_", " ").split())


def _symbols(piece: str) -> Iterator[str]:
    """Yield each pictograph alone, and what stands between them where it is more than one mark of punctuation."""
    run = ""
    for sign in piece:
        kind = unicodedata.category(sign)
        if kind == "So":
            yield sign
        if kind[0] in "SP" and kind != "So":
            run += sign
            continue
        if _says_something(run):
            yield run[:_LONGEST]
        run = ""
    if _says_something(run):
        yield run[:_LONGEST]


def _says_something(run: str) -> bool:
    return len(run) > 1 or any(unicodedata.category(sign)[0] == "S" for sign in run)


def _marks_alone(pieces: Iterable[str]) -> list[str]:
    """The punctuation of a text that has nothing else, without what nobody can see."""
    shown = ("".join(sign for sign in piece if unicodedata.category(sign)[0] in "LNSPM") for piece in pieces)
    return [piece for piece in shown if piece]
