"""Changes one value of ``config.toml`` and nothing else: comments, order, line ends and byte order mark stay.

tomlkit does the edit; the result is parsed again by the standard library and compared with what it must hold, because
tomlkit is known to misplace keys beside dotted tables. Where they differ, nothing is written.
"""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.errors import SetupError
from lessonbook.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEADER = "# The settings of lessonbook on this machine.\n"
_MARK = b"\xef\xbb\xbf"


class ConfigError(SetupError, ValueError):
    """The configuration file is not TOML, or cannot be changed without harm; it stays as it was."""


def read_value(path: Path, key: str) -> Any:
    """Return the top-level value ``key``, or ``None``. Raises ``ConfigError`` for a file that is not valid TOML."""
    return _parsed(_text(files.read_bytes(path) or b"", path), path).get(key)


def set_value(path: Path, key: str, value: bool | int | str) -> None:
    """Set ``key``, or ``table.key``; a missing file or table is made. The rest of the file keeps its bytes.

    Raises ``ConfigError`` where the file is not valid TOML or holds a table or a list of that name, and ``StoreError``
    where it cannot be written. A file that already says so is not written.
    """
    raw = files.read_bytes(path) or b""
    text = _text(raw, path)
    before = _parsed(text, path)
    wanted = _with(before, key, value)
    if repr(wanted) == repr(before):  # not ==, to which 1 and true are the same
        return
    edited = _edited(text or _HEADER, key, value, path) if wanted is not None else ""
    if wanted is None or _parsed(edited, path) != wanted:
        shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
        raise ConfigError(f"{path} cannot be changed safely here; set {key} = {shown} in it by hand.")
    files.write_atomic(path, (_MARK if raw.startswith(_MARK) else b"") + edited.encode("utf-8"))


def _with(table: dict[str, Any], key: str, value: bool | int | str) -> dict[str, Any] | None:
    """Return what the file must hold afterwards; ``None`` where the key is, or lies in, something of another kind."""
    outer, _, inner = key.rpartition(".")
    if not outer:
        return None if isinstance(table.get(key), dict | list) else table | {key: value}
    held = table.get(outer, {})
    changed = _with(held, inner, value) if isinstance(held, dict) else None
    return None if changed is None else table | {outer: changed}


def _edited(text: str, key: str, value: bool | int | str, path: Path) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    crlf = "\r\n" in text and text.count("\r\n") == text.count("\n")
    try:
        document = tomlkit.parse(text)
        outer, _, inner = key.rpartition(".")
        if outer and outer not in document:
            document[outer] = tomlkit.table()
        held: Any = document[outer] if outer else document
        held[inner] = value
        edited = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error
    return edited.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else edited


def _text(raw: bytes, path: Path) -> str:
    try:
        return raw.removeprefix(_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: it is not UTF-8.") from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    if not text:  # no file, as on most machines: nothing to load a parser for
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.") from error
