"""Measures folders: how many bytes they hold, and which file of them is the largest. Nothing is opened or followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Size:
    """What a folder holds."""

    bytes: int = 0
    files: int = 0
    largest: str = ""
    largest_bytes: int = 0


def measured(roots: Iterable[Path], without: Collection[Path] = ()) -> Size:
    """Return what files and folders hold together; a file of two names counts once. What cannot be seen counts nothing.

    ``without`` are folders below them that are left out. Links inside are not followed.
    """
    total, number, largest, most = 0, 0, "", 0
    met: set[tuple[int, int]] = set()
    out = {str(path) for path in without}
    for root in roots:
        for path, found in _files(str(root), out):
            if (found.st_dev, found.st_ino) in met:
                continue
            met.add((found.st_dev, found.st_ino))
            total, number = total + found.st_size, number + 1
            if found.st_size > most:
                largest, most = path, found.st_size
    return Size(total, number, largest, most)


def _files(root: str, out: Collection[str]) -> Iterator[tuple[str, os.stat_result]]:
    try:
        found = Path(root).stat()  # a root may be a link: agents' folders are moved like that
    except OSError:
        return
    if stat.S_ISREG(found.st_mode):
        yield root, found
        return
    waiting = [root]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                inside = list(entries)
        except OSError:  # not ours to look into, or gone meanwhile
            continue
        for one in inside:
            with suppress(OSError):
                if one.is_dir(follow_symlinks=False):
                    waiting += [] if one.path in out else [one.path]
                elif one.is_file(follow_symlinks=False):
                    yield one.path, one.stat(follow_symlinks=False)
