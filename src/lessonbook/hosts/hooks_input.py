"""What a hook is given on standard input: anything at all, or nothing, and perhaps it never ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from json import loads
from pathlib import Path
from threading import Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INPUT_SECONDS = 1.0
_INPUT_MAX = 4 << 20


def standard_input() -> bytes:
    """Return what is on standard input; nothing where it is closed, a terminal, or does not end in time."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    read: list[bytes] = []
    reader = Thread(target=_read_all, args=(read,), daemon=True)
    reader.start()
    reader.join(INPUT_SECONDS)
    return b"".join(read)


def _read_all(into: list[bytes]) -> None:
    try:
        while sum(map(len, into)) < _INPUT_MAX and (part := os.read(0, 1 << 16)):
            into.append(part)
    except OSError:  # closed, or a folder: the same as nothing
        return


def table(given: bytes) -> Mapping[str, Any]:
    """Return the JSON object a host wrote; an empty one for anything else."""
    try:
        found = loads(given.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def folder(cwd: object) -> Path:
    """Return the folder a session works in: the one the agent names, else this process's own."""
    try:
        here = Path.cwd()
    except OSError:  # removed under our feet
        here = Path("/")
    return here / cwd if isinstance(cwd, str) and "\0" not in cwd else here
