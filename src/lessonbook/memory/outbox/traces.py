"""What tells from outside, at no cost, that an outbox's file needs mending before it is opened."""

from __future__ import annotations

from pathlib import Path

_READY = "{}.salvaged"


def ready(path: Path) -> Path:
    """Return the name of the new file, once all that could be read of a damaged one is in it."""
    return path.with_name(_READY.format(path.name))


def is_unfinished(path: Path) -> bool:
    """Whether somebody was killed between making a new file and giving it the old one's name."""
    return ready(path).exists()


def is_emptied(path: Path) -> bool:
    """Whether only the journal is left: SQLite takes an empty file for a new one, and would remove it."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and bool(log.stat().st_size) and path.exists() and not path.stat().st_size
