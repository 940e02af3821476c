"""Damaged files that were set aside under a dated name, with what SQLite kept beside them; nothing is deleted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lessonbook.system import files

BESIDE = ("-wal", "-shm", "-journal")


def name_for(path: Path, now: float) -> Path:
    """Return the name that ``path`` is set aside under; ``now`` is in epoch seconds."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    name, count = f"{path.name}.damaged-{stamp}", 1
    while path.with_name(name).exists():
        count += 1
        name = f"{path.name}.damaged-{stamp}-{count}"
    return path.with_name(name)


def move_beside(path: Path, target: Path, *more: str) -> None:
    """Move what SQLite keeps beside ``path``, and what has ``more`` after its name: alone, it would pass for whole."""
    for end in (*more, *BESIDE):
        if path.with_name(path.name + end).exists():
            files.move(path.with_name(path.name + end), target.with_name(target.name + end))


def set_aside(path: Path, now: float, *more: str) -> Path:
    """Move a file and what is beside it under a dated name, and return that."""
    target = name_for(path, now)
    move_beside(path, target, *more)
    if path.exists():
        files.move(path, target)
    files.sync_folder(path.parent)
    return target


def found(path: Path) -> list[Path]:
    """Return the files that were set aside of ``path``, the oldest first."""
    named = path.parent.glob(f"{path.name}.damaged-*")
    return sorted(one for one in named if not one.name.endswith((*BESIDE, "-recalled")))
