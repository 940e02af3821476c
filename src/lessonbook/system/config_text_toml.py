"""Edits TOML as text: a table is added at the end of the file, and taken out line by line.

The library that edits TOML for our own configuration is not used here: a table at the end of the file needs no more
than this, and the other program's file keeps its mixed line ends and odd spacing too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from lessonbook.system.config_text import ConfigTextError, Keys, as_json, line_end

_STRINGS = re.compile(
    r'"""(?s:.*?)(?<!\\)"{3,5}|\'\'\'(?s:.*?)\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]'
)
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def parse(text: str) -> Any:
    """Return the table ``text`` holds."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ConfigTextError(f"is not valid TOML: {error}") from error


def insert(text: str, keys: Keys, name: str, value: Any) -> str:
    """Return the text with the table ``name`` of ``keys`` at its end."""
    if not isinstance(value, Mapping):
        raise ConfigTextError("can only be given whole tables")
    end = line_end(text)
    gap = "" if not text.strip("\ufeff \t\r\n") else end if text.endswith("\n") else end * 2
    return text + gap + end.join(_lines((*keys, name), value)) + end


def append(text: str, keys: Keys, value: Any) -> str:
    """Raise ``ConfigTextError``: no program we set up keeps a list of ours in TOML."""
    raise ConfigTextError(f"cannot be given items of the list {'.'.join(keys)}")


def remove(text: str, keys: Keys, index: int | None) -> str:
    """Return the text without the table ``keys`` and the tables inside it."""
    if index is not None:
        raise ConfigTextError(f"cannot be rid of items of the list {'.'.join(keys)}")
    lines = text.splitlines(keepends=True)
    heads = list(_heads(text))
    kept = list(lines)
    for at, (number, path) in enumerate(heads):
        if path[: len(keys)] == keys:
            end = heads[at + 1][0] if at + 1 < len(heads) else len(lines)
            first, last = _block(lines, number, end)
            kept[first:last] = [""] * (last - first)
    return "".join(kept)


def replace(text: str, keys: Keys, index: int | None, value: Any) -> str:
    """Return the text with another table in the place of ``keys``, at the end of the file; its order says nothing."""
    return insert(remove(text, keys, index), keys[:-1], keys[-1], value)


def _block(lines: list[str], number: int, end: int) -> tuple[int, int]:
    """The lines of one table with the blank line before it; comments and blanks after its last key are not its own."""
    while end > number + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    first = number - 1 if number and not lines[number - 1].strip() else number
    return first, end


def _heads(text: str) -> Iterator[tuple[int, Keys]]:
    """Yield the line number and the keys of every ``[table]``; what only looks like one in a text or list is none."""
    line, depth, fresh = 0, 0, True
    position = 0
    for found in _STRINGS.finditer(text):
        fresh = fresh and not text[position : found.start()].strip()
        position = found.end()
        token = found[0]
        if token == "\n":
            line, fresh = line + 1, True
            continue
        if token == "[" and fresh and not depth:
            yield line, _head(text[found.start() :].partition("\n")[0].rstrip("\r"))
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
        line += token.count("\n")
        fresh = False


def _head(line: str) -> Keys:
    """The keys of a table's first line, read as TOML reads them; none for a list of tables."""
    if line.startswith("[["):
        return ()
    try:
        value: Any = tomllib.loads(line)
    except ValueError:
        return ()
    keys = []
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        keys.append(key)
    return tuple(keys)


def _lines(keys: Keys, value: Mapping[str, Any]) -> Iterator[str]:
    name = ".".join(_key(key) for key in keys)
    plain = {key: item for key, item in value.items() if not isinstance(item, Mapping)}
    if plain or not value:
        yield f"[{name}]"
    for key, item in plain.items():
        yield f"{_key(key)} = {as_json(item)}"
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield from _lines((*keys, key), item)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else as_json(key)
