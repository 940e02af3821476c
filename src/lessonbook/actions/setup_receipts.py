"""What set-up wrote into an agent's files: kept in the state folder with the files as they were, for taking it back.

One receipt per agent, ``setup/<agent>.json``, written before the first file is changed, and the bytes of each file as
it was in ``setup/<agent>.before/``. Only their owner can read them: an agent's files may hold keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from lessonbook.actions.setup_entries import Entry
from lessonbook.core.errors import StoreError
from lessonbook.core.value import Value
from lessonbook.system import files
from lessonbook.system.config_text import Keys

FOLDER = "setup"


class Written(Value):
    """One file of an agent that we changed."""

    path: Path
    written: str
    """The digest of what we wrote: as long as the file is that, it goes back to what it was byte for byte."""
    before: bytes | None
    """The file without anything of ours; ``None`` where there was none."""
    entries: tuple[Entry, ...]
    """The entries we wrote, as we wrote them."""
    made: tuple[Keys, ...] = ()
    """The tables and lists that were not there."""
    top: Path | None = None
    """The nearest folder above it that was there."""


def digest(data: bytes | None) -> str:
    """Return what tells one state of a file from another; of no file, too."""
    return "" if data is None else sha256(data).hexdigest()


def read(state: Path, agent: str) -> dict[Path, Written]:
    """Return what was written for ``agent``, by file; nothing where it was never set up.

    Raises ``StoreError`` where the receipt cannot be read: without it nothing can be taken back.
    """
    path = _file(state, agent)
    data = files.read_bytes(path)
    if data is None:
        return {}
    try:
        rows = json.loads(data)["files"]
        return {Path(row["path"]): _row(state, agent, row) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is damaged: what set-up wrote must be taken out by hand.") from error


def write(state: Path, agent: str, rows: Mapping[Path, Written]) -> None:
    """Keep what was, or is about to be, written; forget the agent where that is nothing. Raises ``StoreError``."""
    path = _file(state, agent)
    if not rows:
        for old in _kept(state, agent):
            files.remove(old, up_to=path.parent)
        files.remove(path, up_to=state)
        return
    for row in rows.values():
        if row.before is not None:
            files.write_atomic(_before(state, agent) / _name(row.path), row.before, new_mode=0o600)
    shown = [_shown(row) for row in rows.values()]
    files.write_atomic(path, json.dumps({"version": 1, "files": shown}, indent=1).encode(), new_mode=0o600)


def known(state: Path) -> list[str]:
    """Return the agents that are set up on this machine."""
    try:
        return sorted(path.stem for path in (state / FOLDER).glob("*.json"))
    except OSError:
        return []


def _shown(row: Written) -> dict[str, Any]:
    entries = [{**entry.as_dict(), "path": str(entry.path), "keys": list(entry.keys)} for entry in row.entries]
    return {
        "path": str(row.path),
        "written": row.written,
        "before": _name(row.path) if row.before is not None else None,
        "entries": entries,
        "made": [list(keys) for keys in row.made],
        "top": str(row.top) if row.top else None,
    }


def _row(state: Path, agent: str, row: Mapping[str, Any]) -> Written:
    before = None
    if row["before"] is not None:
        name = Path(row["before"]).name
        before = files.read_bytes(_before(state, agent) / name)
        if before is None:
            raise StoreError(f"{_before(state, agent) / name} is gone: what set-up wrote must be taken out by hand.")
    made = tuple(tuple(keys) for keys in row["made"])
    entries = tuple(_entry(entry) for entry in row["entries"])
    return Written(Path(row["path"]), row["written"], before, entries, made, Path(row["top"]) if row["top"] else None)


def _entry(row: Mapping[str, Any]) -> Entry:
    fixed = tuple((tuple(keys), value) for keys, value in row["fixed"])
    return Entry(**{**row, "path": Path(row["path"]), "keys": tuple(row["keys"]), "fixed": fixed})


def _name(path: Path) -> str:
    return f"{digest(str(path).encode('utf-8', 'surrogateescape'))[:16]}-{path.name[:80]}"


def _file(state: Path, agent: str) -> Path:
    return state / FOLDER / f"{agent}.json"


def _before(state: Path, agent: str) -> Path:
    return state / FOLDER / f"{agent}.before"


def _kept(state: Path, agent: str) -> list[Path]:
    try:
        return list(_before(state, agent).iterdir())
    except OSError:
        return []
