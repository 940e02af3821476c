"""Versions inside facts: "Node 20 or newer" is a thing and a version."""

from __future__ import annotations

import re

from lessonbook.core.clauses import Clause
from lessonbook.core.entity_versions import VERSIONED, version_key
from lessonbook.core.fact_slots import Limits, thing
from lessonbook.core.fact_words import CODE

NUMBER = (
    r"(?:[<>=~^!≥≤]{1,2} ?)?v?\d+(?:\.(?:\d+|x|\*))*(?:-?(?:alpha|beta|rc|a|b|dev)[.-]?\d*)?\+?"
    r"(?:[, ]{1,2}[<>=]{1,2} ?\d+(?:\.\d+)*)?"
)
"""A version, or a range of versions."""

_NEWER = r"(?:or|and) (?:newer|later|higher|above|up|greater)"
_SPLIT = re.compile(
    rf"(?i)(.*?[^\s<>=~^!≥≤])(?:\s+(?:version|release)?\s*|(?=[<>=~^!≥≤@]))@?({NUMBER})(\s+{_NEWER})?\Z"
)
_WHOLE = re.compile(rf"{NUMBER}\Z")
_STANDS = re.compile(rf"\s*(?:version\s+)?({CODE}+|{NUMBER})(?=\s|,|\Z)")
_LEAST = re.compile(r"(?i)(?:at least|minimum|min)\s+")
_OR_NEWER = re.compile(rf"(?i){_NEWER}\b")


def split_version(words: str, limits: Limits) -> tuple[str, str, Limits]:
    """Return a thing, its version (``""`` for none), and its limits without the "or newer" that made it a range."""
    least = _LEAST.match(words)
    found = _SPLIT.match(words[least.end() :] if least else words)
    if not found or not is_versioned(found[1], found[2]):
        return words, "", limits
    version, limits = range_key(found[2], least is not None or found[3] is not None, limits)
    return found[1].strip("` "), version, limits


def range_key(number: str, least: bool, limits: Limits) -> tuple[str, Limits]:
    """Return a version's key, as a lower bound where ``least`` or its limits say so, and the limits without that."""
    newer = _OR_NEWER.match(limits["condition"])
    if newer:
        limits = limits | {"condition": limits["condition"][newer.end() :].strip(" ,")}
    key = version_key(number)
    return f">={key}" if (newer or least) and key[:1].isdigit() else key, limits


def number_at(clause: Clause, at: int) -> tuple[str, int] | None:
    """Return the version that stands at ``at`` of a clause, plainly or as code, and where it ends; else ``None``."""
    found = _STANDS.match(clause.text, at)
    number = thing(clause.words(*found.span(1))) if found else ""
    return (number, found.end()) if found and _WHOLE.match(number) else None


def is_versioned(thing: str, number: str) -> bool:
    """Whether a number after a thing's name is its version: that of a tool, or one with a point or operator."""
    name = thing.strip("` ").casefold()
    shaped = "." in number or number[0] in "v<>=~^≥≤"
    return name in VERSIONED or (" " not in name and shaped and number.count(".") < 4)
