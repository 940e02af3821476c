"""Managed skills for an agent that asks for just that: allowed by a person, never over an authored one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.managing import Asked, Managed, manage
from lessonbook.core.errors import InputError, SetupError
from lessonbook.system.settings import Settings

BODY = {"description": "When releasing.", "body": "Tag first."}


@pytest.fixture
def ask(tmp_path: Path, home: Path) -> Any:
    """``ask("create", "name", review=True)``: what an agent asks, in a folder of its own."""

    def asked(action: Any, name: str, *, on: bool = True, review: bool = False, **fields: str) -> Managed:
        settings = Settings(tmp_path / "agent", autolearn_enabled=on, autolearn_review=review)
        offered = Asked(action, name, **({} if action == "delete" else BODY | fields))
        return manage(home, settings, tmp_path, offered, "s-1", lambda skill, action, scope: f"{skill.name}-{action}")

    return asked


def test_create_update_delete(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "agent" / "managed-skills" / "ship-it" / "SKILL.md"
    assert ask("create", " Ship-It ") == Managed('Created managed skill "ship-it".', "ship-it")
    assert "Tag first." in file.read_text() and "learned-in-session: s-1" in file.read_text()
    assert ask("update", "ship-it", body="Tag last.").text == 'Updated managed skill "ship-it".'
    assert "Tag last." in file.read_text()
    told = ask("delete", "ship-it")
    assert told.text.startswith('Deleted managed skill "ship-it".') and not file.exists()


@pytest.mark.parametrize(
    ("action", "name", "fields", "sentence"),
    [
        ("update", "none", {}, "does not exist"),
        ("delete", "none", {}, "does not exist"),
        ("delete", "../none", {}, "is not a skill name"),
        ("create", "部署流程", {}, "is not a skill name"),
        ("create", "x", {"body": " "}, "needs a non-empty body"),
        ("create", "x", {"description": ""}, "needs a non-empty description"),
        ("create", "x", {"body": "あ" * 21_400}, "the limit is 64,000"),
    ],
)
def test_what_cannot_be_done(
    action: str, name: str, fields: dict[str, str], sentence: str, ask: Any, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        ask(action, name, **fields)
    assert not list(tmp_path.rglob("SKILL.md"))


def test_an_authored_skill_is_never_overridden(ask: Any, home: Path) -> None:
    authored = home / ".claude" / "skills" / "ship-it" / "SKILL.md"
    ask("create", "ship-it")
    authored.parent.mkdir(parents=True)
    authored.write_text("---\nname: ship-it\ndescription: d\n---\n\nMine.\n")
    assert "has the same name and wins over it." in ask("update", "ship-it").text
    ask("delete", "ship-it")
    with pytest.raises(InputError, match="choose a different name"):
        ask("create", "ship-it")
    with pytest.raises(InputError, match="does not exist"):
        ask("delete", "ship-it")
    assert authored.read_text().endswith("Mine.\n")


def test_with_review_on_it_waits(ask: Any, tmp_path: Path) -> None:
    told = ask("create", "ship-it", review=True)
    assert told == Managed('Proposed skill "ship-it" for review as ship-it-create.', None, "ship-it-create")
    assert not list(tmp_path.rglob("SKILL.md"))


@pytest.mark.parametrize("action", ["create", "update", "delete"])
def test_only_where_a_person_allowed_it(action: str, ask: Any, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"autolearn\.enabled true"):
        ask(action, "ship-it", on=False)
    assert not (tmp_path / "agent").exists()
