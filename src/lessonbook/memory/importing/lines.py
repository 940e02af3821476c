"""Lines of a text file, numbered, one at a time, and never more of one than is sensible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.core.errors import StoreError, reason

LINE_MAX = 16 * 1024 * 1024
"""Characters of one line: a lesson of a megabyte, all of it escaped, is less than half of that."""
_CHUNK = 1024 * 1024


def numbered(path: Path, newline: str = "\n") -> Iterator[tuple[int, str | None]]:
    r"""Yield each line with its number from 1 and with its ending; ``None`` for one that is too long.

    Bytes that are not UTF-8 become lone surrogates, and a byte order mark is left out. ``newline`` as ``open`` has it:
    ``""`` ends lines at ``\n``, ``\r`` and ``\r\n``. Raises ``StoreError`` where the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline=newline) as file:
            line, number = file.readline(LINE_MAX + 1).removeprefix("\ufeff"), 1
            while line:
                whole = len(line) <= LINE_MAX
                yield number, line if whole else None
                while not whole and line and line[-1] not in "\r\n":
                    line = file.readline(_CHUNK)
                line, number = file.readline(LINE_MAX + 1), number + 1
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {reason(error)}.") from error
