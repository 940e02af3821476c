"""When each skill or paragraph of a book was last used on this machine, as far as hosts report it.

Being read on demand is use: a skill that an agent opened. Being briefed is not: every session starts with all of
``AGENTS.md`` and the whole skill catalogue, so that nothing would ever expire. A paragraph's clock therefore runs from
when it was accepted, unless a host that can tell reports that it was followed.
"""

from __future__ import annotations

from json import dumps, loads
from pathlib import Path

from lessonbook.core.errors import LessonbookError
from lessonbook.system import files, locks

_HOUR = 3600
_KEYS = 2000
_BYTES = 256 << 10


def record(state: Path, folder: Path, key: str, now: int) -> bool:
    """Note that what ``key`` names (``expiry.skill_key``, ``paragraph_key``) was used; say whether it was written down.

    ``state`` is this machine's state folder, ``folder`` the book's. Uses within an hour of each other are one. Never
    raises and waits a second at most: whoever uses a skill must not fail by it.
    """
    path = _log(state, folder)
    try:
        with locks.locked(path.with_suffix(".lock"), wait=1.0):
            data = files.read_bytes(path) or b""
            found = _last(data)
            if now - found.get(key, 0) < _HOUR:
                return True
            if len(data) < _BYTES and data.endswith(b"\n" if data else b""):
                files.append_line(path, _line(key, now))
            else:
                newest = sorted((found | {key: now}).items(), key=lambda item: item[1])[-_KEYS:]
                files.write_atomic(path, b"".join(_line(*item) + b"\n" for item in newest), new_mode=0o600)
    except (LessonbookError, OSError):
        return False
    return True


def used(state: Path, folder: Path) -> dict[str, int]:
    """Return when each key was last used, in epoch seconds; damaged lines count for nothing.

    Raises ``StoreError`` where the log is there and cannot be read: what was used must not expire for that.
    """
    return _last(files.read_bytes(_log(state, folder)) or b"")


def _log(state: Path, folder: Path) -> Path:
    from hashlib import sha256

    digest = sha256(str(folder.absolute().resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state / "used" / f"{digest}.jsonl"


def _line(key: str, at: int) -> bytes:
    return dumps([key, at], separators=(",", ":")).encode()


def _last(data: bytes) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in data.splitlines():
        try:
            key, at = loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        if isinstance(key, str) and isinstance(at, int):
            found[key] = max(at, found.get(key, 0))
    return found
