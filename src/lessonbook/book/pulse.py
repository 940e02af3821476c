"""Tells cheaply whether a book may have changed: from its files' times alone, without starting a program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from lessonbook.core.value import Value

_SETTLED = 100_000_000
"""Nanoseconds after which a second change has a time of its own on every file system that counts finer than seconds."""


class Pulse(Value):
    """One moment of a book: ``mark`` is another one after every change, ``newest`` when the last one was (epoch ns)."""

    mark: str
    newest: int

    def is_settled(self, now: int) -> bool:
        """Whether what was read at ``now`` (epoch ns) or later is what this mark stands for, and nothing after it."""
        return now - self.newest > _SETTLED


def pulse(folder: Path) -> Pulse:
    """Return the moment the book is at. Never raises: what is not there, or may not be looked at, is a moment too.

    Every change of a ref replaces a file, which changes its folder's time. Two changes within a tick of the file
    system's clock look like one; ``is_settled`` says when that can no longer be.
    """
    digest, newest = sha256(), 0
    for path in _watched(folder / ".git"):
        try:
            found = path.stat()
        except OSError:
            digest.update(f"{path}\0-\0".encode("utf-8", "surrogateescape"))
            continue
        newest = max(newest, found.st_mtime_ns)
        told = f"{path}\0{found.st_ino}\0{found.st_size}\0{found.st_mtime_ns}\0"
        digest.update(told.encode("utf-8", "surrogateescape"))
    return Pulse(digest.hexdigest()[:16], newest)


def _watched(git_dir: Path) -> Iterator[Path]:
    yield from (git_dir, git_dir / "HEAD", git_dir / "packed-refs", git_dir / "reftable" / "tables.list")
    for folder, folders, _ in os.walk(git_dir / "refs"):
        folders.sort()
        yield Path(folder)
