"""What a text names: a file, a command, a package, an error, … One value per thing, with where it first stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from lessonbook.core.redact import secret_spans
from lessonbook.core.shelltokens import word_set
from lessonbook.core.suspicion_text import Code, code_of
from lessonbook.core.value import Value

LONGEST = 300
"""Characters of one name, at most: what goes on longer is data."""


class Kind(StrEnum):
    """What sort of thing an entity is."""

    FILE = "file"
    """A file or folder: ``src/app.py``, ``package.json``, ``~/.ssh/``."""
    COMMAND = "command"
    """A program and what it is asked to do: ``pnpm install``, ``git rebase``."""
    TOOL = "tool"
    """A developer's tool, language or server, or any program used as a command: ``ruff``, ``Node``."""
    PACKAGE = "package"
    """A package of a registry: ``@scope/name``, ``requests>=2.0``, the ``serde`` crate."""
    ERROR = "error"
    """An error code, exit code, HTTP status, exception class or errno name."""
    VERSION = "version"
    """A version or range of versions; ``of`` is the key of what it is a version of, where that is said."""
    FLAG = "flag"
    """A command's option: ``--no-verify``."""
    VARIABLE = "variable"
    """An environment variable or constant in capitals: ``NODE_ENV``."""
    SETTING = "setting"
    """A dotted setting: ``core.hooksPath``."""
    IDENTIFIER = "identifier"
    """A name from code: ``parse_config()``, ``UserService``."""
    HOST = "host"
    """The host of an address."""
    BRANCH = "branch"
    """A git branch."""
    PORT = "port"
    """A network port."""


class Entity(Value):
    """One thing a text names: ``value`` is ``text[start:end]``, ``key`` equal for the same thing written otherwise."""

    kind: Kind
    value: str
    key: str
    start: int
    end: int
    of: str = ""


class Page(Value):
    """A text to look through, without its fenced examples, and where it holds Markdown code."""

    text: str
    code: Code
    scripts: tuple[tuple[int, int], ...] = ()
    """Where the lines of its fenced blocks in a shell's language stand."""

    def in_code(self, place: int) -> bool:
        """Whether ``place`` is in a fence or between backticks."""
        return self.code.holds(place)

    def quoted(self, start: int, end: int) -> bool:
        """Whether backticks stand directly around ``start`` to ``end``."""
        return self.text[start - 1 : start] == "`" and self.text[end : end + 1] == "`"

    def before(self, place: int, length: int = 24) -> str:
        """Return what stands before ``place`` on its line, at most ``length`` characters of it."""
        return self.text[max(0, place - length) : place].rpartition("\n")[2]

    def entity(self, kind: Kind, start: int, end: int, key: str = "", of: str = "") -> Entity:
        """Return the entity that stands from ``start`` to ``end``; its key is what stands there unless it is given."""
        value = self.text[start:end]
        return Entity(kind, value, (key or value).casefold(), start, end, of)


_SHELLS = word_set("bash sh shell console zsh shell-session terminal shellscript")
_FENCE = r"[ \t>*+-]{0,12}(?:\d{1,3}[.)][ \t]+)?(?:`{3,}|~{3,})[ \t]*\{?\.?([\w-]*)[^\n]*"


def page_of(text: str) -> Page:
    """Return ``text`` as a page. A fenced block is an example, not what the text says; only a shell's is read."""
    code = code_of(text)
    parts, scripts, at = [], [], 0
    for start, end in zip(code.starts, code.ends, strict=True):
        fence = compiled(_FENCE).match(text, start, end)
        if fence:
            shell = fence[1].lower() in _SHELLS
            stop = fence.end() if shell else end
            parts += [text[at:start], blank(text[start:stop])]
            at = stop
            scripts += [(fence.end(), end)] if shell else []
    return Page("".join([*parts, text[at:]]), code, tuple(scripts))


def blank(piece: str) -> str:
    """Return as many spaces as ``piece`` has characters, with its line ends kept."""
    return "\n".join(" " * len(line) for line in piece.split("\n"))


def runs(text: str, sign: str, chars: str) -> Iterator[tuple[int, int]]:
    """Yield where each whole run of ``chars`` stands that holds a match of the pattern ``sign``.

    ``chars`` is the inside of a character class. Looking for a sign first costs a fraction of trying every word.
    """
    grow, at = compiled(f"[{chars}]*+"), 0
    while match := compiled(sign).search(text, at):
        low = max(at, match.start() - LONGEST)
        left = grow.match(text[low : match.start()][::-1])
        right = grow.match(text, match.start())
        at = max(match.end(), right.end() if right else 0)
        start = match.start() - (left.end() if left else 0)
        if at - start <= LONGEST:
            yield start, at


class Secrets:
    """Says what in a text belongs to a secret. In a long text only what stands around a place is looked at."""

    _WHOLE = 50_000
    _NEAR = 300

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans = secret_spans(text) if len(text) <= self._WHOLE else None

    def hold(self, start: int, end: int) -> bool:
        """Whether a part of what stands from ``start`` to ``end`` belongs to a secret."""
        low = 0 if self._spans is not None else max(0, start - self._NEAR)
        spans = self._spans if self._spans is not None else secret_spans(self._text[low : end + self._NEAR])
        return any(span.secret + low < end and start < span.end + low for span in spans)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern; compiled when first needed."""
    return re.compile(pattern)
