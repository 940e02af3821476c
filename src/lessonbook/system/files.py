"""The one room that writes files: whole or not at all, durably, and never past what a person set up.

A file that is a symbolic link stays one and its target gets the new text; the mode is kept; the temporary file lies
beside the target and is gone whatever happens. A lock is ``flock`` on a file of its own that is never removed, so a
dead holder frees it and two processes can never hold two different files under one name.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system.faults import point


def read_bytes(path: Path) -> bytes | None:
    """Return the file's bytes, or ``None`` where there is none. Raises ``StoreError`` when it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {_why(error)}.") from error


def write_atomic(
    path: Path,
    data: bytes,
    *,
    new_mode: int = 0o644,
    follow: bool = True,
    unless: Callable[[], bool] | None = None,
) -> bool:
    """Replace the file by ``data``, so that a reader or a crash sees the old text or the new one, never a part.

    ``new_mode`` counts only for a file that is new. With ``follow`` a symbolic link keeps being one and its target is
    replaced; without it a link is refused. Parent folders are made. ``unless`` is asked last, right before the file is
    replaced: when it says yes (a person saved the file meanwhile), the file stays and the answer is ``False``. Raises
    ``StoreError`` and leaves the file as it was when it is read-only, a dangling link, not a regular file, has a second
    hard link, or cannot be written.
    """
    target = _target(path, follow=follow)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {_why(error)}.") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fchmod(out.fileno(), _mode(target, new_mode))
            os.fsync(out.fileno())
        point("files.before-rename")
        if unless is not None and unless():
            return False
        temporary.replace(target)
        point("files.after-rename")
        sync_folder(target.parent)
        return True
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {_why(error)}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def append_line(path: Path, data: bytes) -> None:
    """Add one line to a log that only its owner can read; lines of several processes never mix. Raises ``StoreError``.

    The file and its folders are made where they are missing. A symbolic link is refused.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, flags, 0o600)
        try:
            os.write(handle, data.rstrip(b"\n") + b"\n")
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {_why(error)}.") from error


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed writers and claimers of ``path`` left beside it.

    Call it only while nobody else can write that file: its lock is held.
    """
    for pattern in (f".{glob.escape(path.name[:64])}.????????.tmp", f"{glob.escape(path.name)}.????????.tmp"):
        for leftover in path.parent.glob(pattern):
            leftover.unlink(missing_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file only its owner can read, and its folders, where it is missing. Raises ``StoreError``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {_why(error)}.") from error


def sync_folder(folder: Path) -> None:
    """Make renames inside ``folder`` durable; does nothing where the file system cannot."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:  # some network file systems refuse to sync a folder; the rename itself has happened
        pass
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path, *, wait: float) -> Iterator[None]:
    """Hold the lock file ``path`` alone, waiting at most ``wait`` seconds; raises ``BusyError`` after that.

    The file is made where it is missing and never removed. The lock belongs to the open file: it ends with the
    process that holds it, however that ends.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise StoreError(f"The lock file {path} cannot be opened: {_why(error)}.") from error
    try:
        _acquire(handle, path, wait)
        yield
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
        raise StoreError(f"{path} cannot be made: {_why(error)}.") from error
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
            raise StoreError(f"{path} cannot be made: {_why(error)}.") from error
        else:
            return


def move(source: Path, target: Path) -> None:
    """Put ``source`` in the place of ``target`` in one step, durably. Raises ``StoreError``."""
    try:
        source.replace(target)
    except OSError as error:
        raise StoreError(f"{target} cannot be replaced: {_why(error)}.") from error
    sync_folder(target.parent)


def remove(path: Path, *, up_to: Path | None = None) -> None:
    """Remove a file (a link itself, never its target) and then its parent folders that became empty, below ``up_to``.

    A file that is not there is fine. Raises ``StoreError`` when it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed: {_why(error)}.") from error
    parent = path.parent
    while up_to is not None and parent != up_to and up_to in parent.parents:
        try:
            parent.rmdir()
        except OSError:  # it holds something else
            return
        parent = parent.parent


def _acquire(handle: int, path: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    pause = 0.001
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise StoreError(f"The lock file {path} cannot be locked: {_why(error)}.") from error
        else:
            return
        if time.monotonic() >= deadline:
            raise BusyError(f"Another process holds {path}; try again when it has finished.")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _target(path: Path, *, follow: bool) -> Path:
    if path.is_symlink():
        if not follow:
            raise StoreError(f"{path} is a symbolic link; it is not written through.")
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise StoreError(f"{path} is a symbolic link that leads nowhere; nothing was written.") from error
    else:
        target = path
    try:
        found = target.lstat()
    except FileNotFoundError:
        return target
    except OSError as error:
        raise StoreError(f"{target} cannot be read: {_why(error)}.") from error
    check_replaceable(found, target)
    return target


def check_replaceable(found: os.stat_result, target: Path) -> None:
    """Raise ``StoreError`` for what a write must not replace: a link, no regular file, a second name, read-only."""
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(f"{target} is a symbolic link; it is not written through.")
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{target} is not a regular file; nothing was written.")
    if found.st_nlink > 1:
        raise StoreError(f"{target} has a second hard link, which a safe write would cut off; nothing was written.")
    if not found.st_mode & 0o222:
        raise StoreError(f"{target} is read-only; nothing was written.")


def _mode(target: Path, new_mode: int) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return new_mode


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
