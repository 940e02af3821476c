"""Symbolic links and whole folders that are ours: made in one step, and only ever removed where they still are ours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lessonbook.core.errors import StoreError, reason
from lessonbook.system import files


def target_of(path: Path) -> Path | None:
    """Return where the link ``path`` leads, as it is written in it; ``None`` for what is no link."""
    try:
        return Path(os.readlink(path))  # noqa: PTH115  Path.readlink is asked 300 times at a session's start
    except OSError:
        return None


def make_link(path: Path, target: Path) -> None:
    """Make ``path`` a link to ``target``, in the place of a link that is there; its folder is made where missing.

    Raises ``StoreError`` where it cannot be made, or something that is no link is there.
    """
    if target_of(path) is None and os.path.lexists(path):
        raise StoreError(f"{path} is there already and no link of ours; it was left as it is.")
    temporary = path.with_name(f".{path.name[:64]}.{os.urandom(4).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.symlink_to(target)
        temporary.replace(path)
        files.sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be made a link: {reason(error)}.") from error


def write_folder(folder: Path, wanted: Mapping[str, bytes]) -> None:
    """Make ``folder`` hold exactly the files ``wanted``, by relative path. Raises ``StoreError``; follows no link."""
    if folder.is_symlink():
        raise StoreError(f"{folder} is a symbolic link; it is not written through.")
    for name, data in wanted.items():
        if files.read_bytes(folder / name) != data:
            files.write_atomic(folder / name, data, follow=False)
    for path in _files(folder):
        if str(path.relative_to(folder)) not in wanted:
            files.remove(path, up_to=folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder of ours with all its files; a link itself, not what it leads to. Raises ``StoreError``."""
    if folder.is_symlink():
        files.remove(folder)
        return
    for path in _files(folder):
        files.remove(path, up_to=folder.parent)
    remove_empty(folder)


def remove_empty(folder: Path, *, up_to: Path | None = None) -> None:
    """Remove a folder where it is empty, and then those above it that became empty, below ``up_to``."""
    if up_to is not None and up_to not in folder.parents:
        return
    try:
        folder.rmdir()
    except FileNotFoundError:  # those above it may be empty all the same
        pass
    except OSError:  # it holds something
        return
    if up_to is not None:
        remove_empty(folder.parent, up_to=up_to)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()] if folder.is_dir() else []
