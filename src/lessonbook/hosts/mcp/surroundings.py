"""What calls are answered from: the settings as they are at that moment, and the memories they name.

The configuration is read anew for every call, so that what a person changes holds from the next call on. A memory stays
open between calls, and is opened anew where another backend, agent folder or project is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from lessonbook.core.errors import LessonbookError
from lessonbook.core.value import Value
from lessonbook.system.projects import Projects
from lessonbook.system.settings import Places, Settings, load, places

if TYPE_CHECKING:
    from lessonbook.core.ports import Memory
    from lessonbook.core.project import Project

_OPEN_MOST = 8
"""How many memories stay open: one for each folder that clients of one server work in."""


class Here(Value):
    """What one call works with: where things live, what the configuration says now, and the folder it is about."""

    places: Places
    settings: Settings
    cwd: Path
    session_id: str
    now: Callable[[], float]
    open: Callable[[Settings, Path], Memory]

    @property
    def memory(self) -> Memory:
        """The memory of the folder's project. Raises ``SetupError`` for a backend that does not exist."""
        return self.open(self.settings, self.cwd)


class Surroundings:
    """Gives each call its ``Here``. Usable from several threads."""

    def __init__(self, session_id: str, now: Callable[[], float], *, learned: bool = True) -> None:
        """``learned=False`` turns learning off for as long as this server runs, whatever the configuration says."""
        self.session_id = session_id
        self.learned = learned
        self.now = now
        self._projects = Projects()
        self._lock = Lock()
        self._open: dict[tuple[Settings, Project, Path], Memory] = {}

    def settings(self) -> Settings:
        """Return what the configuration says now. Raises ``SetupError`` where it cannot be used."""
        from lessonbook.book.switch import enabled

        where = places()
        settings = load(where)
        # The switch is asked itself: where only the original's file holds it, it moves from there (contract §2.6).
        return settings.but(learning=self.learned and enabled(where.config, where.config_file))

    def fallback(self) -> Settings:
        """Return the settings of a machine that has no configuration: what there is where it cannot be used."""
        return Settings(agent_dir=places().data / "agent", learning=self.learned)

    def stamp(self) -> tuple[int, ...]:
        """Return what changes whenever the configuration file does."""
        try:
            found = places().config_file.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def here(self, cwd: Path) -> Here:
        """Return what a call about ``cwd`` works with. Raises ``SetupError`` as ``settings`` does."""
        return Here(places(), self.settings(), cwd, self.session_id, self.now, self.memory)

    def memory(self, settings: Settings, cwd: Path) -> Memory:
        """Return the memory of the project of ``cwd``, open already where it was asked for before."""
        from lessonbook.core.ports import Delivering
        from lessonbook.memory.registry import open_memory

        project = self._projects.identify(cwd)  # may ask git, which may be slow: outside the lock
        key = (settings, project, cwd)
        with self._lock:
            if key not in self._open:
                opened = open_memory(settings, project, self.now, cwd)
                if isinstance(opened, Delivering):
                    opened.delivery.deliver_in_background()
                self._drop([old for old in self._open if old[0] != settings])
                self._drop(list(self._open)[: len(self._open) + 1 - _OPEN_MOST])
                self._open[key] = opened
            return self._open[key]

    def close(self) -> None:
        """Close every memory that is open."""
        with self._lock:
            self._drop(list(self._open))

    def _drop(self, keys: list[tuple[Settings, Project, Path]]) -> None:
        """Close memories nobody asks for any more; a call that still uses one opens its file again by itself."""
        for key in keys:
            try:
                self._open.pop(key).close()
            except LessonbookError:  # what could not be noted at the end is noted by nobody, and nothing is lost
                continue
