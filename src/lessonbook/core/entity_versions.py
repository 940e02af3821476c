"""Versions a text names, with what each is a version of where the text says so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.entity import Entity, Kind, Page, compiled, runs
from lessonbook.core.entity_tools import NAMES, NAMES_IN_CAPITALS, tool_key
from lessonbook.core.shelltokens import word_set

_CHARS = r"\w.,;@/:$€£%#°×²<>=~^≥≤+*\[\]!-"
_OPERATOR = r"(?:>=|<=|==|~=|!=|[\^~<>=≥≤])"
_ONE = r"v?\d{1,4}(?:\.(?:\d{1,8}|[x*]))*+(?:[-.]?(?:alpha|beta|rc|dev|pre|post|canary|next|preview)[.-]?\d*|[ab]\d+)?"
_NUMBER = re.compile(rf"{_OPERATOR}?{_ONE}(?:,{_OPERATOR}{_ONE})?\+?\Z")
_SIGNED = re.compile(rf"(@?[A-Za-z][\w./-]*?)(?:\[[\w,]+\])?(?:==|~=|>=|<=|@\^?|\^)({_ONE}(?:,{_OPERATOR}{_ONE})?)\Z")
_RANGE = rf" {_OPERATOR} ?{_ONE}(?!\w|\.\d)"
_LEADS = re.compile(rf"(?<![\w<>=~^-]){_OPERATOR} \Z")
_BETWEEN = word_set(
    "a an at be is locked minimum now needs of on or pinned release requires runs stays the to up uses v v. version"
)
"""Words that may stand between a thing and its version."""
_MORE = word_set(
    "pydantic angular laravel symfony drupal wordpress jdk jre openjdk cuda cudnn glibc alpine debian fedora centos "
    "ios android gtk qt boost unreal tailwindcss langchain lodash boto3 httpx starlette keras sklearn scikit-learn "
    "scipy huggingface transformers django"
)
_NOT_VERSIONED = word_set("linear notion figma slack solid fish ant consul sentry jira file")
VERSIONED = (NAMES | NAMES_IN_CAPITALS | _MORE) - _NOT_VERSIONED
_NO_THING = word_set(
    "a after all and api at before for from in on only or release sdk since the this to until use version via with"
)
_SAYS_SO = re.compile(
    r"(?i)\b(?:versions?:?|releases?|v\.|tag|since|pinned (?:to|at)|upgrade[ds]? to|bump(?:ed)? to)[ \"'`]{1,3}\Z"
)
_NOT_VERSION = re.compile(
    r"(?i)(?:\b(?:section|sections|step|chapter|figure|fig\.|table|§|clause|part|phase|lines?|page|item|level|rule"
    r"|article|top|tier|appendix|equation|about|around|approximately|roughly|by|than|score|ratio|p|r)[ (]\Z)"
    r"|[=~(] ?\Z"
)
_UNIT = (
    r"(?i)[ -]?(?:px|em|rem|pt|ms|s|sec|secs|seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|times|x|kb"
    r"|mb|gb|tb|kib|mib|gib|bytes?|chars?|characters?|lines?|files?|items?|tokens?|words?|percent|spaces?|steps?"
    r"|points?|stars?|out|of|jobs?|workers?|processes|threads|retries|tests|users|cores|nodes?|images?|modules?"
    r"|packages)\b"
)


def find(page: Page) -> Iterator[Entity]:
    """Yield the versions that ``page`` names."""
    for start, end in runs(page.text, r"\d", _CHARS):
        end = start + len(page.text[start:end].rstrip(".,:;*-"))
        signed = _SIGNED.match(page.text, start, end)
        if signed:
            of = tool_key(signed[1].lstrip("@") if "/" not in signed[1] else signed[1])
            yield page.entity(
                Kind.VERSION, signed.end(1), end, version_key(page.text[signed.end(1) : end].lstrip("@")), of
            )
        elif _NUMBER.match(page.text, start, end):
            yield from _number(page, start, end)


def version_key(version: str) -> str:
    """Return a version or range without spaces and ``v``: ``v2.0.1`` is ``2.0.1``, ``≥ 3`` and ``3+`` are ``>=3``."""
    bare = re.sub(r"\s+|(?<![\w.])v(?=\d)", "", version.replace("≥", ">=").replace("≤", "<="))
    bare = re.sub(r"(?<=[\w*])[\s,]*(?=[<>=~^!])", " ", bare)
    bare = bare.removeprefix("==") if " " not in bare else bare
    return f">={bare[:-1]}" if bare.endswith("+") else bare


def _number(page: Page, start: int, end: int) -> Iterator[Entity]:
    """Yield a number as the version it is; its operator may stand before a space, a second bound behind one."""
    leads = _LEADS.search(page.before(start))
    further = compiled(_RANGE).match(page.text, end)
    begin, stop = start - (len(leads[0]) if leads else 0), further.end() if further else end
    of = _thing(page, begin, page.text[begin:stop], stop)
    if of is not None:
        yield page.entity(Kind.VERSION, begin, stop, version_key(page.text[begin:stop]), of)


def _thing(page: Page, start: int, number: str, end: int) -> str | None:
    """Return the key of what a number is the version of, ``""`` where that is not said; ``None`` where it is none."""
    before = page.before(start, 64)
    thing = _named(before)
    plain = number.replace(".", "").isdigit()
    if plain and "." not in number and not thing:
        return None
    if plain and (_NOT_VERSION.search(before) or compiled(_UNIT).match(page.text, end)):
        return None
    if thing.casefold() in VERSIONED and ("." in number or _fits(thing, number)):
        return tool_key(thing)
    if not _SAYS_SO.search(before) and (not _is_shaped(number) or _is_date(number)):
        return None
    return tool_key(thing) if thing and _is_name(thing) else ""


def _named(before: str) -> str:
    """Return the word before a number that may be what it is a version of; ``""`` for none."""
    for word in reversed(before.split()[-5:]):
        bare = word.strip("`'\"(*").removesuffix(":").removesuffix("'s").rstrip("`")
        if bare.lower() not in _BETWEEN:
            return bare if bare[:1].isalpha() else ""
    return ""


def _is_shaped(number: str) -> bool:
    """Whether a number looks like a version wherever it stands: ``v2``, ``1.2.3``, ``^1.2``, ``2.0b1``."""
    parts = number.count(".") + 1
    marked = number[0] in "^v" or not number.lstrip("v<>=~^≥≤ ").rstrip("+").replace(".", "").isdigit()
    return parts <= 4 and (parts == 3 or (marked and (parts > 1 or number[0] == "v")))


def _fits(thing: str, number: str) -> bool:
    """Whether a whole number may be a version of ``thing``: "Python 3", not "Python 100"."""
    whole = int(compiled(r"\d+").findall(number)[0])
    return whole < 40 or (whole < 200 and thing.casefold() in ("chrome", "firefox"))


def _is_date(number: str) -> bool:
    return re.fullmatch(r"(?:19|20)\d\d\.\d{1,2}(?:\.\d{1,2})?", number) is not None


def _is_name(thing: str) -> bool:
    low = thing.casefold()
    return low not in _NO_THING and (low in VERSIONED or thing[0].isupper() or "-" in thing or "/" in thing)
