"""Looks up what a lesson tells to use in a project's folder: its files, and the tasks its own task files define.

Nothing is run, and what cannot be told counts as being there. A program that this machine lacks says nothing about a
lesson, so programs are not looked up here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path

from lessonbook.core.cited import gone, programs, tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lessonbook.core.task_files import Tasks

ABOVE = 6
"""How many folders above a session's own its project may begin."""
_FILE_MOST = 1 << 20
_FILES_MOST = 2 << 20
"""Bytes of one task file, and of all of a project, or of its parts, that are looked into."""
_DEEP = 2
_FOLDERS_MOST = 1_000
"""How many folders below a project are looked into for the task file of a part of it."""
_ENTRIES_MOST = 20_000
"""How many names of files and folders are gone through for that."""
_NOT_PARTS = frozenset(("node_modules", "vendor", "target", "dist", "build"))


class Here:
    """A folder in which lessons are looked up; what was read for one lesson is known for the next.

    Paths are looked for in as many folders ``above``, too; tasks up to where the project begins. Make one for a moment:
    what changes meanwhile is not seen.
    """

    def __init__(self, cwd: Path, above: int = ABOVE) -> None:
        self._folders = (cwd, *cwd.parents[:above])
        self._read: dict[tuple[str, bool], tuple[Tasks, ...]] = {}

    def not_there(self, text: str) -> tuple[str, ...]:
        """Return what a lesson tells to use and is not there: relative paths, and tasks such as ``make seed``."""
        missing = gone(text, lambda path: _is_there(path, self._folders))
        return missing + tuple(task for task in tasks(text) if self._defined(task) is False)

    def not_looked_up(self, text: str) -> tuple[str, ...]:
        """Return what a lesson tells to run of which nobody can tell here whether it is still right.

        That are tasks that may be defined in a way that is not seen without running something, and programs that this
        machine does not have: others may.
        """
        from shutil import which

        unsure = tuple(task for task in tasks(text) if self._defined(task) is None)
        return unsure + tuple(name for name in programs(text) if which(name) is None)

    def _defined(self, task: str) -> bool | None:
        """Whether a task file of the project, or of a part of it, defines a task; ``None``: nobody can tell."""
        from lessonbook.core.task_files import defines, kind

        answers = [defines(task, one) for one in self._tasks(kind(task))]
        if not answers or set(answers) != {False}:
            return True if True in answers else None
        if _is_there(task.rsplit(" ", 1)[-1], self._project):
            return True  # make is content with a file of that name
        below = {defines(task, one) for one in self._tasks(kind(task), parts=True)}
        return True if True in below else None if None in below else False

    def _tasks(self, kind: str, *, parts: bool = False) -> tuple[Tasks, ...]:
        """What the task files of the project define, or those of its parts."""
        if (kind, parts) not in self._read:
            self._read[kind, parts] = _defined_in(self._project, kind, parts=parts)
        return self._read[kind, parts]

    @cached_property
    def _project(self) -> Sequence[Path]:
        """The folder and those above it up to where its repository begins; it alone where it is in none."""
        for at, folder in enumerate(self._folders):
            if _is_there(".git", (folder,)):
                return self._folders[: at + 1]
        return self._folders[:1]


def _is_there(path: str, folders: Iterable[Path]) -> bool:
    """Whether the path leads somewhere from one of the folders; where nobody can tell, it does."""
    try:
        return any((folder / path).exists() for folder in folders)
    except (OSError, ValueError):
        return True


def _defined_in(project: Sequence[Path], kind: str, *, parts: bool) -> tuple[Tasks, ...]:
    """What task files define; one of which nobody can tell stands for all where they cannot be read."""
    from lessonbook.core.task_files import NAMES, UNSURE, tasks_of

    try:
        within = (
            [part for top in dict.fromkeys((project[0], project[-1])) for part in _parts(top)] if parts else project
        )
        return tuple(tasks_of(kind, text) for text in _texts(within, NAMES[kind]))
    except (OSError, ValueError):
        return (UNSURE,)


def _texts(folders: Iterable[Path], names: Sequence[str]) -> Iterator[str]:
    """The text of each folder's task file. Raises ``ValueError`` where they are too large to look into."""
    left = _FILES_MOST
    for folder in folders:
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is None:
            continue
        with path.open("rb") as source:
            data = source.read(_FILE_MOST + 1)
        left -= len(data)
        if len(data) > _FILE_MOST or left < 0:
            raise ValueError("too large to look into")
        yield data.decode("utf-8", "replace")


def _parts(top: Path) -> Iterator[Path]:
    """The folders below a project, as deep as its parts usually lie. Raises ``ValueError`` where they are too many."""
    ring, left, seen = [str(top)], _ENTRIES_MOST, 0
    for _ in range(_DEEP):
        inside: list[str] = []
        for folder in ring:
            with os.scandir(folder) as entries:
                found = list(islice(entries, left))
            left -= len(found)
            inside += [entry.path for entry in found if _is_part(entry)]
        seen += len(inside)
        if seen > _FOLDERS_MOST or left <= 0:
            raise ValueError("too much to look into")
        ring = inside
        yield from map(Path, ring)


def _is_part(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.name not in _NOT_PARTS and entry.is_dir(follow_symlinks=False)
