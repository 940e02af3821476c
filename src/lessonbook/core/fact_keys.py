"""The form in which two wordings of one thing are equal: lower case, no articles, plurals or code marks."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lessonbook.core.entity_tools import ALIASES, PROGRAMS
from lessonbook.core.shelltokens import word_set

_LONGEST = 200
_MARKS = " \t\"'`“”‘’*_.,;:!?()[]"
_ARTICLES = word_set("a an the our your my its their this these all any every each some")
_SORTS = word_set("cli command commands framework library manager package runner tool version")
_SAME = {
    "i": "user",
    "me": "user",
    "you": "",
    "we": "",
    "people": "user",
    "ci/cd": "ci",
    "repo": "repository",
    "dir": "folder",
    "directory": "folder",
    "dependencies": "dependency",
    "repositories": "repository",
    "directories": "folder",
    "libraries": "library",
    "don't": "not",
    "colour": "color",
}
_FILLERS = word_set("a an the our your my its their this that these those all any every each of and please just it")
_NARROWING = word_set(
    "also as at during for if in inside into of on only the to use using under when whenever while with within"
) - {"only"}
"""Words that narrow a statement, whichever of them it is."""


@lru_cache(maxsize=4096)
def thing_key(text: str) -> str:
    """Return the key of a thing: ``the `pnpm` package manager`` and ``PNPM`` are ``pnpm``."""
    words = [_singular(_SAME.get(word, ALIASES.get(word, word))) for word in _words(text)]
    while len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    while len(words) > 1 and words[-1] in _SORTS and words[0] in PROGRAMS:
        words = words[:-1]
    return " ".join(filter(None, words))


@lru_cache(maxsize=4096)
def phrase_key(text: str) -> str:
    """Return the key of what is done, or of what it is for: "for installing packages" and "to install a package"."""
    words = [_stem(_SAME.get(word, ALIASES.get(word, word))) for word in _words(text) if word not in _FILLERS]
    return " ".join(filter(None, words))


def limit_key(text: str) -> tuple[str, ...]:
    """Return the key of what narrows a statement, whether it says "for tests", "in tests" or "when testing"."""
    words = {word for word in _words(text) if word not in _FILLERS and word not in _NARROWING}
    return tuple(sorted(filter(None, {_stem(_SAME.get(word, ALIASES.get(word, word))) for word in words})))


def _words(text: str) -> list[str]:
    """Return the words of a text as they are compared, without the marks around each."""
    plain = unicodedata.normalize("NFC", text[:_LONGEST]).casefold().replace("’", "'")
    return [word for each in plain.split() if (word := _bare(each))]


def _bare(word: str) -> str:
    bare = word.strip(_MARKS)
    dotted = word.lstrip(_MARKS.replace(".", "").replace("_", ""))
    return dotted.rstrip(_MARKS) if dotted[:1] in "._" and bare else bare.removesuffix("'s")


def _singular(word: str) -> str:
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s")) and word.isalpha()
    return word[:-1] if plural and word not in PROGRAMS else word


def _stem(word: str) -> str:
    """Return a word without the endings that most often tell two forms of an English verb or noun apart."""
    if not word.isalpha() or len(word) < 4 or word in PROGRAMS:
        return word
    stem = _singular(word)
    cut = re.sub(r"(?:ing|ed)\Z", "", stem) if len(stem) > 5 else stem
    doubled = cut != stem and len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "ls"
    cut = cut[:-1] if doubled else cut
    return cut.removesuffix("e") if len(cut) > 3 else cut
