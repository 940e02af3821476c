"""The verbs on skills, from settings to rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lessonbook.actions import skills
from lessonbook.core.errors import InputError
from lessonbook.core.skill import SkillDraft, prepare
from lessonbook.skills.managed import managed_skills
from lessonbook.system.settings import Settings, places

LEARNED = {"skills/b/SKILL.md": b"---\nname: b\ndescription: Learned\n---\nx\n"}


def make(settings: Settings, body: str = "one") -> None:
    action = "update" if body != "one" else "create"
    draft = SkillDraft(action, "a", "Managed", body)  # type: ignore[arg-type]
    managed_skills(settings.agent_dir).write(action, prepare(draft, {}))  # type: ignore[arg-type]


def test_every_origin_is_listed_and_learned_ones_only_while_learning_is_on(home: Path) -> None:
    settings = Settings(agent_dir=home / "agent")
    make(settings)
    own = home / ".claude" / "skills" / "c" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\nname: c\ndescription: Authored\n---\n")
    listed = skills.list_skills(places(), settings, None, LEARNED)
    assert [(found.name, found.origin, found.description) for found in listed.skills] == [
        ("a", "managed", "Managed"),
        ("b", "learned", "Learned"),
        ("c", "authored", "Authored"),
    ]
    off = skills.list_skills(places(), replace(settings, learning=False), None, LEARNED)
    assert [found.name for found in off.skills] == ["a", "c"]


def test_the_past_of_a_skill_is_seen_undone_and_deleted(home: Path) -> None:
    settings = Settings(agent_dir=home / "agent")
    make(settings)
    make(settings, "two")
    assert [version.number for version in skills.skill_history(settings, "a")] == [1, 2]
    assert skills.read_version(settings, "a", 1).endswith("\n\none\n")
    with pytest.raises(InputError, match="no version 9"):
        skills.read_version(settings, "a", 9)
    assert skills.undo_skill(settings, "a").read_text().endswith("\n\none\n")
    assert skills.undo_skill(settings, "a", to=2).read_text().endswith("\n\ntwo\n")
    skills.delete_skill(settings, "a")
    assert skills.list_skills(places(), settings, None).skills == ()
    assert skills.undo_skill(settings, "a").read_text().endswith("\n\ntwo\n")
