"""Files and scripts of the project that a lesson tells to use: what can be looked up before it is followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_TOLD = re.compile(
    r"(?:\A|[.:;]\s+|\b(?i:use|run|runs|call|see|read|edit|open|from|in|at|with|by|and|or|then|before|after)\s+)"
    r"`([^`\n]{3,120})`"
)
"""A code span that the text tells to use; one that it warns of, or an error it quotes, follows other words."""
_WARNED = re.compile(
    r"(?:fails?|failed|stops?(?: it)?(?: here)?) with\s*\Z"
    r"|\b(?:not|never|don'?t|no|without|instead of|out of)\s+(?:[^\W\d_]+\s+){0,2}\Z",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)*\.[A-Za-z]\w{0,7}\Z")
_SCRIPT = re.compile(r"(?:\./[\w.@+-]+|[\w.+-]+)(?:/[\w.@+-]+)+\Z|\./[\w.@+-]+\Z")
MARK = "no longer there"


def cited(text: str) -> tuple[str, ...]:
    """Return the relative paths that a lesson tells to use, each once: ``scripts/seed.py``, ``bin/test``."""
    return tuple(dict.fromkeys(_paths(text)))


def gone(text: str, exists: Callable[[str], bool]) -> tuple[str, ...]:
    """Return those of the cited paths that ``exists`` denies."""
    return tuple(path for path in cited(text) if not exists(path))


def marked(text: str, missing: tuple[str, ...]) -> str:
    """Return the lesson with a word on what it cites and is not there."""
    if not missing:
        return text
    names = " and ".join(f"`{path}`" for path in missing)
    verb = "is" if len(missing) == 1 else "are"
    return f"{text} ({names} {verb} {MARK}: check before you follow this.)"


def _paths(text: str) -> Iterator[str]:
    for match in _TOLD.finditer(text):
        if _WARNED.search(text[: match.start(1) - 1]):
            continue
        words = match[1].split()
        first = words[0]
        if "://" in match[1] or first.startswith(("/", "~", "-", "$", "@")) or ".." in first.split("/"):
            continue
        if (len(words) == 1 and "/" in first and _FILE.match(first)) or (len(words) > 1 and _SCRIPT.match(first)):
            yield first
