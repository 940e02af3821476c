"""Looks up what a lesson tells to use in a project's folder: its files, and the tasks its own task files define.

Nothing is run, and what cannot be told counts as being there. A program that this machine lacks says nothing about a
lesson, so programs are not looked up here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lessonbook.core.cited import gone, programs, tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ABOVE = 6
"""How many folders above a session's own its project may begin."""
_FILE_MOST = 1 << 20
_DEEP = 2
_FOLDERS_MOST = 1_000
"""How many folders below a project are looked into for the task file of a part of it."""
_NOT_PARTS = frozenset(("node_modules", "vendor", "target", "dist", "build"))


def not_there(text: str, cwd: Path, above: int = ABOVE) -> tuple[str, ...]:
    """Return what a lesson tells to use and ``cwd`` has not: relative paths, and tasks such as ``make seed``.

    Paths are looked for in as many folders ``above``, too; tasks up to where the project begins.
    """
    missing = gone(text, lambda path: _is_there(path, (cwd, *cwd.parents[:above])))
    return missing + tuple(task for task in tasks(text) if _defined(task, cwd, above) is False)


def _project(cwd: Path, above: int) -> Sequence[Path]:
    """The folder and those above it up to where its repository begins; it alone where it is in none."""
    folders = (cwd, *cwd.parents[:above])
    for at, folder in enumerate(folders):
        if (folder / ".git").exists():
            return folders[: at + 1]
    return folders[:1]


def not_looked_up(text: str, cwd: Path) -> tuple[str, ...]:
    """Return what a lesson tells to run of which nobody can tell here whether it is still right.

    That are tasks that may be defined in a way that is not seen without running something, and programs that this
    machine does not have: others may.
    """
    from shutil import which

    unsure = tuple(task for task in tasks(text) if _defined(task, cwd, 0) is None)
    return unsure + tuple(name for name in programs(text) if which(name) is None)


def _is_there(path: str, folders: Iterable[Path]) -> bool:
    """Whether the path leads somewhere from one of the folders; where nobody can tell, it does."""
    try:
        return any((folder / path).exists() for folder in folders)
    except (OSError, ValueError):
        return True


def _defined(task: str, cwd: Path, above: int) -> bool | None:
    """Whether a task file of the project, or of a part of it, defines a task; ``None``: nobody can tell."""
    from lessonbook.core.task_files import NAMES, defines, kind

    names = NAMES[kind(task)]
    try:
        folders = _project(cwd, above)
        answers = [defines(task, text) for text in _texts(folders, names)]
        if not answers or set(answers) != {False}:
            return True if True in answers else None
        if any((folder / task.rsplit(" ", 1)[-1]).exists() for folder in folders):
            return True  # make is content with a file of that name
        below = {defines(task, text) for folder in {folders[0], folders[-1]} for text in _texts(_parts(folder), names)}
    except (OSError, ValueError):
        return None
    return True if True in below else None if None in below else False


def _texts(folders: Iterable[Path], names: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        for name in names:
            path = folder / name
            if path.is_file():
                if path.stat().st_size > _FILE_MOST:
                    raise ValueError("too large to look into")
                yield path.read_text("utf-8", "replace")
                break


def _parts(top: Path) -> Iterator[Path]:
    """The folders below a project, as deep as its parts usually lie. Raises ``ValueError`` where they are too many."""
    ring, seen = [top], 0
    for _ in range(_DEEP):
        ring = [one for folder in ring for one in folder.iterdir() if _is_part(one)]
        seen += len(ring)
        if seen > _FOLDERS_MOST:
            raise ValueError("too many folders to look into")
        yield from ring


def _is_part(path: Path) -> bool:
    return not path.name.startswith(".") and path.name not in _NOT_PARTS and path.is_dir() and not path.is_symlink()
