"""The room for files, where a path is not enough: folders held open, so that nothing can be swapped in.

What ``system.files`` promises holds here too: whole or not at all, durably, no temporary file left behind.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from lessonbook.core.errors import StoreError, reason
from lessonbook.system.faults import point
from lessonbook.system.files import check_replaceable, sync_folder

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Folder:
    """One folder held open by its handle: what is swapped in at its path later changes nothing for who holds it.

    No link is followed, neither the folder itself nor anything in it; names are plain names, never paths. Use it with
    ``with``. Every method raises ``StoreError`` for what the file system refuses.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    @classmethod
    def at(cls, path: Path, *, make: bool = False) -> Folder | None:
        """Open the folder ``path``, made where it is missing and ``make`` says so; ``None`` where there is none.

        The folders above it may be links, as a person set them up; the folder itself may not.
        """
        if make:
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                # A link or a file in its place is named by the opening below.
                if not path.is_symlink() and not path.exists():
                    raise StoreError(f"{path} cannot be made: {reason(error)}.") from error
            sync_folder(path.parent)
        return cls._opened(path, path, None)

    def child(self, name: str, *, make: bool = False) -> Folder | None:
        """Open the folder ``name`` inside this one, as ``at`` does."""
        path = self.path / name
        if make:
            try:
                os.mkdir(name, 0o755, dir_fd=self._handle)
                self._sync()
            except FileExistsError:
                pass
            except OSError as error:
                raise StoreError(f"{path} cannot be made: {reason(error)}.") from error
        return self._opened(path, name, self._handle)

    @classmethod
    def _opened(cls, path: Path, name: str | Path, inside: int | None) -> Folder | None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return cls(path, os.open(name, flags, dir_fd=inside))
        except FileNotFoundError:
            return None
        except OSError as error:
            if path.is_symlink():
                raise StoreError(f"{path} is a symbolic link; it is not followed.") from error
            raise StoreError(f"{path} cannot be opened as a folder: {reason(error)}.") from error

    def names(self) -> list[str]:
        """Return the names in the folder, sorted."""
        try:
            return sorted(os.listdir(self._handle))  # noqa: PTH208 - a handle has no Path
        except OSError as error:
            raise StoreError(f"{self.path} cannot be listed: {reason(error)}.") from error

    def stat(self, name: str) -> os.stat_result | None:
        """Return what ``name`` itself is, a link being a link; ``None`` where there is nothing."""
        try:
            return os.stat(name, dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self.path / name} cannot be read: {reason(error)}.") from error

    def read(self, name: str, *, most: int = 1 << 20) -> bytes | None:
        """Return the bytes of a regular file of one hard link and at most ``most`` bytes; ``None`` where there is none.

        Anything else of that name is refused unread.
        """
        path = self.path / name
        try:
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise StoreError(f"{path} is a symbolic link; it is not followed.") from error
            raise StoreError(f"{path} cannot be read: {reason(error)}.") from error
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
                raise StoreError(f"{path} is not a regular file with one name (hard link); it is not read.")
            with os.fdopen(handle, "rb", closefd=False) as source:
                data = source.read(most + 1)
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {reason(error)}.") from error
        finally:
            os.close(handle)
        if len(data) > most:
            raise StoreError(f"{path} is larger than {most:,} bytes; it is not read.")
        return data

    def write(self, name: str, data: bytes, *, new_mode: int = 0o644) -> None:
        """Replace or make the file ``name``, whole or not at all and durably, as ``write_atomic`` does."""
        path = self.path / name
        found = self.stat(name)
        if found is not None:
            check_replaceable(found, path)
        temporary = f".{name[:64]}.{os.urandom(6).hex()}.tmp"
        try:
            # A new file is made with its own rights, so that the system takes off what the person's umask says.
            handle = os.open(temporary, _NEW, new_mode if found is None else 0o600, dir_fd=self._handle)
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                out.flush()
                if found is not None:
                    os.fchmod(handle, stat.S_IMODE(found.st_mode))
                os.fsync(handle)
            point("files.before-rename")
            os.replace(temporary, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
            point("files.after-rename")
            self._sync()
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {reason(error)}.") from error
        finally:
            self.remove(temporary)

    def remove(self, name: str) -> None:
        """Remove the file or link ``name``, a link without its target; nothing happens where there is none."""
        try:
            os.unlink(name, dir_fd=self._handle)
            self._sync()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"{self.path / name} cannot be removed: {reason(error)}.") from error

    def remove_folder(self, name: str) -> bool:
        """Remove the folder ``name`` where it is empty, and say whether it was."""
        try:
            os.rmdir(name, dir_fd=self._handle)
            self._sync()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise StoreError(f"{self.path / name} cannot be removed: {reason(error)}.") from error
        return True

    def sweep(self) -> None:
        """Remove the temporary files that killed writers left; only for who holds the lock that all writers take."""
        for name in self.names():
            if name.startswith(".") and name.endswith(".tmp"):
                self.remove(name)

    def _sync(self) -> None:
        try:
            os.fsync(self._handle)
        except OSError:  # some network file systems refuse to sync a folder; what was done has happened
            pass
