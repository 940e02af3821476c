"""Packages of registries a text names: scoped names, names with a version rule, what is installed or said to be one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs
from lessonbook.core.shelltokens import word_set

_SCOPED = r"@(?<![\w.@/-]@)[a-z0-9][\w.-]*+/[a-z0-9][\w.-]*+(?!/)"
_SPECIFIED = re.compile(
    r"(?<![\w./@$:-])([A-Za-z][\w.-]+)(?:\[[\w,-]{1,60}\])?(?:(?:==|~=|>=|<=|!=)(?=\d)|[<>](?=\d+\.\d))"
)
_INSTALL = (
    r"(?:install|add|npm i|npx|uvx|bunx|dlx)((?: (?:--?[\w-]+"
    r"|(?!--?)[\"']?@?[A-Za-z][\w./@=<>~!\[\],-]*+[\"']?)){1,12})"
)
_INSTALLER = re.compile(
    r"(?<![\w./-])(?:pip3? install|uv (?:add|tool install)|poetry add|pipx install|(?:p?npm|bun) (?:i|add|install)"
    r"|yarn add|cargo (?:add|install)|gem install|npx|uvx|bunx|pnpm dlx|apt(?:-get)? install|brew install)\Z"
)
_SAID = r"(?:package|module|library|dependency|crate|gem)\b"
_CALLED_BEFORE = re.compile(
    r"(?i)\b(?:npm|python|pypi|node|rust|ruby|pip) (?:package|module|library|dependency) \Z|\b(?:crate|gem) \Z"
)
_CODED_BEFORE = re.compile(r"(?i)\b(?:package|library|dependency|crate|gem) \Z")
_AFTER = r" ([`\"']?)(@?[a-z][\w./-]*+)"
_BEFORE = re.compile(r"(?<![\w.@/-])(@?[a-z][\w./-]*)([`\"']?) (?:npm |python |pypi )?\Z")
_ARGUMENT = re.compile(r"[\"']?(@?[A-Za-z][\w.-]*+(?:/[\w.-]++)?)(?:\[[\w,-]*\])?(?:[@=<>~!^].*)?[\"']?\Z")
_NOT_NAMES = word_set(
    "a additional affected all an and another any are as at be build by can child complete core current dependencies "
    "dependent each either every everything existing external first following for from given global globally has "
    "have if in individual installed internal into is it its key large latest local locally main mentioned missing "
    "more multiple necessary new no node not npm of official on one only optional or other our own package packages "
    "parent particular pip plugin popular precious private published python relevant required requirements right "
    "root rust same secondary separate shared single small some specific standard such target that the their them "
    "then these third-party this to tools uninstalled unused upstream using used various via when whether which will "
    "with without workspace wrong your again both before after"
)


def find(page: Page) -> Iterator[Entity]:
    """Yield the packages that ``page`` names."""
    for match in compiled(_SCOPED).finditer(page.text):
        yield from _named(page, *match.span())
    for start, end in runs(page.text, r"[=~<>!]=?\d", r"\w.@/$:\[\],=~<>!*-"):
        said = _SPECIFIED.match(page.text, start, end)
        if said and not said[1].lower().startswith("python"):
            yield from _named(page, *said.span(1))
    for match in compiled(_INSTALL).finditer(page.text):
        head = page.text[max(0, match.start() - 12) : match.start(1)]
        installer = _INSTALLER.search(head)
        if installer:
            yield from _arguments(page, match, 1 if installer[0].endswith(("x", "dlx")) else 12)
    for match in compiled(_SAID).finditer(page.text):
        yield from _said(page, match)


def package_key(name: str) -> str:
    """Return a package's name as registries compare it (PEP 503; npm's are lower case already)."""
    return re.sub(r"[-_.]+", "-", name).lower() if "/" not in name else name.lower()


def _said(page: Page, match: re.Match[str]) -> Iterator[Entity]:
    """Yield the name before or after a word such as "package" or "crate"."""
    sort = match[0].lower()
    sure = sort.startswith(("crate", "gem"))
    after = compiled(_AFTER).match(page.text, match.end())
    if after:
        lead = page.before(match.start()) + match[0] + " "
        if (_CODED_BEFORE if after[1] == "`" else _CALLED_BEFORE).search(lead):
            yield from _named(page, *after.span(2))
            return
    before = _BEFORE.search(page.before(match.start(), 60))
    if before and (sure or before[2] == "`" or before[0].endswith(("npm ", "python ", "pypi "))) and sort != "module":
        start = match.start() - len(before[0])
        yield from _named(page, start, start + len(before[1]))


def _arguments(page: Page, match: re.Match[str], limit: int) -> Iterator[Entity]:
    """Yield what an install command names, up to the first word that is not a name, and ``limit`` names."""
    at = match.start(1)
    for word in match[1].split(" ")[1:]:
        at += 1
        argument = _ARGUMENT.match(word.rstrip(".,;:"))
        if word[0] in "\"'" and word[-1] != word[0]:
            return
        if argument and not word.startswith("-"):
            if argument[1].lower() in _NOT_NAMES or limit <= 0:
                return
            start = at + word.index(argument[1])
            yield from _named(page, start, start + len(argument[1]))
            limit -= 1
        at += len(word)
        if word.endswith((",", ".", ";", ":")):
            return


def _named(page: Page, start: int, end: int) -> Iterator[Entity]:
    name = page.text[start:end].rstrip(".-/")
    if len(name) > 1 and name.lower() not in _NOT_NAMES and not name.endswith((".py", ".sh", ".sty", ".txt", ".json")):
        yield page.entity(Kind.PACKAGE, start, start + len(name), package_key(name))
