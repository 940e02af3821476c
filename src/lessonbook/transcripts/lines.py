"""JSON Lines as agents really leave them: read past torn, glued, NUL-filled and alien lines, and count each.

Records end with a line feed and nothing else (U+2028 and U+0085 occur inside strings). The file is only read. What is
held at any time is one line of at most ``LINE_MAX`` bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from lessonbook.core.errors import StoreError, reason
from lessonbook.transcripts.zst import Decompressed, buffered

LINE_MAX = 16 * 1024 * 1024
HEAD_BYTES = 64 * 1024
"""How much of a file is looked at to tell what it is."""
_CHUNK = 1024 * 1024
_BUFFER = 1024 * 1024
"""Read from the disk at a time: lines of a hundred kilobytes are common."""
_TRIES = 200
_TRIES_LONG = 8
_RECORD_KEYS = frozenset(("timestamp", "uuid", "sessionId", "message", "payload", "leafUuid", "call_id", "activity"))
_ZST = b"\x28\xb5\x2f\xfd"
_NULS = re.compile(rb"\x00+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_START = re.compile(r'\{\s*"')

TOO_LONG = f"line over {LINE_MAX // (1024 * 1024)} MiB"
NOT_JSON = "line that is not JSON"
NOT_OBJECT = "line that is not an object"
TORN = "torn line"
UNFINISHED = "unfinished last line"
NULS = "run of NUL bytes"
TOO_DEEP = "line nested too deeply"
NOT_UTF8 = "line with bytes that are not UTF-8 (replaced)"
BROKEN_STREAM = "rest of a compressed file that is damaged"


class Skip(NamedTuple):
    """Something of a file that was not read, and why."""

    reason: str


def is_compressed(path: str, head: bytes) -> bool:
    """Whether the file is a zstd stream, by its name and its first bytes: damage alone can look like either."""
    return path.endswith(".zst") and head.startswith(_ZST)


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a transcript for reading, through ``zstandard`` where it is compressed.

    Raises ``StoreError`` where it cannot be opened, and ``SetupError`` where it is compressed and the extra
    ``lessonbook[zst]`` is not installed.
    """
    try:
        with Path(path).open("rb", buffering=_BUFFER) as file:
            compressed = is_compressed(path, file.read(4))
            file.seek(0)
            yield buffered(Decompressed(file)) if compressed else file
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {reason(error)}.") from error


def read_objects(file: BinaryIO | Marked) -> Iterator[dict[str, Any] | Skip]:
    """Yield every object of the file in order, and a ``Skip`` for everything that could not be read.

    A last line without a line feed that is not whole yet is an ``unfinished last line``: a session still running.
    """
    decode = msgspec.json.Decoder().decode
    readline = file.readline
    line = readline(LINE_MAX + 1)
    if not getattr(file, "start", 0):
        line = line.removeprefix(b"\xef\xbb\xbf")
    while line:
        if len(line) > LINE_MAX and not line.endswith(b"\n"):
            yield Skip(TOO_LONG)
            while line and not line.endswith(b"\n"):
                line = readline(_CHUNK)
        else:
            try:
                value = decode(line)
            except (ValueError, RecursionError):
                yield from _salvage(line)
            else:
                yield value if type(value) is dict else Skip(NOT_OBJECT)
            if not line.endswith(b"\n"):  # a file that grows meanwhile is read to here and no further
                break
        line = readline(LINE_MAX + 1)
    if getattr(getattr(file, "raw", None), "broken", False):
        yield Skip(BROKEN_STREAM)


class Marked:
    """A file read by lines that knows where the line that was read last began, and where the whole ones end."""

    def __init__(self, file: BinaryIO, at: int = 0, end: int | None = None) -> None:
        """Go on at byte ``at``, the beginning of a line, up to byte ``end``, that of another."""
        self._end = end
        if at:
            file.seek(at)
        self.raw = getattr(file, "raw", None)
        self.start = at
        self.whole = at
        self._next = at
        self._readline = file.readline

    def readline(self, limit: int) -> bytes:
        """Return the next line, or as much of it."""
        if self._end is not None and self._next >= self._end:
            return b""
        line = self._readline(limit)
        self.start = self._next
        self._next += len(line)
        if line.endswith(b"\n"):
            self.whole = self._next
        return line


@lru_cache(maxsize=4)
def head_objects(head: bytes) -> list[dict[str, Any]]:
    """Return the objects on the lines of a file's first bytes, at most 50; a line that is cut counts as none.

    Damaged lines are only looked into where no line is whole.
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(head) >= HEAD_BYTES:
        lines.pop()
    found = [value for value in map(_quick, lines[:50]) if value is not None]
    if found:
        return found
    return [item for line in lines[:3] for item in islice(_salvage(line), 50) if isinstance(item, dict)]


def _quick(line: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _salvage(line: bytes) -> Iterator[dict[str, Any] | Skip]:
    """Read what the fast decoder refused: damage of every kind, numbers out of range, lone surrogates."""
    ended = line.endswith(b"\n")
    if b"\x00" in line:
        yield Skip(NULS)
        line = _NULS.sub(b" ", line)
    line = line.strip()
    if not line:
        return
    try:
        content = line.decode("utf-8")
    except UnicodeDecodeError:
        content = line.decode("utf-8", "replace")
        yield Skip(NOT_UTF8)
    try:
        yield from _objects(content, ended)
    except RecursionError:
        yield Skip(TOO_DEEP)


def _objects(content: str, ended: bool) -> Iterator[dict[str, Any] | Skip]:
    """Yield the objects on one damaged line, glued ones and whole ones behind a torn start included."""
    position, found = 0, False
    while position < len(content):
        value, end = _decode(content, position)
        if end < 0:
            wrong = -end - 1
            only_cut = not ended and wrong >= len(content)
            value, end = (None, -1) if only_cut else _behind_torn(content, position, wrong)
            if end < 0:
                yield Skip(UNFINISHED if not ended else TORN if found else NOT_JSON)
                return
            yield Skip(TORN)
        found = True
        yield clean(value) if isinstance(value, dict) else Skip(NOT_OBJECT)
        position = _next(content, end)


def _decode(content: str, position: int) -> tuple[Any, int]:
    """Return the value at ``position`` and where it ends; a negative end is minus one minus where it went wrong."""
    try:
        return LENIENT.raw_decode(content, position)
    except json.JSONDecodeError as error:
        return None, -error.pos - 1


def _behind_torn(content: str, start: int, wrong: int) -> tuple[Any, int]:
    """Return the first whole object behind a torn start on the same line.

    Only so many places are tried, then where parsing went ``wrong``: that is where the torn part ends.
    """
    nearby = [content.rfind("{", start + 1, wrong + 1), content.find("{", max(wrong, start + 1))]
    later = (match.start() for match in _START.finditer(content, start + 1))
    tries = _TRIES if len(content) < _CHUNK else _TRIES_LONG
    for candidate in (*islice(later, tries), *nearby):
        if candidate <= start:
            continue
        value, end = _decode(content, candidate)
        if end > 0 and _is_record(value) and _ends_record(content, end):
            return value, end
    return None, -1


def _is_record(value: Any) -> bool:
    """Whether the object is a record of its own, not a part of the torn one before it."""
    if not isinstance(value, dict):
        return False
    bare = "role" in value and "type" in value and "model" not in value
    return bare or "record_type" in value or not _RECORD_KEYS.isdisjoint(value)


def _ends_record(content: str, end: int) -> bool:
    """Whether a record may end here: at the line's end or right before another one; not inside an outer object."""
    following = _next(content, end)
    return following == len(content) or content[following] == "{"


def _next(content: str, position: int) -> int:
    while position < len(content) and content[position].isspace():
        position += 1
    return position


def _number(digits: str) -> int | str:
    """Read a whole number; one past the interpreter's limit of 4,300 digits stays text."""
    return int(digits) if len(digits) < 4_300 else digits


LENIENT = json.JSONDecoder(strict=False, parse_int=_number)
"""Reads what the fast decoder refuses: control characters in strings, numbers of any length."""


def clean(value: Any) -> Any:
    """Return the value with lone surrogates replaced by U+FFFD, so that it can be encoded anywhere."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value
