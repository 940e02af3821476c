"""Finds and reads skill files: the authored ones as people lay them out, links followed; the managed ones strictly."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lessonbook.core.errors import StoreError, reason
from lessonbook.core.value import Value
from lessonbook.skills.roots import FILE

HEAD = 1 << 17
"""How much of a file is read for its frontmatter: twice the longest block that is parsed."""
MAX_DEPTH = 4
MAX_FOLDERS = 5_000
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.skills.known import Known
    from lessonbook.system.folders import Folder

FileId = tuple[int, int]


class SkillFile(Value):
    """One skill file found: its path, its folder's name there, which real file it is, and its head or its fault."""

    path: Path
    folder: str
    id: FileId | None
    head: bytes = b""
    problem: str | None = None
    size: int = 0
    key: str = ""
    """What names this state of the file; empty where it was not asked for."""
    is_known: bool = False
    """Whether it was looked into before in this very state, so that it was not read again."""


def file_id(path: Path) -> FileId | None:
    """Return which real file a path leads to; ``None`` where it leads to none."""
    try:
        found = path.stat()
    except (OSError, RuntimeError):
        return None
    return found.st_dev, found.st_ino


def read_file(path: Path) -> SkillFile | None:
    """Read the head of one skill file, links followed; ``None`` where there is no such file."""
    return _read(path, path.parent.name)


def authored_files(root: Path, known: Known | None = None, depth: int = MAX_DEPTH) -> Iterator[SkillFile]:
    """Yield the skill files below an authored folder, ``depth`` levels deep, linked folders included, by name.

    A folder that holds a skill is not searched further. Links that lead back end, and so does the search after 5,000
    folders, with a problem that says so.
    """
    seen: set[FileId] = set()
    waiting = [(root, 0)]
    while waiting:
        folder, level = waiting.pop()
        if len(seen) > MAX_FOLDERS:
            yield SkillFile(
                root, root.name, None, problem=f"holds more than {MAX_FOLDERS:,} folders; the rest is unread"
            )
            return
        if level:
            path = folder / FILE
            found = (_known(path, folder.name, known) if known else None) or _read(path, folder.name, known)
            if found is not None:
                yield found
                continue
        if level < depth:
            inner, problem = _folders(folder, seen)
            waiting.extend((path, level + 1) for path in reversed(inner))
            if problem:
                yield SkillFile(folder, folder.name, None, problem=problem)


def _folders(folder: Path, seen: set[FileId]) -> tuple[list[Path], str | None]:
    try:
        here = folder.stat()
        if (here.st_dev, here.st_ino) in seen:
            return [], None
        seen.add((here.st_dev, here.st_ino))
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.name not in _SKIPPED and _leads_on(entry))
        return [folder / name for name in names], None
    except (FileNotFoundError, NotADirectoryError):
        return [], "is a link that leads nowhere" if folder.is_symlink() else None
    except (OSError, RuntimeError) as error:
        return [], f"cannot be read: {reason(error)}"


def _leads_on(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder or a link to one; also a link that leads nowhere or in circles, to be reported."""
    try:
        return entry.is_dir() or (entry.is_symlink() and not entry.is_file() and not Path(entry.path).exists())
    except OSError:
        return True


def _known(path: Path, folder: str, known: Known) -> SkillFile | None:
    """Return a file that is as it was when it was looked into; ``None`` for any other."""
    try:
        found = os.stat(str(path))  # noqa: PTH116  Path.stat takes twice as long, three hundred times at a start
    except (OSError, RuntimeError):
        return None
    key = known.key(found, folder)
    if not known.get(key) or not stat.S_ISREG(found.st_mode):
        return None
    return SkillFile(path, folder, (found.st_dev, found.st_ino), key=key, is_known=True)


def _read(path: Path, folder: str, known: Known | None = None) -> SkillFile | None:
    """Read the head of one file, following links; ``None`` where there is no such file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return SkillFile(path, folder, None, problem="is a link that leads nowhere") if path.is_symlink() else None
    except OSError as error:
        return SkillFile(path, folder, None, problem=f"cannot be read: {reason(error)}")
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return SkillFile(path, folder, None, problem="is not a regular file")
        key = known.key(found, folder) if known else ""
        return SkillFile(path, folder, (found.st_dev, found.st_ino), os.read(handle, HEAD), size=found.st_size, key=key)
    except OSError as error:
        return SkillFile(path, folder, None, problem=f"cannot be read: {reason(error)}")
    finally:
        os.close(handle)


def managed_files(root: Path, known: Known | None = None) -> Iterator[SkillFile]:
    """Yield the skill files of the managed folder, by name. Links, second hard links and odd files are not read."""
    if not os.path.lexists(root):
        return
    from lessonbook.system.folders import Folder

    try:
        opened = Folder.at(root)
        if opened is None:
            return
        with opened:
            for name in opened.names():
                found = _managed(opened, name, known)
                if found is not None:
                    yield found
    except StoreError as error:
        yield SkillFile(root, root.name, None, problem=_reason(root, error))


def _managed(root: Folder, name: str, known: Known | None) -> SkillFile | None:
    found = root.stat(name)
    if found is None or stat.S_ISREG(found.st_mode):
        return None
    try:
        folder = root.child(name)
        if folder is None:
            return None
        with folder:
            path = folder.path / FILE
            told = folder.stat(FILE)
            key = known.key(told, name) if known and told else ""
            if told and known and known.get(key) and stat.S_ISREG(told.st_mode) and told.st_nlink == 1:
                return SkillFile(path, name, (told.st_dev, told.st_ino), key=key, is_known=True)
            head = folder.read(FILE)
    except StoreError as error:
        return SkillFile(root.path / name, name, None, problem=_reason(root.path / name, error))
    if told is None or head is None:
        return None
    return SkillFile(path, name, (told.st_dev, told.st_ino), head, key=key)


def _reason(path: Path, error: StoreError) -> str:
    return str(error).removeprefix(f"{path} ").removesuffix(".")
