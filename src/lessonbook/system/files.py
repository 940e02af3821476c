"""The one room that writes files: whole or not at all, durably, and never past what a person set up.

A file that is a symbolic link stays one and its target gets the new text; the mode is kept; the temporary file lies
beside the target and is gone whatever happens. Locks are in ``system.locks``.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from lessonbook.core.errors import InputError, StoreError, reason
from lessonbook.core.screen import PATH_MOST, short
from lessonbook.system.faults import point

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def expanded(path: Path) -> Path:
    """Return the absolute path that a person typed; see ``homed``."""
    return homed(path).absolute()


def homed(path: Path) -> Path:
    """Return the path that a person typed, ``~`` and ``~name`` taken for what they mean.

    Raises ``InputError`` where nobody is called so.
    """
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InputError(f"{short(path, PATH_MOST)} starts with the home of nobody here.") from error


def is_folder(path: Path) -> bool:
    """Whether there is a folder; no folder has a name that is too long. Raises ``StoreError`` where we may not look."""
    try:
        return path.is_dir()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise StoreError(f"{short(path, PATH_MOST)} cannot be looked into: {reason(error)}.") from error


def read_bytes(path: Path) -> bytes | None:
    """Return the file's bytes, or ``None`` where there is none; the null device is an empty file.

    Raises ``StoreError`` when it cannot be read, or is no regular file: a pipe would never end.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{short(path, PATH_MOST)} cannot be read: {reason(error)}.") from error
    try:
        if not _is_null(handle):
            _check_regular(handle, path)
        with os.fdopen(handle, "rb", closefd=False) as source:
            return source.read()
    except OSError as error:
        raise StoreError(f"{short(path, PATH_MOST)} cannot be read: {reason(error)}.") from error
    finally:
        os.close(handle)


def _is_null(handle: int) -> bool:
    return os.fstat(handle).st_rdev == Path(os.devnull).stat().st_rdev


def _check_regular(handle: int, path: Path) -> None:
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} cannot be read: is a directory.")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path} is not a regular file; it is not read.")


def write_atomic(
    path: Path,
    data: bytes,
    *,
    new_mode: int = 0o644,
    follow: bool = True,
    unless: Callable[[], bool] | None = None,
) -> bool:
    """Replace the file by ``data``, so that a reader or a crash sees the old text or the new one, never a part.

    ``new_mode`` counts only for a file that is new, less the person's umask. With ``follow`` a symbolic link keeps
    being one and its target is replaced; without it a link is refused. Parent folders are made. ``unless`` is asked
    last, right before the file is replaced: when it says yes (a person saved the file meanwhile), the file stays and
    the answer is ``False``. Raises ``StoreError`` and leaves the file as it was when it is read-only, a dangling link,
    not a regular file, has a second hard link, or cannot be written.
    """
    target = _target(path, follow=follow)
    temporary = target.with_name(f".{target.name[:64]}.{os.urandom(4).hex()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(target)
        # A new file is made with its own rights, so that the system takes off what the person's umask says.
        handle = os.open(temporary, _NEW, new_mode if mode is None else 0o600)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {reason(error)}.") from error
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            if mode is not None:
                os.fchmod(out.fileno(), mode)
            os.fsync(out.fileno())
        point("files.before-rename")
        if unless is not None and unless():
            return False
        temporary.replace(target)
        point("files.after-rename")
        sync_folder(target.parent)
        return True
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {reason(error)}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def append_line(path: Path, data: bytes) -> None:
    """Add one line to a log that only its owner can read; lines of several processes never mix. Raises ``StoreError``.

    The file and its folders are made where they are missing. A symbolic link and what is no file are refused.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, flags, 0o600)
        try:
            _check_regular(handle, path)
            os.write(handle, data.rstrip(b"\n") + b"\n")
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {reason(error)}.") from error


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed writers and claimers of ``path`` left beside it.

    Call it only while nobody else can write that file: its lock is held.
    """
    import glob

    for pattern in (f".{glob.escape(path.name[:64])}.????????.tmp", f"{glob.escape(path.name)}.????????.tmp"):
        for leftover in path.parent.glob(pattern):
            leftover.unlink(missing_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file only its owner can read, and its folders, where it is missing. Raises ``StoreError``.

    A file that is there is not opened: to close it would drop every POSIX lock this process holds on it, and with them
    what tells other processes that a database is in use.
    """
    try:
        target = path.resolve() if path.is_symlink() else path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            with suppress(FileExistsError):  # made meanwhile
                os.close(os.open(target, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        mode = target.stat().st_mode
    except RuntimeError as error:  # how some versions of Python say that links lead in a circle
        raise StoreError(f"{path} is a symbolic link that leads nowhere; nothing was made.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {reason(error)}.") from error
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} cannot be read: is a directory.")
    if not stat.S_ISREG(mode):
        raise StoreError(f"{path} is not a regular file; it is not read.")


def make_folder(path: Path) -> None:
    """Make a folder only its owner can look into, and those above it, where it is missing. Raises ``StoreError``."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {reason(error)}.") from error


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


def sync_files(paths: Iterable[Path]) -> None:
    """Make the files durable that are there, and what was removed from their folders."""
    folders = set()
    for path in paths:
        folders.add(path.parent)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:  # removed, or kept in another file
            continue
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    for folder in folders:
        sync_folder(folder)


def move(source: Path, target: Path) -> None:
    """Put ``source`` in the place of ``target`` in one step, durably. Raises ``StoreError``."""
    try:
        source.replace(target)
    except OSError as error:
        raise StoreError(f"{target} cannot be replaced: {reason(error)}.") from error
    sync_folder(target.parent)


def remove(path: Path, *, up_to: Path | None = None) -> None:
    """Remove a file (a link itself, never its target) and then its parent folders that became empty, below ``up_to``.

    A file that is not there is fine. Raises ``StoreError`` when it cannot be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed: {reason(error)}.") from error
    parent = path.parent
    while up_to is not None and parent != up_to and up_to in parent.parents:
        try:
            parent.rmdir()
        except OSError:  # it holds something else
            return
        parent = parent.parent


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
        raise StoreError(f"{target} cannot be read: {reason(error)}.") from error
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


def _mode(target: Path) -> int | None:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
