"""Locks between processes, in files of their own.

A lock is ``flock`` on a file that is never removed, so a dead holder frees it and two processes can never hold two
different files under one name.
"""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lessonbook.core.errors import BusyError, StoreError, reason


@contextmanager
def locked(path: Path, *, wait: float) -> Iterator[int]:
    """Hold the lock file ``path`` alone, waiting at most ``wait`` seconds; raises ``BusyError`` after that.

    The file is made where it is missing and never removed. The lock belongs to the open file, which is given: it ends
    with the process that holds it, however that ends, or with the last one that the file was handed on to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise StoreError(f"The lock file {path} cannot be opened: {reason(error)}.") from error
    try:
        _acquire(handle, path, wait)
        yield handle
    finally:
        os.close(handle)


@contextmanager
def claimed(path: Path, token: bytes, *, wait: float) -> Iterator[None]:
    """Make the file ``path`` exclusively, as other programs' lock files are made, and remove it at the end.

    It appears whole, holding ``token``, and stays locked by ``flock`` while we live, so that ``release_dead`` can tell
    a claim of ours whose process died from everybody else's. Raises ``BusyError`` after ``wait`` seconds.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {reason(error)}.") from error
    temporary = Path(name)
    try:
        os.write(handle, token)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _link(temporary, path, wait)
        try:
            temporary.unlink()
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(handle)


def release_dead(path: Path, token: bytes) -> bool:
    """Remove ``path`` where it is a claim of ours (``token``) whose process died; say whether it was removed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        if os.read(handle, len(token) + 1) != token:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _link(temporary: Path, path: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise BusyError(f"Another program holds {path}; try again when it has finished.") from None
            time.sleep(0.02)
        except OSError as error:
            raise StoreError(f"{path} cannot be made: {reason(error)}.") from error
        else:
            return


def _acquire(handle: int, path: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    pause = 0.001
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise StoreError(f"The lock file {path} cannot be locked: {reason(error)}.") from error
        else:
            return
        if time.monotonic() >= deadline:
            raise BusyError(f"Another process holds {path}; try again when it has finished.")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
