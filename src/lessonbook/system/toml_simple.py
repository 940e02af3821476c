"""Reads the TOML that most configurations are, without the parser whose loading takes longer than a hook may.

Answers only where a TOML parser would certainly say the same: tables, and keys with a plain text, a small whole number,
a truth value or a list of plain texts on one line. For anything else it answers nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_WORDS = {"true": True, "false": False}
_DIGITS = 15


def parse(text: str) -> dict[str, Any] | None:
    """Return what the text holds; ``None`` where it is not certainly simple."""
    top: dict[str, Any] = {}
    table, named = top, set[str]()
    if text.endswith("\r"):
        return None
    for raw in text.split("\n"):
        line = raw.removesuffix("\r").strip(" \t")
        if not line or line[0] == "#":
            if not _printable(line):
                return None
            continue
        if line[0] == "[":
            name = _name(line)
            if name is None or name in named or name in top:
                return None
            named.add(name)
            table = top[name] = {}
            continue
        key, equals, rest = line.partition("=")
        key = key.rstrip(" \t")
        found = _value(rest.lstrip(" \t")) if equals else None
        if found is None or not key or not _KEY.issuperset(key) or key in table:
            return None
        table[key] = found
    return top


def _name(line: str) -> str | None:
    inner, bracket, rest = line[1:].partition("]")
    name = inner.strip(" \t")
    return name if bracket and name and _KEY.issuperset(name) and _ends(rest) else None


def _value(text: str) -> Any:
    """The value and nothing but a comment behind it; ``None`` where it is not simple."""
    if text[:1] == '"':
        found = _text(text)
        return found[0] if found and _ends(found[1]) else None
    if text[:1] == "[":
        return _list(text[1:])
    word, _, _ = text.partition("#")
    word = word.rstrip(" \t")
    if not _ends(text[len(word) :]):
        return None
    if word in _WORDS:
        return _WORDS[word]
    plain = word.isascii() and word.isdecimal() and len(word) <= _DIGITS and (word == "0" or word[0] != "0")
    return int(word) if plain else None


def _text(text: str) -> tuple[str, str] | None:
    """A text in double quotes and what follows it; no escapes, and none of three quotes."""
    inner, quote, rest = text[1:].partition('"')
    simple = quote and "\\" not in inner and _printable(inner) and not (not inner and rest[:1] == '"')
    return (inner, rest) if simple else None


def _list(text: str) -> list[str] | None:
    items: list[str] = []
    text = text.lstrip(" \t")
    while text[:1] == '"':
        found = _text(text)
        if found is None:
            return None
        items.append(found[0])
        text = found[1].lstrip(" \t")
        if text[:1] != ",":
            break
        text = text[1:].lstrip(" \t")
    return items if text[:1] == "]" and _ends(text[1:]) else None


def _ends(rest: str) -> bool:
    rest = rest.lstrip(" \t")
    return not rest or (rest[0] == "#" and _printable(rest))


def _printable(text: str) -> bool:
    """Whether TOML allows every character: all but control characters, tabs apart, and halves of surrogate pairs."""
    return text.replace("\t", "").isprintable()
