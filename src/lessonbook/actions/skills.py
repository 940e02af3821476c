"""What a person asks about skills: which there are and what is wrong, and the past of the managed ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lessonbook.skills import discovery
from lessonbook.skills.discovery import Catalogue
from lessonbook.skills.known import FILE as KNOWN
from lessonbook.skills.known import Known
from lessonbook.skills.roots import managed_root
from lessonbook.system.settings import Places, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.skills.history import Version
    from lessonbook.skills.managed import ManagedSkills


def list_skills(
    where: Places,
    settings: Settings,
    cwd: Path | None,
    learned: Mapping[str, bytes] | None = None,
    remember_at: float | None = None,
) -> Catalogue:
    """Return every skill for a session in ``cwd``: origin, name, description, path; and every problem by name.

    ``learned`` maps ``skills/<name>/SKILL.md`` paths of a book's HEAD to bytes; they are left out where learning is
    off. Never raises for what is in a file. With ``remember_at``, the time now in epoch seconds, what is in the files
    is remembered in the state folder, and only files that changed since are read.
    """
    told = learned if settings.learning else None
    known = Known(where.state / KNOWN, int(remember_at * 1e9)) if remember_at is not None else None
    found = discovery.discover(where.home, cwd, managed_root(settings.agent_dir), told, known)
    if known is not None:
        known.save()
    return found


def skill_history(settings: Settings, name: str) -> tuple[Version, ...]:
    """Return the kept versions of one managed skill, oldest first; also of a deleted one. Raises ``InputError``."""
    return _managed(settings).versions(name)


def read_version(settings: Settings, name: str, number: int) -> str:
    """Return the text of one kept version. Raises ``InputError`` where there is none of that number."""
    return _managed(settings).version_text(name, number)


def undo_skill(settings: Settings, name: str, to: int | None = None) -> Path:
    """Bring back a managed skill's version before the present one, or version ``to``, and return its file.

    A deleted skill comes back. Raises ``InputError`` where there is nothing to go back to.
    """
    return _managed(settings).undo(name, to)


def delete_skill(settings: Settings, name: str) -> None:
    """Remove one managed skill; its versions stay, so that it can be brought back. Raises ``InputError``."""
    _managed(settings).delete(name)


def _managed(settings: Settings) -> ManagedSkills:
    from lessonbook.skills.managed import managed_skills  # writing needs much that listing does without

    return managed_skills(settings.agent_dir)
