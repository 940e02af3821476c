"""Options, variables and settings a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs
from lessonbook.core.shelltokens import word_set

_FLAG = r"--(?<![\w-]--)[A-Za-z][\w-]*+(?:\.[\w-]++)*+"
_SHORT_FLAG = r"-(?<=[ `]-)[A-Za-z](?![\w-])"
_SAYS_FLAG = re.compile(r"(?i)\b(?:flag|option|switch) `?\Z")
_FLAG_AFTER = r"`? (?:flag|option|switch)\b"
_VARIABLE = re.compile(r"\$?\{?([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])\Z")
_SHELL_VARIABLE = r"\$\{?([A-Z][A-Z0-9_]{1,60})\b\}?"
_KNOWN_VARIABLES = r"(?:PATH|HOME|PYTHONPATH|GOPATH|GOFLAGS|TMPDIR|EDITOR|MANPATH|CFLAGS|LDFLAGS|RUSTFLAGS)(?![\w/-])"
_SETTING = re.compile(r"[a-z][\w-]*(?:\.[A-Za-z][\w-]*){1,5}\Z")
_NAMESPACES = word_set(
    "alias autolearn branch color commit core credential diff editor fetch files gc git gpg http https init "
    "interactive merge mergetool pager protocol pull push rebase receive remote rerere safe sendemail sequence "
    "status submodule tag terminal transfer url user workbench"
)
_SAYS_SETTING = re.compile(
    r"(?i)(?:\b(?:settings?|options?|config(?:uration)?(?: key)?|property|preference|config set"
    r"|config key)[\s:`\"']{1,3}|\bgit config(?: --\w+)* |\bset `?)\Z"
)
_SAID_AFTER = r"(?i)[`\"']? ?(?:=(?!=)|(?:setting|option|config|key)\b|is (?:on|off|true|false|set)\b)"
_ENDINGS = re.compile(
    r"\.(?:[cm]?[jt]sx?|py|md|json|ya?ml|toml|sh|txt|html?|css|rs|go|rb|java|com|org|net|io|dev|ai|app|co|lock|log"
    r"|cfg|ini|env|example|local|svg|png|csv|sql|xml|db)\Z"
)


def find(page: Page) -> Iterator[Entity]:
    """Yield the flags, variables and settings that ``page`` names."""
    for match in compiled(_FLAG).finditer(page.text):
        yield page.entity(Kind.FLAG, match.start(), match.start() + len(match[0].rstrip("-")))
    for match in compiled(_SHORT_FLAG).finditer(page.text):
        if _SAYS_FLAG.search(page.before(match.start())) or compiled(_FLAG_AFTER).match(page.text, match.end()):
            yield page.entity(Kind.FLAG, *match.span())
    yield from _variables(page)
    for start, end in runs(page.text, r"\.[A-Za-z]", r"\w./@$:<-"):
        if _SETTING.match(page.text, start, end) and _is_setting(page, start, end):
            yield page.entity(Kind.SETTING, start, end)


def _variables(page: Page) -> Iterator[Entity]:
    for start, end in runs(page.text, r"_[A-Z0-9]", r"\w.$/@{-"):
        match = _VARIABLE.match(page.text, start, end)
        if match and match[1].count("_") < len(match[1]) / 2:
            yield page.entity(Kind.VARIABLE, *match.span(1))
    for match in compiled(_KNOWN_VARIABLES).finditer(page.text):
        if compiled(r"[\w.$/-]").match(page.text[match.start() - 1 : match.start()]):
            continue
        yield page.entity(Kind.VARIABLE, *match.span())
    for match in compiled(_SHELL_VARIABLE).finditer(page.text):
        yield page.entity(Kind.VARIABLE, *match.span(1))


def _is_setting(page: Page, start: int, end: int) -> bool:
    """Whether dotted words are a setting: said to be one, or given a value under a usual namespace or in code."""
    name = page.text[start:end]
    if _ENDINGS.search(name) or compiled(r"`?\(").match(page.text, end):
        return False
    if _SAYS_SETTING.search(page.before(start)):
        return True
    first, _, rest = name.partition(".")
    given = compiled(_SAID_AFTER).match(page.text, end) is not None
    return (first in _NAMESPACES and any(map(str.isupper, rest))) or (
        given and (first in _NAMESPACES or page.quoted(start, end))
    )
