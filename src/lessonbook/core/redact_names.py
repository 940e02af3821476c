"""Names of people in transcripts: learned from where they stand for sure, and taken out wherever else they stand.

A name is sure where an address follows it, where git tells an author, and where it is a home folder. In free text two
capitalised words in a row may be one: before a model sees a text those go as well (``guess``), unless a word of them
is known to be none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from lessonbook.core.redact_identity import EMAIL
from lessonbook.core.redact_names_words import NO_NAMES

NAME_LABEL = "[NAME]"

_LONGEST = 64
_MOST = 2_000
"""How many names are kept: memory stays small whatever is read."""
_PART = r"[^\W\d_][\w'’-]{0,30}\.?"
_PEOPLE = rf"({_PART}(?: {_PART}){{0,3}})"
_ADDRESSED = re.compile(rf"{_PEOPLE} {{1,2}}<[^\s<>@]{{1,64}}@[^\s<>]{{1,128}}>")
_AUTHOR = re.compile(
    r"(?im)^\s*(?:author|committer|commit by|(?:co-authored|signed-off|reviewed|acked|tested|reported)-by)\s*[:=]\s*"
    rf"[\"']?{_PEOPLE}[\"']?\s*(?:<|$)"
)
_SET = re.compile(rf"(?i:user\.name|git_(?:author|committer)_name)[\s=:]+[\"']?{_PEOPLE}(?:[\"']|\s*$|\n)")
_MAIL = re.compile(EMAIL)
_HOME = re.compile(r"[/\\](?:home|Users)[/\\]+([^/\\\s\"'`:;,<>()|]{2,64})")
_SLUG = re.compile(r"(?<![\w.-])-(?:Users|home)-([A-Za-z0-9_]{2,64})")
_CALLED = re.compile(
    r"\b(?:[Mm]y name is|I am called|[Cc]all me) ([^\W\d_][\w'’-]{1,30}(?: [^\W\d_a-z][\w'’-]{1,30}){0,2})"
)
_WORD = r"[A-Z][a-zà-öø-ÿ'’-]{1,20}"
_CAPITALISED = re.compile(rf"(?<![\w.@/`-])({_WORD}(?: [A-Z]\.)?(?: {_WORD}){{1,5}})(?![\w(/`-])")
_OF_THE_TRADE = re.compile(r"(?:tion|sion|ness|able|ible|ated|ized|ised|ality|ering|ating|izing)s?\Z")
"""Endings of words that are no names."""
_TOLD = (_ADDRESSED, _AUTHOR, _SET, _CALLED)
_PLACES = (_HOME, _SLUG)
_SIGNS_OF_GIT = ("@", "author", "-by", "user.name", "_name", "/home/", "/users/", "\\users\\", "-users-", "-home-")
_SIGNS = (*_SIGNS_OF_GIT, "name is", "call me", "i am called", "committer")


class Names:
    """The names met so far. ``see`` texts first, then ask for texts ``without`` them."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def see(self, text: str) -> None:
        """Learn the names that stand for sure in a text."""
        if len(self._known) < _MOST:
            self.learn(told(text))

    def learn(self, names: Collection[str]) -> None:
        """Learn the names that ``told`` found in one text."""
        before = len(self._known)
        if before < _MOST and names:
            self._known.update(names)
        if len(self._known) != before:
            self._pattern = None

    def add(self, other: Names) -> None:
        """Learn all that other names met."""
        if other._known and len(self._known) < _MOST:
            self._known |= other._known
            self._pattern = None

    def without(self, text: str, guess: bool = False) -> str:
        """Return ``text`` with every known name replaced; with ``guess`` also what only looks like one."""
        if self._known:
            self._pattern = self._pattern or _any_of(self._known)
            text = self._pattern.sub(NAME_LABEL, text)
        return _CAPITALISED.sub(_guessed, text) if guess else text


def told(text: str) -> frozenset[str]:
    """Return the names that stand for sure in a text."""
    low = text.lower()
    return frozenset(_sure(text)) if any(sign in low for sign in _SIGNS) else frozenset()


def guessed(text: str) -> list[str]:
    """Return what looks like a name in a text, and may be none."""
    return [match[1] for match in _CAPITALISED.finditer(text) if _guessed(match) == NAME_LABEL]


def _sure(text: str) -> Iterator[str]:
    for pattern in _TOLD:
        for match in pattern.finditer(text):
            if match[1] != match[1].lower():  # a word of code that follows the same sign is no name
                yield from _parts(match[1])
    for pattern in _PLACES:
        for match in pattern.finditer(text):
            yield from _parts(match[1])
    for match in _MAIL.finditer(text):
        yield from _parts(re.split(r"[+@]", match[0], maxsplit=1)[0])


def _parts(name: str) -> Iterator[str]:
    """The whole of a name, and each of its words that is worth hiding by itself."""
    words = [word for word in re.split(r"[\s._-]+", name.strip()) if word]
    if not words or len(name) > _LONGEST or all(_common(word) for word in words):
        return
    if len(words) > 1:
        yield " ".join(words)
        yield name.strip()
    yield from (word for word in words if not _common(word))


def _common(word: str) -> bool:
    return len(word) < 3 or word.casefold() in NO_NAMES or not any(map(str.isalpha, word))


def _any_of(names: set[str]) -> re.Pattern[str]:
    longest = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest))})(?![^\W_])", re.IGNORECASE)


def _guessed(match: re.Match[str]) -> str:
    known = any(word.casefold() in NO_NAMES or _OF_THE_TRADE.search(word) for word in re.split(r"[ '’-]", match[1]))
    return match[0] if known else NAME_LABEL
