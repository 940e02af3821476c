"""Creates, updates and deletes managed skills for an agent that asks for just that; ``learn`` does it with a lesson."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lessonbook.core.errors import InputError, SetupError
from lessonbook.core.lesson import Scope
from lessonbook.core.skill import SkillDraft, prepare, skill_name
from lessonbook.core.value import Value
from lessonbook.skills.discovery import authored_names
from lessonbook.skills.managed import ManagedSkills, managed_skills
from lessonbook.system.settings import Settings

if TYPE_CHECKING:
    from lessonbook.actions.skill_review import SkillOffer
    from lessonbook.core.skill import Skill

NOT_ALLOWED = (
    "Agents may not change skills here; a person allows it with `lessonbook config set autolearn.enabled true`. "
    "Nothing was changed."
)


class Asked(Value):
    """What an agent asks for; ``delete`` needs no more than the name."""

    action: Literal["create", "update", "delete"]
    name: str
    description: str = ""
    body: str = ""


class Managed(Value):
    """What was done: the sentence, the skill that was written or deleted, or the candidate that waits instead."""

    text: str
    skill: str | None = None
    pending: str | None = None


def manage(
    home: Path,
    settings: Settings,
    cwd: Path,
    asked: Asked,
    session_id: str,
    offer: SkillOffer,
) -> Managed:
    """Do what is asked to a managed skill.

    With ``autolearn.review`` on, what would be written is offered to the review queue by ``offer``. Raises
    ``SetupError`` where agents may not change skills, ``InputError`` for what cannot be done as asked (also a name that
    an authored skill claims), ``StoreError`` and ``BusyError``.
    """
    if not settings.autolearn_enabled:
        raise SetupError(NOT_ALLOWED)
    managed = managed_skills(settings.agent_dir)
    if asked.action == "delete":
        found = skill_name(asked.name)
        managed.delete(found)
        return Managed(f'Deleted managed skill "{found}". `lessonbook skills undo {found}` brings it back.', found)
    draft = SkillDraft(asked.action, asked.name, asked.description, asked.body)
    skill = prepare(draft, {"learned-by": "coding-agent-manage-skill", "learned-in-session": session_id})
    authored = authored_names(home, cwd).get(skill.name.casefold())
    if authored and asked.action == "create":
        raise InputError(
            f'Did not create managed skill "{skill.name}": the authored skill at {authored} has that name, and a '
            "managed skill never overrides an authored one, so choose a different name."
        )
    if settings.autolearn_review:
        candidate = offer(skill, draft.action, Scope.PROJECT)
        return Managed(f'Proposed skill "{skill.name}" for review as {candidate}.', pending=candidate)
    return _write(managed, draft, skill, authored)


def _write(managed: ManagedSkills, draft: SkillDraft, skill: Skill, authored: Path | None) -> Managed:
    managed.write(draft.action, skill)
    done = "Created" if draft.action == "create" else "Updated"
    hidden = f" The authored skill at {authored} has the same name and wins over it." if authored else ""
    return Managed(f'{done} managed skill "{skill.name}".{hidden}', skill.name)
