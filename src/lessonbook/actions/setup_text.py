"""Puts entries of ours into the bytes of a file and takes them out again; says what stands in the way of one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lessonbook.actions.setup_entries import Entry, marked
from lessonbook.core.value import Value
from lessonbook.system import config_text, config_text_block
from lessonbook.system.config_text import ConfigTextError, Keys, lookup, missing

OWN = "lessonbook hook"
"""What a hook holds that a person wrote after our own pages."""


class Found(Value):
    """How one entry stands in a file: ``right``, ``changed`` (ours, but another), ``absent``, or ``theirs``."""

    state: str
    at: int | None = None
    """The number of the item, for one item of a list."""
    note: str = ""


def find(entry: Entry, data: bytes | None, known: Any = None) -> Found:
    """Return how ``entry`` stands in ``data``; ``known`` is the value we wrote earlier, by which ours is known again.

    Raises ``ConfigTextError`` where the file cannot be read as what it should be.
    """
    if entry.form == "text":
        return _find_text(entry, data, known)
    if data is None:
        return Found("absent")
    if entry.form == "block":
        held = config_text_block.block(data, entry.mark)
        return Found("absent" if held is None else "right" if held == entry.value else "changed")
    held = lookup(config_text.parsed(entry.form, data), entry.keys)
    if entry.item:
        return _find_item(entry, held if isinstance(held, list) else [], known)
    if held is None:
        return Found("absent")
    if held == entry.value:
        return Found("right")
    if held == known or _is_our_server(held):
        return Found("changed")
    if known is not None:
        return Found("edited")
    return Found("theirs", note=f"has an entry {entry.address} already; it is left as it is")


def _is_our_server(held: Any) -> bool:
    """Whether an entry starts our server as set-up has it started: by its whole path, whichever that is."""
    command = held.get("command") if isinstance(held, dict) else None
    words = [*command] if isinstance(command, list) else [command, *(held.get("args") or [])] if command else []
    texts = [word for word in words if isinstance(word, str)]
    ours = any(word.rpartition("/")[2] == "lessonbook" for word in texts)
    return ours and texts[0].startswith("/") and texts[-1] == "mcp"


def _find_text(entry: Entry, data: bytes | None, known: Any) -> Found:
    if data is None:
        return Found("absent")
    text = data.decode("utf-8", "replace")
    if text == entry.value:
        return Found("right")
    if entry.mark not in text:
        return Found("theirs", note="is there already and not ours; it is left as it is")
    return Found("changed" if known is None or text == known else "edited")


def _find_item(entry: Entry, held: list[Any], known: Any) -> Found:
    ours = [at for at, item in enumerate(held) if marked(item, entry.mark)]
    if ours:
        item = held[ours[0]]
        if item == entry.value and len(ours) == 1:
            return Found("right", ours[0])
        if item != known and _commands(item) == _commands(entry.value):
            return Found("edited", ours[0])
        return Found("changed" if all(entry.mark in text for text in _commands(item)) else "edited", ours[0])
    if any(OWN in text and not _is_sibling(text, entry) for item in held for text in _commands(item)):
        return Found("theirs", note=f"runs a hook of lessonbook at {entry.address} already; it is left as it is")
    return Found("absent")


def _is_sibling(command: str, entry: Entry) -> bool:
    """Whether a command answers another event for the same agent: some have one list for two of ours."""
    agent = entry.mark.rpartition(" --agent ")[2]
    return re.search(rf"hook [a-z-]+ --agent {re.escape(agent)}(?!\S)", command) is not None


def _commands(value: Any) -> list[str]:
    """Every command line in a hook's entry."""
    if isinstance(value, dict):
        own = [value[key] for key in ("command", "bash") if isinstance(value.get(key), str)]
        return own + [text for inner in value.values() for text in _commands(inner)]
    return [text for inner in value for text in _commands(inner)] if isinstance(value, list) else []


def put(entry: Entry, data: bytes | None, known: Any = None) -> bytes | None:
    """Return ``data`` with ``entry`` as it shall be; the same bytes where it is right, theirs, or edited by hand."""
    found = find(entry, data, known)
    if found.state in ("right", "theirs", "edited"):
        return data
    if found.state == "changed" and entry.form in config_text.EDITORS:
        return config_text.replaced(entry.form, data or b"", entry.keys, entry.value, found.at)
    if entry.form == "text":
        return str(entry.value).encode()
    if entry.form == "block":
        return config_text_block.with_block(data or b"", entry.mark, entry.value)
    for keys, value in entry.fixed:
        if data is None or missing(config_text.parsed(entry.form, data), keys):
            data = config_text.with_entry(entry.form, data or b"", keys, value)
    add = config_text.with_item if entry.item else config_text.with_entry
    return add(entry.form, data or b"", entry.keys, entry.value)


def take(entry: Entry, data: bytes | None, known: Any = None) -> bytes | None:
    """Return ``data`` without ``entry``; ``None`` where the whole file is ours. What a person changed is left."""
    found = find(entry, data, known)
    if data is None or found.state in ("absent", "theirs") or (found.state == "edited" and _keep(entry, data, found)):
        return data
    if entry.form == "text":
        return None
    if entry.form == "block":
        return config_text_block.without_block(data, entry.mark)
    return _without(entry, data, found.at)


def _keep(entry: Entry, data: bytes, found: Found) -> bool:
    """Whether what a person made of our entry holds something of theirs, which must not go with it."""
    if entry.form == "text":
        return True
    held = lookup(config_text.parsed(entry.form, data), entry.keys)
    return entry.item and any(entry.mark not in text for text in _commands(held[found.at or 0]))


def _without(entry: Entry, data: bytes, at: int | None) -> bytes:
    return config_text.without(entry.form, data, entry.keys, at)


def prune(form: str, data: bytes, made: Iterable[Keys]) -> bytes:
    """Return ``data`` without the tables and lists of ``made`` that nothing is left in, innermost first."""
    for keys in sorted(made, key=len, reverse=True):
        top = config_text.parsed(form, data)
        if not missing(top, keys) and lookup(top, keys) in ({}, [], None):
            data = config_text.without(form, data, keys)
    return data


def made_by(entry: Entry, data: bytes | None) -> list[Keys]:
    """Return the tables and lists that adding ``entry`` to ``data`` makes."""
    if entry.form not in config_text.EDITORS:
        return []
    gone = missing(config_text.parsed(entry.form, data or b""), entry.keys)
    return gone if entry.item else gone[:-1]


__all__ = ["ConfigTextError", "Found", "find", "made_by", "prune", "put", "take"]
