"""Copies files that belong together, so that a program that would write beside them can be given the copy."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lessonbook.core.errors import StoreError, reason

_TRIES = 4
_QUIET = 0.05
"""Seconds nothing may have been written: on some file systems two writes so close together leave one time."""

Mark = tuple[int, int, int]


def mark(path: Path) -> Mark | None:
    """Return what tells whether a file was written or replaced meanwhile; ``None`` where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def copied(files: Sequence[Path]) -> Iterator[Path | None]:
    """Give the folder with a copy of each file that exists, taken while none of them changed; gone afterwards.

    Gives ``None`` where somebody kept writing. The folder is readable by its owner alone, and holds what the files
    hold, secrets included, while it is there. Raises ``StoreError`` where they cannot be copied.
    """
    with tempfile.TemporaryDirectory(prefix="lessonbook-") as place:
        yield Path(place) if any(_copy(files, Path(place)) for _ in range(_TRIES)) else None


def _copy(files: Sequence[Path], place: Path) -> bool:
    before = [mark(path) for path in files]
    newest = max((found[2] for found in before if found), default=0) / 1e9
    time.sleep(min(_QUIET, max(0.0, newest + _QUIET - time.time())))
    try:
        for path, found in zip(files, before, strict=True):
            (place / path.name).unlink(missing_ok=True)  # from a try before
            if found:
                shutil.copyfile(path, place / path.name)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"{files[0]} cannot be copied to be read: {reason(error)}.") from error
    return before == [mark(path) for path in files]
