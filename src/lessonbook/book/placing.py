"""Where in a project's tree something new may be put: nowhere that would take, hide or be taken for something else."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from lessonbook.book.content import shown
from lessonbook.core.errors import InputError
from lessonbook.system.gitbatch import Entry

KINDS = {"120000": "a link", "160000": "a submodule"}


def check_place(folder: Path, tree: Mapping[bytes, Entry], path: bytes) -> None:
    """Raise ``InputError`` where ``path``, which ``tree`` does not hold, cannot be put there.

    Something that is no folder is in the place of its folder, a folder is in its own, or there is a name that differs
    in capitals only (or in how letters are composed): many file systems take the two for one.
    """
    above = [path[:at] for at, char in enumerate(path) if char == ord("/")]
    for up in above:
        if up in tree:
            raise InputError(f"{shown(up)} is not a folder in {folder}, so no skill can be put there")
    names = {name for held in tree for name in _prefixes(held)}
    if path in names:
        raise InputError(f"{shown(path)} is a folder in {folder}; a file cannot be put in its place")
    alike = {_folded(name): name for name in names}
    for up in (*above, path):
        twin = alike.get(_folded(up))
        if twin is not None and up not in names:
            raise InputError(
                f"{folder} has {shown(twin)}, which many systems take for {shown(up)}; rename it there first"
            )


def check_kind(folder: Path, path: bytes, entry: Entry) -> None:
    """Raise ``InputError`` where what stands at ``path`` is no regular file."""
    if not entry.mode.startswith("100"):
        kind = KINDS.get(entry.mode, "no file")
        raise InputError(f"{shown(path)} is {kind} in {folder}; only regular files are changed")


def _prefixes(path: bytes) -> Iterable[bytes]:
    return [*(path[:at] for at, char in enumerate(path) if char == ord("/")), path]


def _folded(path: bytes) -> str:
    return unicodedata.normalize("NFC", path.decode("utf-8", "surrogateescape")).casefold()
