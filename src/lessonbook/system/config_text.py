"""Changes one entry in another program's configuration file and nothing else: every other byte stays as it was.

JSON (comments and trailing commas too), TOML and YAML. The text is edited in place, never written anew; the result is
parsed again and must hold exactly what was asked for, or the file is refused. A byte order mark and the file's own
line ends and indentation stay. An entry is named by its keys from the top; an item of a list by its number as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, TypeVar

from lessonbook.core.errors import SetupError

_MARK = b"\xef\xbb\xbf"
Keys = tuple[str, ...]
T = TypeVar("T")


class ConfigTextError(SetupError):
    """The file is not of its format, or cannot be changed without harm; the message ends a sentence about it."""


class Editor(Protocol):
    """What the module of one format offers; every function raises ``ConfigTextError`` where it cannot."""

    def parse(self, text: str) -> Any:
        """Return the value the text holds; an empty table for a text of nothing but blanks."""
        ...

    def insert(self, text: str, keys: Keys, name: str, value: Any) -> str:
        """Return the text with ``name`` added at the end of the table ``keys``."""
        ...

    def append(self, text: str, keys: Keys, value: Any) -> str:
        """Return the text with ``value`` added at the end of the list ``keys``."""
        ...

    def remove(self, text: str, keys: Keys, index: int | None) -> str:
        """Return the text without the entry ``keys``, or without one item of that list."""
        ...

    def replace(self, text: str, keys: Keys, index: int | None, value: Any) -> str:
        """Return the text with ``value`` in the place of the entry ``keys``, or of one item of that list."""
        ...


EDITORS = {name: f"lessonbook.system.config_text_{name}" for name in ("json", "toml", "yaml")}
"""The formats and the modules that edit them; a new one is a module and a name here."""


def parsed(form: str, data: bytes) -> Any:
    """Return the value ``data`` holds. Raises ``ConfigTextError`` where it is not of the format ``form``."""
    return _guarded(form, lambda: _editor(form).parse(_text(data)))


def lookup(value: Any, keys: Sequence[str]) -> Any:
    """Return what stands at ``keys``; ``None`` where nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def missing(value: Any, keys: Keys) -> list[Keys]:
    """Return what is not there on the way to ``keys``, themselves included, outermost first."""
    for depth, key in enumerate(keys):
        if not isinstance(value, dict) or key not in value:
            return [keys[:end] for end in range(depth + 1, len(keys) + 1)]
        value = value[key]
    return []


def with_entry(form: str, data: bytes, keys: Keys, value: Any) -> bytes:
    """Return ``data`` with the new entry ``keys`` = ``value``; tables on the way are made where they are missing."""
    before = parsed(form, data)
    made = missing(before, keys)
    if not made or made[-1] != keys:
        raise ConfigTextError("holds that entry already")
    outer = made[0][:-1]
    if form != "yaml" or lookup(before, outer) is not None:  # in YAML nothing at all is an empty table
        _must_be(dict, before, outer)
    for key in reversed(keys[len(made[0]) :]):
        value = {key: value}
    name, inner = made[0][-1], value
    return _changed(
        form,
        data,
        lambda edit, text: edit.insert(text, outer, name, inner),
        lambda top: _filled(top, outer).update({name: inner}),
    )


def with_item(form: str, data: bytes, keys: Keys, value: Any) -> bytes:
    """Return ``data`` with ``value`` at the end of the list ``keys``, which is made where it is missing."""
    before = parsed(form, data)
    if lookup(before, keys) is None:
        return with_entry(form, data, keys, [value])
    _must_be(list, before, keys)
    return _changed(
        form, data, lambda edit, text: edit.append(text, keys, value), lambda top: _at(top, keys).append(value)
    )


def without(form: str, data: bytes, keys: Keys, index: int | None = None) -> bytes:
    """Return ``data`` without the entry ``keys``, or without the item ``index`` of that list."""

    def take(top: Any) -> None:
        if index is None:
            del _at(top, keys[:-1])[keys[-1]]
        else:
            del _at(top, keys)[index]

    return _changed(form, data, lambda edit, text: edit.remove(text, keys, index), take)


def replaced(form: str, data: bytes, keys: Keys, value: Any, index: int | None = None) -> bytes:
    """Return ``data`` with ``value`` in the place of the entry ``keys``, or of the item ``index`` of that list."""

    def put(top: Any) -> None:
        if index is None:
            _at(top, keys[:-1])[keys[-1]] = value
        else:
            _at(top, keys)[index] = value

    return _changed(form, data, lambda edit, text: edit.replace(text, keys, index, value), put)


def _changed(form: str, data: bytes, edit: Callable[[Editor, str], str], same: Callable[[Any], None]) -> bytes:
    """Edit the text, do the same to the value, and compare: what differs is not written by anybody."""
    editor = _editor(form)
    wanted = parsed(form, data)
    same(wanted)
    text = _guarded(form, lambda: edit(editor, _text(data)))
    result = (_MARK if data.startswith(_MARK) else b"") + text.encode("utf-8")
    try:
        found = parsed(form, result)
    except ConfigTextError:
        found = None
    if form == "toml":  # where a table was only named by the one inside it, it goes with that one
        found, wanted = _without_empty(found), _without_empty(wanted)
    if not _same(found, wanted, form):
        raise ConfigTextError("is laid out so that it cannot be changed safely")
    return result


def _same(one: Any, other: Any, form: str) -> bool:
    """Whether both are the same in type, order and value: for ``==`` alone 1, 1.0 and true are."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_same(one[key], other[key], form) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(*pair, form) for pair in zip(one, other, strict=True))
    if form == "yaml" and {one is None, other is None} == {True, False}:
        return not (one or other) and isinstance(one if other is None else other, dict | list)
    return type(one) is type(other) and (one == other or repr(one) == repr(other))


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(held) for key, held in value.items()}
    return {key: held for key, held in inner.items() if held != {}}


def _filled(top: Any, keys: Keys) -> Any:
    """The table at ``keys``, made of nothing where that is what stands there."""
    if keys and _at(top, keys) is None:
        _at(top, keys[:-1])[keys[-1]] = {}
    return _at(top, keys)


def _at(top: Any, keys: Keys) -> Any:
    for key in keys:
        top = top[key]
    return top


def _must_be(kind: type, top: Any, keys: Keys) -> None:
    found = lookup(top, keys)
    if not isinstance(found, kind):
        where = ".".join(keys) or "its top"
        raise ConfigTextError(f"holds no {'list' if kind is list else 'table'} at {where}")


def _editor(form: str) -> Editor:
    module: Any = import_module(EDITORS[form])
    return module  # type: ignore[no-any-return]  # the functions of the module are the protocol's


def _guarded(form: str, work: Callable[[], T]) -> T:
    try:
        return work()
    except RecursionError as error:
        raise ConfigTextError(f"is nested too deep to be read as {form.upper()}") from error


def _text(data: bytes) -> str:
    try:
        return data.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigTextError("is not UTF-8 text") from error


def line_end(text: str) -> str:
    """Return the line end the text uses: CRLF where its first line ends so."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def as_json(value: Any) -> str:
    """Return ``value`` on one line of JSON, which is YAML's flow style and, for text and lists of text, TOML too."""
    return json.dumps(value, ensure_ascii=False)
