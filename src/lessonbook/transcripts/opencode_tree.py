"""opencode's tree of small JSON files: a session, its messages, and the parts of each message.

The layout changed twice: parts lie in a folder for each message, or all in one folder; before that everything lay
below ``session/`` of each project.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from lessonbook.core.seen import Seen
from lessonbook.transcripts.lines import LINE_MAX, Skip, read_objects
from lessonbook.transcripts.opencode_talk import OpencodeTalk
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import epoch, mapping, text

UNREADABLE = "file of a session that cannot be read"


def is_first_of_orphans(path: str) -> bool:
    """Whether this message stands for its whole session: no session file is there, and it is the first by name."""
    folder = Path(path).parent
    storage = folder.parent.parent
    try:
        if _has_session(storage, folder.name):
            return False
        return min(name for name in os.listdir(folder) if name.endswith(".json")) == Path(path).name  # noqa: PTH208
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=1_024)
def _has_session(storage: Path, session: str) -> bool:
    """Whether a session has a file; asked for each of its messages, and looked for once."""
    return any(storage.glob(f"session/*/*{glob.escape(session)}.json"))


def read_tree(path: str, seen: Seen, tally: Tally) -> Iterator[OpencodeTalk]:
    """Yield the session of this file, or of the folder of messages it is the first of."""
    file = Path(path)
    first = _load(file, tally)
    if first is None:
        return
    orphan = "sessionID" in first
    id = text(first.get("sessionID" if orphan else "id"))
    talk = OpencodeTalk(seen, path, id)
    if not orphan:
        tally.types["session"] += 1
        talk.info(first)
    storage, parts = _layout(file, id)
    for message_file in _messages(storage / _plain(id) if not orphan else file.parent, tally):
        message = _load(message_file, tally)
        if message is not None:
            tally.types[text(message.get("role")) or "none"] += 1
            talk.message(message, _parts(parts, text(message.get("id")), tally))
    yield talk


def _layout(file: Path, id: str) -> tuple[Path, Path]:
    """Return the folder that holds a folder of messages for each session, and the one of parts for each message."""
    storage = file.parent.parent
    if file.parent.name == "info":  # the oldest
        return storage / "message", storage / "part" / _plain(id)
    return storage.parent / "message", storage.parent / "part"


def _messages(folder: Path, tally: Tally) -> list[Path]:
    """Return the files of a session's messages in order of time."""
    found: list[tuple[float, str, Path]] = []
    for file in _files(folder):
        message = _load(file, Tally(tally.path, None))  # what is wrong with it is counted when it is read
        created = epoch(mapping((message or {}).get("time")).get("created"))
        found.append((created or 0.0, text((message or {}).get("id")), file))
    return [file for _, _, file in sorted(found)]


def _parts(folder: Path, message: str, tally: Tally) -> list[dict[str, Any]]:
    files = _files(folder / _plain(message)) or _flat(folder).get(message, [])
    parts = [part for file in files if (part := _load(file, tally)) is not None]
    tally.types.update(f"part/{text(part.get('type'))}" for part in parts)
    return parts


def _flat(folder: Path) -> dict[str, list[Path]]:
    try:
        return _indexed(folder, folder.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=2)
def _indexed(folder: Path, changed: int) -> dict[str, list[Path]]:
    """Return the parts that lie in the folder itself by their message; looked at once for all sessions."""
    found: dict[str, list[Path]] = {}
    for file in _files(folder):
        part = _load(file, Tally(str(file), None))
        if part is not None:
            found.setdefault(text(part.get("messageID")), []).append(file)
    return found


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())
    except (OSError, ValueError):
        return []


def _load(file: Path, tally: Tally) -> dict[str, Any] | None:
    """Return the object of one small file; what cannot be read is counted."""
    try:
        with file.open("rb") as opened:
            raw = opened.read(LINE_MAX + 1)
    except (OSError, ValueError):
        tally.skipped[UNREADABLE] += 1
        return None
    joined = b" ".join(raw.split(b"\n")) if len(raw) <= LINE_MAX else b""
    items = list(read_objects(io.BytesIO(joined)))
    tally.skipped.update(item.reason for item in items if isinstance(item, Skip))
    if not items:
        tally.skipped[UNREADABLE] += 1
    return next((item for item in items if isinstance(item, dict)), None)


def _plain(name: str) -> str:
    """Return a name that stays within its folder."""
    return (
        name if name and "/" not in name and "\\" not in name and "\0" not in name and name not in (".", "..") else "?"
    )
