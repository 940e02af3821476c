"""Remembers what earlier searches found in each skill file, so that a session's start reads only files that changed.

A file counts as unchanged while its device, inode, size, time of content and time of change are the same, under the
same folder name. One changed within the last seconds is not remembered: its next change might bear the same time. What
is kept is what a search shows anyway, cleaned and redacted; losing the file costs one slower start.
"""

from __future__ import annotations

import os
from json import dumps, loads
from pathlib import Path

from lessonbook.core.errors import LessonbookError
from lessonbook.core.version import __version__
from lessonbook.skills.found import Found, Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.skills.found import Origin

FILE = "skills.json"
_FORM = 1
_SETTLED_NS = 3_000_000_000
_MOST = 20_000


class Known:
    """What is remembered, by file; use ``save`` when the search is done."""

    def __init__(self, path: Path | None, now_ns: int) -> None:
        """Read what ``path`` holds; nothing where it is not there, is damaged, or is another version's."""
        self._path = path
        self._now = now_ns
        self._rows: dict[str, list[object]] = _read(path) if path else {}
        self._used: dict[str, list[object]] = {}
        self._fresh = False

    def key(self, found: os.stat_result, folder: str) -> str:
        """Return what names one state of one file."""
        told = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
        return f"{told}:{folder}"

    def get(self, key: str) -> bool:
        """Whether the file of that state was looked into before."""
        return key in self._rows

    def seen(self, key: str, path: Path, folder: str, origin: Origin, agents: tuple[str, ...]) -> Seen:
        """Return what was found in it."""
        row = self._used[key] = self._rows[key]
        name, description, claimed, usable, *problems = row
        found = Found(str(name), str(description), origin, agents, path, None)
        item = Seen(found, {folder.casefold()}, usable=bool(usable))
        if claimed:
            item.names.add(str(claimed))
        item.problems.extend(map(str, problems))
        return item

    def keep(self, key: str, item: Seen, folder: str) -> None:
        """Remember what was found in a file, unless it changed just now."""
        changed = max(int(part) for part in key.split(":")[3:5])
        if self._now - changed < _SETTLED_NS:
            return
        claimed = next(iter(item.names - {folder.casefold()}), "")
        row = [item.found.name, item.found.description, claimed, item.usable, *item.problems]
        self._rows[key] = self._used[key] = row
        self._fresh = True

    def save(self) -> None:
        """Write it where something is new; what was not met this time stays, up to a bound. Never raises."""
        if self._path is None or not self._fresh:
            return
        from lessonbook.system.files import write_atomic

        rows = self._used if len(self._rows) > _MOST else self._rows
        document = {"form": _FORM, "version": __version__, "files": rows}
        try:
            write_atomic(self._path, dumps(document, ensure_ascii=False).encode("utf-8", "replace"), new_mode=0o600)
        except LessonbookError:  # a state folder that cannot be written costs time, nothing else
            return


def _read(path: Path) -> dict[str, list[object]]:
    try:
        document = loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or (document.get("form"), document.get("version")) != (_FORM, __version__):
        return {}
    rows = document.get("files")
    sound = isinstance(rows, dict) and all(isinstance(row, list) and len(row) >= 4 for row in rows.values())
    return rows if isinstance(rows, dict) and sound else {}
