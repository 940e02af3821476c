"""What a person asks about skills: which there are and what is wrong, and the past of the managed ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lessonbook.skills import discovery
from lessonbook.skills.discovery import Catalogue
from lessonbook.skills.history import Version
from lessonbook.skills.managed import managed_skills
from lessonbook.system.settings import Places, Settings


def list_skills(
    where: Places, settings: Settings, cwd: Path | None, learned: Mapping[str, bytes] | None = None
) -> Catalogue:
    """Return every skill for a session in ``cwd``: origin, name, description, path; and every problem by name.

    ``learned`` maps ``skills/<name>/SKILL.md`` paths of a book's HEAD to bytes; they are left out where learning is
    off. Never raises for what is in a file.
    """
    told = learned if settings.learning else None
    return discovery.discover(where.home, cwd, managed_skills(settings.agent_dir).root, told)


def skill_history(settings: Settings, name: str) -> tuple[Version, ...]:
    """Return the kept versions of one managed skill, oldest first; also of a deleted one. Raises ``InputError``."""
    return managed_skills(settings.agent_dir).versions(name)


def read_version(settings: Settings, name: str, number: int) -> str:
    """Return the text of one kept version. Raises ``InputError`` where there is none of that number."""
    return managed_skills(settings.agent_dir).version_text(name, number)


def undo_skill(settings: Settings, name: str, to: int | None = None) -> Path:
    """Bring back a managed skill's version before the present one, or version ``to``, and return its file.

    A deleted skill comes back. Raises ``InputError`` where there is nothing to go back to.
    """
    return managed_skills(settings.agent_dir).undo(name, to)


def delete_skill(settings: Settings, name: str) -> None:
    """Remove one managed skill; its versions stay, so that it can be brought back. Raises ``InputError``."""
    managed_skills(settings.agent_dir).delete(name)
