"""Files, scripts and tasks of the project that a lesson tells to use: what can be looked up before it is followed."""

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
_BEFORE = 200
"""Characters before code in which the words that tell about it stand."""
_FILE = re.compile(r"(?:\./)?[\w.@+-]+(?:/[\w.@+-]+)*\.[A-Za-z]\w{0,7}\Z")
_SCRIPT = re.compile(r"(?:\./[\w.@+-]+|[\w.+-]+)(?:/[\w.@+-]+)+\Z|\./[\w.@+-]+\Z")
_FENCE = r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)\Z"
_SHELLS = ("", "sh", "bash", "shell", "console", "zsh")
"""What stands behind the fence of a script; also nothing."""
_OTHER_PLACE = r"--?(?:w|C|f|r|F|workspaces?|prefix|cwd|dir|filter|file|directory|recursive|if-present)\b"
_RUNNERS = ("make ", "just ", "npm run ", "yarn run ", "bun run ", "npm test")
_TASK = (
    r"(?:(?P<runner>make|just|(?:npm|pnpm|yarn|bun) run) (?P<name>[A-Za-z][\w:-]*)|(?P<tests>p?npm) test\b)"
    rf"(?: (?!{_OTHER_PLACE})[^\s;&|]+)*\Z"
)
_ELSEWHERE = (
    r"(?i)\b(?:from|in|inside|under|within)\s+(?:the\s+)?"
    r"(?:`[^`\n]+`|[\w./-]+/|[\w.-]+\s+(?:folder|directory|package))"
)
"""Words that say that a command is run in a folder below the project's own."""
MARK = "no longer there"


def cited(text: str) -> tuple[str, ...]:
    """Return the relative paths that a lesson tells to use, each once: ``scripts/seed.py``, ``bin/test``."""
    return tuple(dict.fromkeys(_paths(text)))


def tasks(text: str) -> tuple[str, ...]:
    """Return the tasks that a lesson tells to run, each once: ``make seed``, ``npm run build``.

    None of a lesson that runs them in a folder below the project's own, and none of a whole skill's scripts, which
    often show what another project would run.
    """
    # Patterns are compiled where they are needed only: a session waits for this.
    if not any(runner in text for runner in _RUNNERS) or re.search(_ELSEWHERE, text):
        return ()
    spans = _spans(text) if text.startswith("---\n") else told(text)
    found = (re.match(_TASK, span.removesuffix(" …").strip()) for span in spans)
    named = (
        f"{match['runner']} {match['name']}" if match["name"] else f"{match['tests']} test" for match in found if match
    )
    return tuple(dict.fromkeys(named))


def programs(text: str) -> tuple[str, ...]:
    """Return the programs that a lesson tells to run with something after them: ``terraform`` of ``terraform plan``."""
    words = (span.split() for span in told(text))
    return tuple(dict.fromkeys(first for first, *more in words if more and re.fullmatch(r"[a-z][\w.+-]*", first)))


def told(text: str) -> Iterator[str]:
    """Yield the code that a text tells to use: code spans, and the lines of its shell scripts."""
    yield from _spans(text)
    lines = (line.strip().removeprefix("$ ") for line in _scripts(text))
    yield from (line for line in lines if line and not line.startswith("#"))


def _scripts(text: str) -> Iterator[str]:
    """Yield the lines in fences of shell scripts."""
    fence, shell = "", False
    for line in text.split("\n") if "```" in text or "~~~" in text else ():
        if fence:
            closes = line.strip().startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            if shell and not closes:
                yield line
        elif found := re.match(_FENCE, line):
            fence, shell = found[1], found[2].strip() in _SHELLS


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


def _spans(text: str) -> Iterator[str]:
    for match in _TOLD.finditer(text):
        if not warned(text, match.start(1) - 1):
            yield match[1]


def warned(text: str, at: int) -> bool:
    """Whether the words before the code at ``at`` warn of it: ``do not run``, ``instead of``, ``fails with``."""
    return _WARNED.search(text, max(0, at - _BEFORE), at) is not None


def _paths(text: str) -> Iterator[str]:
    for span in _spans(text):
        words = span.split() or [""]
        first = words[0]
        if "://" in span or first.startswith(("/", "~", "-", "$", "@")) or ".." in first.split("/"):
            continue
        if (len(words) == 1 and "/" in first and _FILE.match(first)) or (len(words) > 1 and _SCRIPT.match(first)):
            yield first
