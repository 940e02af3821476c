"""Makes a file that must be new: whole or not at all, durably, and never in the place of another one."""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lessonbook.core.errors import InputError, StoreError, reason
from lessonbook.system import files
from lessonbook.system.faults import point

_THERE = "{} is there already; name a file that is not."
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Give an empty file beside ``target``, for its owner alone, that gets this name at the end if nothing is raised.

    What killed makers of ``target`` left beside it is removed first, so hold a lock that they took. Raises
    ``InputError`` where ``target`` is there (at the end too) or its folder is not, ``StoreError`` where it cannot be
    written; nothing stays beside it then.
    """
    check_new(target)
    _clear(target, "????????")
    token = os.urandom(4).hex()
    temporary = target.with_name(f".{target.name[:64]}.{token}.tmp")
    files.make_private_file(temporary)
    try:
        yield temporary
        files.sync_files([temporary])
        point("newfile.before-name")
        _name(temporary, target)
    finally:
        _clear(target, token)
    files.sync_folder(target.parent)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder that only its owner can read, and that is gone with all that is in it afterwards."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="lessonbook-") as name:
        yield Path(name)


def check_new(target: Path) -> None:
    """Raise ``InputError`` where a file of that name is there, or no folder for it."""
    if os.path.lexists(target):
        raise InputError(_THERE.format(target))
    if not target.parent.is_dir():
        raise InputError(f"There is no folder {target.parent} to write {target.name} into.")


def _name(temporary: Path, target: Path) -> None:
    try:
        try:
            target.hardlink_to(temporary)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # A file system without links: an empty file holds the name until the whole one takes its place.
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            temporary.replace(target)
    except FileExistsError as error:
        raise InputError(_THERE.format(target)) from error
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {reason(error)}.") from error


def _clear(target: Path, token: str) -> None:
    """Remove temporary files, and what SQLite may have put beside them."""
    for end in ("", "-journal", "-wal", "-shm"):
        pattern = f".{glob.escape(target.name[:64])}.{token}.tmp{end}"
        for leftover in target.parent.glob(pattern):
            leftover.unlink(missing_ok=True)


def write_lines(target: Path, lines: Iterable[str]) -> int:
    """Write a new file of these lines, and return how many there are; raises what ``new_file`` raises.

    Only for a ``target`` that no other process makes at the same time: what stays of a killed one is taken away.
    """
    count = 0
    with new_file(target) as temporary:
        try:
            with temporary.open("w", encoding="utf-8", errors="replace", newline="\n") as out:
                for line in lines:
                    out.write(f"{line}\n")
                    count += 1
        except OSError as error:
            raise StoreError(f"{target} cannot be written: {reason(error)}.") from error
    return count
