"""Whether two lessons say nearly the same, so that what a person decided once is known when it comes in other words.

A text comes down to the set of its content words: lower case, without the commonest words and endings, without what
differs each time (dates, times, long ids, the user part of a home folder). A word that is negated (``not``, ``never``,
``instead of``, …) counts as another word, so that “use tabs, not spaces” and “use spaces, not tabs” differ. What stands
in backticks counts as one word. Two texts are near twins when they name the same things in backticks and share at least
``TWIN`` of all their words (Jaccard index).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

TWIN = 0.6
"""The share of their words that two lessons must have in common to be near twins."""

_CHANGING = (
    (r"\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?z?)?\b", " "),
    (r"\b\d{1,2}:\d{2}(?::\d{2})?\b", " "),
    (r"\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,}){0,4}\b", " "),
    (r"(?:/home|/users)/[^/\s`]+|~(?=/)", "~"),
    (r"/(?:private/)?(?:tmp|var/folders)/[^\s`]+", " "),
)
_TOKEN = re.compile(r"`([^`\n]+)`|(instead of|rather than|don['’]t|doesn['’]t|can['’]t|[^\W_]+)")
_NEGATING = re.compile(
    "not|never|no|nor|without|avoid|cannot|instead_of|rather_than|don['’]t|doesn['’]t|can['’]t",
)
_COMMON = re.compile(
    "a|an|and|are|as|at|be|been|by|do|does|for|from|has|have|if|in|into|is|it|its|of|on|or|so|such|than|that|the|then|"
    "there|these|they|this|to|was|were|when|where|which|while|will|with|you|your|always|please|should|must|use|using|"
    "run|running|prefer"
)


@dataclass(frozen=True, slots=True)
class Print:
    """What a text comes to: its content words, and those of them that stand in backticks."""

    words: frozenset[str]
    named: frozenset[str]

    @property
    def digest(self) -> str:
        """A short fixed text, equal for texts that come to the same words."""
        import hashlib

        return hashlib.sha256("\n".join(sorted(self.words)).encode("utf-8", "replace")).hexdigest()[:16]


def print_of(text: str) -> Print:
    """Return what a lesson's text comes to; equal and near-equal texts are compared by it alone."""
    text = text.casefold()
    for pattern, by in _CHANGING:
        text = re.sub(pattern, by, text)
    words, named, negated = set[str](), set[str](), False
    for match in _TOKEN.finditer(text):
        word = _word(match)
        if _NEGATING.fullmatch(word):
            negated = True
        elif word:
            words.add(f"¬{word}" if negated else word)
            named |= {word} if match[1] else set()
            negated = False
    return Print(frozenset(words), frozenset(named))


def _word(match: re.Match[str]) -> str:
    if match[1]:
        return f"`{' '.join(match[1].split())}`"
    word = match[2].replace(" ", "_")
    if _NEGATING.fullmatch(word):
        return word
    # The one ending that most often tells two forms of an English word apart.
    stem = "" if _COMMON.fullmatch(word) else word
    stem = stem[:-1] if len(stem) > 3 and stem.endswith("s") and not stem.endswith("ss") else stem
    return "" if _COMMON.fullmatch(stem) else stem


def similarity(one: Print, other: Print) -> float:
    """Return the share of all their words that two texts have in common; 0 where they name different things."""
    if one.named != other.named or not one.words or not other.words:
        return 0.0
    return len(one.words & other.words) / len(one.words | other.words)


def near(one: Print, other: Print) -> bool:
    """Whether two texts are near twins."""
    return similarity(one, other) >= TWIN


class Index:
    """Many prints, of which those near another one are found without comparing it with each.

    Near twins share one of their few rarest words, so only texts that do are compared.
    """

    def __init__(self, prints: Sequence[Print]) -> None:
        self._count = Counter(word for each in set(prints) for word in each.words)
        self._places: dict[Print, list[int]] = defaultdict(list)
        self._holding: dict[tuple[frozenset[str], str], list[Print]] = defaultdict(list)
        for place, each in enumerate(prints):
            if each not in self._places:
                for word in self._rarest(each):
                    self._holding[each.named, word].append(each)
            self._places[each].append(place)

    def near(self, one: Print) -> list[int]:
        """Return the places of the near twins of ``one``, itself included where it is among them, in order."""
        beside = (self._holding.get((one.named, word), ()) for word in self._rarest(one))
        found = {other for others in beside for other in others if near(one, other)}
        return sorted(place for other in found for place in self._places[other])

    def _rarest(self, one: Print) -> list[str]:
        ordered = sorted(one.words, key=lambda word: (self._count[word], word))
        # Without sharing one of these, at most TWIN of the words could be left to share, less one.
        return ordered[: len(ordered) - ceil(TWIN * len(ordered)) + 1]
