"""Opens the memory the configuration names. A new backend is one module, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lessonbook.core.errors import SetupError
from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from lessonbook.core.ports import Memory  # loads every value a Protocol names, and the start of a session waits
    from lessonbook.core.project import Project
    from lessonbook.system.settings import Settings

    Opener: TypeAlias = Callable[[Settings, Project, Callable[[], float], str], Memory]

OFF = "off"
SCOPINGS = ("per-project-tagged", "per-project", "global")
"""Which lessons a project sees: its own and the shared ones, its own alone, or the shared ones alone."""


class Backend(Value):
    """One kind of memory: what sentences call it, and how it is opened."""

    label: str
    open: Opener
    needs: str = ""
    """The setting without which it can keep nothing: where its server is."""


def open_memory(
    settings: Settings, project: Project, now: Callable[[], float], cwd: Path | str | None = None
) -> Memory:
    """Return the memory ``settings.memory_backend`` names, for ``project``. Opens no file before its first use.

    ``now`` is the clock, in epoch seconds. ``cwd`` is the folder the session works in, which names the ``local``
    backend's file; the project's top folder by default. Raises ``SetupError`` for a backend that does not exist.
    """
    return backend(settings).open(settings, project, now, str(cwd or project.root))


def backend(settings: Settings) -> Backend:
    """Return the backend the settings name. Raises ``SetupError``, with the choices, for one that does not exist."""
    found = BACKENDS.get(settings.memory_backend)
    if found is None:
        raise SetupError(f"memory.backend is {settings.memory_backend!r}; it must be one of {', '.join(BACKENDS)}.")
    if settings.memory_scoping not in SCOPINGS:
        raise SetupError(f"memory.scoping is {settings.memory_scoping!r}; it must be one of {', '.join(SCOPINGS)}.")
    return found


def _off(settings: Settings, project: Project, now: Callable[[], float], cwd: str) -> Memory:
    from lessonbook.memory.off import OffMemory

    return OffMemory()


def _local(settings: Settings, project: Project, now: Callable[[], float], cwd: str) -> Memory:
    from lessonbook.memory.local import LocalMemory, learned_file

    if not cwd:
        raise SetupError("The local memory needs the folder the session works in; none is known.")
    return LocalMemory(learned_file(settings.agent_dir, cwd))


def _mnemopi(settings: Settings, project: Project, now: Callable[[], float], cwd: str) -> Memory:
    from lessonbook.memory.mnemopi.bank import BANK_FILE, MnemopiMemory
    from lessonbook.memory.vectors.registry import open_embedder

    return MnemopiMemory(
        settings.agent_dir / BANK_FILE,
        project.slug,
        now,
        embedder=open_embedder(),
        scoping=settings.memory_scoping,
        branch=project.branch,
    )


def _hindsight(settings: Settings, project: Project, now: Callable[[], float], cwd: str) -> Memory:
    from lessonbook.memory.hindsight.opening import open_hindsight

    return open_hindsight(settings, project, now)


def _postgres(settings: Settings, project: Project, now: Callable[[], float], cwd: str) -> Memory:
    from lessonbook.memory.postgres.opening import open_postgres

    return open_postgres(settings, project, now)


BACKENDS: dict[str, Backend] = {
    OFF: Backend("Off", _off),
    "local": Backend("Local", _local),
    "mnemopi": Backend("Mnemopi", _mnemopi),
    "hindsight": Backend("Hindsight", _hindsight, "hindsight.url"),
    "postgres": Backend("PostgreSQL", _postgres, "postgres.url"),
}
