"""Git branches a text names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled
from lessonbook.core.shelltokens import word_set

_NAME = r"[A-Za-z0-9][\w./-]*+"
_USUAL = r"(?:main|master|develop|trunk|staging|production|gh-pages|canary|dev|release/[\w.-]+)"
_REMOTE = rf"(?:origin|upstream)/(?<![\w./-]origin/)(?<![\w./-]upstream/)({_NAME})(?![\w:(])"
_AFTER = rf"[Bb]ranch(?:es)?(?: (?:called|named|is|to))? [`\"']({_NAME})[`\"']"
_BEFORE = re.compile(rf"(?:`({_NAME})`|(?<![\w./-])({_USUAL})) \Z")
_WORD = r"(?i:branch)(?:es)?\b"
_PLAIN = (
    rf"({_USUAL})(?![\w/(.-]\w|\(|/)(?![`\"']? (?:server|environment|database|cluster|repo|thread|function|loop"
    rf"|data|build|mode))"
)
_MOVED = re.compile(
    r"(?i)\b(?:push(?:es|ed|ing)?|merg(?:e|es|ed|ing)|rebas(?:e|es|ed|ing)|commit(?:s|ted|ting)?|checkout|check out"
    r"|land(?:s|ed)?|branch(?:ed|ing)?|PRs?|pull requests?|forked|diff|cherry-picks?"
    r"|switch(?:ed)?)(?: [\w-]{1,20}){0,3}? (?:to|into|on|onto|against|from|with|off)(?: of)? (?:the )?[`\"']?\Z"
    r"|\bgit (?:checkout|switch|merge|rebase) \Z"
)
_MADE = rf"git (?:checkout -b|switch -c|branch -[dDm]|worktree add -b) ({_NAME})"
_PREFIXED = r"`((?:feature|feat|fix|bugfix|hotfix|release|chore|pending)/[\w.<>{}/-]+)(?=`)"
_NOT_NAMES = word_set("a an and name names off on protection the this that your is are git list")


def find(page: Page) -> Iterator[Entity]:
    """Yield the branches that ``page`` names."""
    for pattern in (_REMOTE, _AFTER, _MADE, _PREFIXED):
        for match in compiled(pattern).finditer(page.text):
            yield from _named(page, *match.span(1))
    for match in compiled(_WORD).finditer(page.text):
        before = page.before(match.start(), 100)
        named = _BEFORE.search(before)
        if named:
            group = named.lastindex or 0
            shift = match.start() - len(before)
            yield from _named(page, shift + named.start(group), shift + named.end(group))
    for match in compiled(_PLAIN).finditer(page.text):
        if _MOVED.search(page.before(match.start(), 80)):
            yield from _named(page, *match.span(1))


def _named(page: Page, start: int, end: int) -> Iterator[Entity]:
    name = page.text[start:end].rstrip("./-")
    cut = page.text[start + len(name) : end].startswith("/")
    if name and not cut and name.lower() not in _NOT_NAMES and not re.search(r"\.\w{1,4}\Z", name):
        yield page.entity(Kind.BRANCH, start, start + len(name))
