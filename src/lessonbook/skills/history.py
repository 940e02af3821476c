"""Every version a managed skill ever had, oldest first, in a folder of its own beside the managed ones.

A version is a file ``<number>.md``, or ``<number>-restores-<number>.md`` where an undo brought back an older one, so
that undoing again goes further back, and nothing is ever taken out. Callers hold the lock of the managed skills.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lessonbook.core.errors import StoreError
from lessonbook.system.folders import Folder

_NAME = re.compile(r"(\d{6,})(?:-restores-(\d{6,}))?\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class Version:
    """One kept version. ``at`` is when it was kept (epoch seconds), ``restores`` the number it brought back."""

    number: int
    at: float
    size: int
    restores: int | None
    path: Path

    @property
    def place(self) -> int:
        """The number whose text it holds: undo goes back from there."""
        return self.restores or self.number


class History:
    """The versions of all managed skills. Methods raise ``StoreError`` for what the file system refuses."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def versions(self, name: str) -> tuple[Version, ...]:
        """Return the versions of one skill, oldest first."""
        with _inside(self.path, name) as folder:
            return tuple(sorted(_listed(folder), key=lambda version: version.number)) if folder else ()

    def read(self, name: str, version: Version) -> bytes:
        """Return one version's bytes."""
        with _inside(self.path, name) as folder:
            data = folder.read(version.path.name) if folder else None
        if data is None:
            raise StoreError(f"{version.path} is gone.")
        return data

    def keep(self, name: str, data: bytes, restores: int | None = None) -> Version:
        """Keep one more version, durably before it returns."""
        number = max((version.number for version in self.versions(name)), default=0) + 1
        told = f"-restores-{restores:06d}" if restores else ""
        with _inside(self.path, name, make=True) as folder:
            if folder is None:
                raise StoreError(f"{self.path / name} was removed while a version was kept; nothing was changed.")
            folder.sweep()
            folder.write(f"{number:06d}{told}.md", data, new_mode=0o600)
        return next(version for version in self.versions(name) if version.number == number)


@contextmanager
def _inside(path: Path, name: str, *, make: bool = False) -> Iterator[Folder | None]:
    root = Folder.at(path, make=make)
    if root is None:
        yield None
        return
    with root:
        folder = root.child(name, make=make)
        if folder is None:
            yield None
            return
        with folder:
            yield folder


def _listed(folder: Folder) -> Iterator[Version]:
    for file in folder.names():
        named, found = _NAME.fullmatch(file), folder.stat(file)
        if named and found:
            restores = int(named[2]) if named[2] else None
            yield Version(int(named[1]), found.st_mtime, found.st_size, restores, folder.path / file)
