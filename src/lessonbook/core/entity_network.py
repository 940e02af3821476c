"""Hosts and ports a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs

_ADDRESS = r"://[^\s<>\"'`)\]}|\\]{1,2000}+"
_SCHEME = r"(?:\w{1,12}\+)?[A-Za-z]{2,12}\Z"
_PARTS = r"://(?:[^@/?#\s]{1,200}@)?(\[[0-9a-fA-F:.]{2,45}\]|[^/:?#@\s,;*$]{1,253})(?::(\d{2,5})\b)?"
_GIT_HOST = r"git@(?<![\w.-]git@)([\w-]+(?:\.[\w-]+)+):"
_ENDING = r"\.(?:com|org|net|dev|edu|gov)(?![\w@(-]|\.\w)"
_BARE = r"(?<![\w.@/:$\\=#-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,4}[a-z]{3}(?![\w@(/-]*@)"
_LOCAL = r"(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?<![\w.-]localhost)(?::(\d{2,5}))?(?![\w.:]\w)"
_PORT = (
    r"(?:[Pp]orts?(?<![\w-]ports)(?<![\w]port) (?:(?:is|to|number|in|on) )?|--port[ =]|PORT="
    r"|[Pp]ort(?<!\wport)(?<!\wPort): ?|[Ll]isten(?:s|ing)? on :?)"
    r"`?:?(\d{2,5})\b(?![.,]?\d|%)(?:(?:,? (?:and|or) |, )`?(\d{2,5})\b(?!\.\d))?"
)


def find(page: Page) -> Iterator[Entity]:
    """Yield the hosts and ports that ``page`` names."""
    for start, end in addresses(page.text):
        match = compiled(_PARTS).match(page.text, page.text.index("://", start), end)
        if match:
            yield from _host(page, *match.span(1))
            yield from _port(page, match, 2)
    for match in compiled(_GIT_HOST).finditer(page.text):
        yield from _host(page, *match.span(1))
    for match in compiled(_LOCAL).finditer(page.text):
        yield from _host(page, *match.span(1))
        yield from _port(page, match, 2)
    for start, end in runs(page.text, _ENDING, r"\w.@/:$\\=#-"):
        bare = compiled(_BARE).match(page.text, start, end)
        if bare:
            yield from _host(page, *bare.span())
    for match in compiled(_PORT).finditer(page.text):
        yield from _port(page, match, 1)
        yield from _port(page, match, 2)


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the addresses of ``text`` stand, from their scheme up to what ends one in a sentence."""
    for match in compiled(_ADDRESS).finditer(text):
        scheme = compiled(_SCHEME).search(text[max(0, match.start() - 25) : match.start()])
        if scheme and scheme[0].lower() != "file":
            yield match.start() - len(scheme[0]), match.start() + len(match[0].rstrip(".,;:!?*_"))


def _host(page: Page, start: int, end: int) -> Iterator[Entity]:
    name = page.text[start:end].rstrip(".")
    if compiled(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\]").fullmatch(name):
        yield page.entity(Kind.HOST, start, start + len(name))


def _port(page: Page, match: re.Match[str], group: int) -> Iterator[Entity]:
    if match[group] and 0 < int(match[group]) <= 65_535:
        yield page.entity(Kind.PORT, *match.span(group), str(int(match[group])))
