"""Facts of what has one value at a time: a thing's version, a setting, what a project has one of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessonbook.core.clauses import Clause
from lessonbook.core.entity_paths import is_path
from lessonbook.core.fact import Fact, Relation
from lessonbook.core.fact_slots import is_thing, limits, thing
from lessonbook.core.fact_versions import is_versioned, number_at, range_key, split_version
from lessonbook.core.fact_words import CODE, QUOTED, UNITS, WORD, any_of
from lessonbook.core.value import Value

_LEAST = re.compile(r"(?i)\s*(?:(at least)|version)\s+")
_ALONE = re.compile(r"\s*(?:,|\Z)|\s(?:or|and|in|on|for|now|because|since)\b")
_VERSION_OF = re.compile(r"(?i)(?:(minimum|min(?:imum)? supported|required)\s+)?(\S+)(?:['’]s)? version\Z")
_CODE_LIKE = re.compile(r"\S*[a-zA-Z0-9][_./:=\d-]\S*\Z|[A-Z]{2,}\Z|\d+(?: \w+)?\Z|(?:true|false|on|off|yes|no)\Z")
_HAS_ONE = any_of(
    "package_manager test_runner test_framework formatter linter type_checker bundler build_tool build_system "
    "database (?:default|main|base)_branch shell language runtime framework task_runner "
    "(?:max(?:imum)?_)?line_length indentation indent timeout port log_level license encoding locale time_?zone "
    "code_style naming_convention merge_strategy model region branch_prefix deploy_target css_framework orm "
    "(?:test|build)_command"
)
_ONE_OF = re.compile(
    r"(?i)(?!(?:use|set|choose|pick|check|add|for) )"
    rf"(?:(?:the|our|this|its)\s+)?(?:[\w-]+(?:['’]s)?\s+){{0,2}}{_HAS_ONE}\Z"
)
_ONE_THING = re.compile(rf"\s*({WORD}(?: {any_of(UNITS)})?)\s*(?=,|\Z)")
_PLACEHOLDER = re.compile(r"(?i)(?:x{2,}|n|number|string|none|name|value|tbd|todo|any|optional|required|<.*)\Z")
_LITERAL = re.compile(rf"(?i)\s*({CODE}+|{QUOTED}+|true|false|on|off|yes|no|\d[\w.]*(?: {any_of(UNITS)})?)\s*(?=,|\Z)")
_FEW = re.compile(rf"\s*({WORD}(?: {WORD}){{0,2}}?)\s*(?=,|\Z|\s(?:in|on|for|when|if|because|by|unless|so|and)\b)")


class Said(Value):
    """A clause whose verb is found: what stands before it, and where what follows it starts."""

    clause: Clause
    end: int
    subject: str
    positive: bool
    verb: str
    general: bool
    """Whether it is about the whole project."""


def labelled(label: Clause, value: Clause) -> Iterator[Fact]:
    """Yield the fact of "Package manager: pnpm"."""
    name = thing(label.words(0, len(label.text)))
    found = _ONE_THING.fullmatch(value.text)
    if _ONE_OF.match(name) and found and not _PLACEHOLDER.match(found[1]):
        yield Fact(Relation.VALUE, thing(value.words(*found.span(1))), name)


def pinned(said: Said) -> Iterator[Fact]:
    """Yield the version of "X is pinned to N"."""
    number = number_at(said.clause, said.end)
    if number and said.subject:
        yield _version(said, *number, False)


def set_to(said: Said) -> Iterator[Fact]:
    """Yield the value of "X is set to Y" and "X must be 3"; "X must be ready" gives none."""
    least = _LEAST.match(said.clause.text, said.end)
    number = number_at(said.clause, least.end() if least else said.end)
    if number and is_versioned(said.subject, number[0]):
        yield _version(said, *number, least is not None and least[1] is not None)
        return
    found = (_FEW if said.verb.endswith(" to") else _LITERAL).match(said.clause.text, said.end)
    if found and said.subject and is_thing(value := thing(said.clause.words(*found.span(1)))):
        rest = limits(said.clause, found.end())
        if said.verb.startswith("default"):
            rest["condition"] = ", ".join(filter(None, ("by default", rest["condition"])))
        yield Fact(Relation.VALUE, value, said.subject, said.positive, **rest)


def needed(said: Said) -> Iterator[Fact]:
    """Yield the version of "Node 18+ is required"."""
    bare, version, rest = split_version(said.subject, limits(said.clause, said.end))
    if version:
        yield Fact(Relation.REQUIRE, bare, positive=said.positive, version=version, **rest)


def is_literal(words: str) -> bool:
    """Whether words are a name or value as code has them, not words of a sentence."""
    return _CODE_LIKE.match(words) is not None


def has_one(name: str) -> bool:
    """Whether a name is that of something a project has one of."""
    return _ONE_OF.match(name) is not None


def is_said(said: Said) -> Iterator[Fact]:
    """Yield what "is" says of a version, a place, or of what a project has one of: its package manager, its port."""
    least = _LEAST.match(said.clause.text, said.end)
    number = number_at(said.clause, least.end() if least else said.end)
    versioned = number and (_VERSION_OF.match(said.subject) or is_versioned(said.subject, number[0]))
    if number and said.subject and versioned and _ALONE.match(said.clause.text, number[1]):
        yield _version(said, *number, least is not None and least[1] is not None)
        return
    found = _ONE_THING.match(said.clause.text, said.end)
    if found and said.subject and is_path(place := thing(said.clause.words(*found.span(1)))):
        yield Fact(Relation.LOCATED, place, said.subject, said.positive, **limits(said.clause, found.end()))
        return
    if found and _ONE_OF.match(said.subject):
        value = thing(said.clause.words(*found.span(1)))
        yield Fact(Relation.VALUE, value, said.subject, said.positive, **limits(said.clause, found.end()))


def _version(said: Said, number: str, end: int, least: bool) -> Fact:
    named = _VERSION_OF.match(said.subject)
    version, rest = range_key(number, least or bool(named and named[1]), limits(said.clause, end))
    name = named[2] if named else said.subject
    return Fact(Relation.VERSION, number, name, said.positive, version=version, **rest)
