"""Every skill we write is one the specification's own checker takes, whatever an agent sends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import skills_ref
from hypothesis import event, given, settings
from hypothesis import strategies as st

from lessonbook import LearnError, LearnSession, LearnTool, Settings, open_memory
from lessonbook.actions.skill_review import skill_offer
from lessonbook.book import queue
from lessonbook.core.project import from_folder
from lessonbook.system.settings import places

NOW = 1_800_000_000.0
ODD = [
    "yes",
    "1e3",
    "2027-01-31",
    "null",
    "~",
    "a: b",
    "a #b",
    "- a",
    "'",
    '"',
    "&a",
    "*a",
    "%a",
    "@a",
    "{a}",
    "[a]",
    "|",
    ">",
]
WORDS = st.text(max_size=60) | st.sampled_from(ODD) | st.lists(st.sampled_from(ODD), max_size=4).map(" ".join)
SAID = WORDS.map("Use when {} comes up.".format)
NAMES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True) | st.sampled_from(
    ["null", "1e3", "yes", "2027"]
)


@pytest.mark.parametrize("review", [False, True])
@settings(max_examples=60, deadline=None)
@given(
    name=NAMES | WORDS,
    description=WORDS | SAID,
    body=WORDS | SAID | st.just("---\nname: evil\n---\n\nx"),
    session=WORDS,
)
def test_the_reference_takes_what_learn_wrote(
    tmp_path_factory: pytest.TempPathFactory, review: bool, name: str, description: str, body: str, session: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    where = places({"HOME": str(home)})
    configured = Settings(home / "agent", autolearn_enabled=True, autolearn_review=review, memory_backend="local")
    memory = open_memory(configured, from_folder(str(home)), lambda: NOW, home)
    offer = skill_offer(where, home, session, lambda: NOW, lambda: os.urandom(3).hex())
    tool = LearnTool(configured, LearnSession(home, session, memory, home, offer))
    skill = {"action": "create", "name": name, "description": description, "body": body}
    try:
        said = tool.execute({"memory": "A lesson.", "skill": skill, "scope": None})
    except LearnError as error:
        assert str(error).startswith("Lesson stored, but the managed skill could not be written: ")
        assert not list(home.rglob("SKILL.md"))
        event("refused")
        return
    event("written")
    if review:
        folder = next(home.glob(".config/lessonbook/**/.git")).parent
        assert queue.accept(folder, said.details["pending"], NOW + 60)["ok"], said
    (written,) = home.rglob("SKILL.md")
    assert skills_ref.validate(written.parent) == []
    read = skills_ref.read_properties(written.parent)
    assert read.name == written.parent.name == name.strip().lower()


def test_and_what_was_accepted_and_published(run, home: Path) -> None:
    for folder in (".codex", ".cursor"):
        (home / folder).mkdir()
    for key, value in (("memory.backend", "mnemopi"), ("autolearn.enabled", "true"), ("autolearn.review", "true")):
        assert run("config", "set", key, value).returncode == 0
    draft = home / "draft.md"
    draft.write_text("---\nname: ship-it\ndescription: 'When it: ships'\n---\n\n1. Look.\n")
    said = run("learn", "Look first.", "--skill", str(draft), "--scope", "global").stdout
    assert "for review as" in said
    assert run("learned", "accept", said.strip().rstrip(".").rpartition(" ")[2]).returncode == 0
    assert run("setup", "codex", "cursor", "--yes").returncode == 0
    run("skills", "publish")
    written = {str(path.relative_to(home)): path.parent for path in home.rglob("SKILL.md")}
    written[".agents"] = home / ".agents/skills/ship-it"
    assert {".config/lessonbook/learned/skills/ship-it/SKILL.md", ".cursor/skills/ship-it/SKILL.md"} <= written.keys()
    for path in written.values():
        assert skills_ref.validate(path) == [], path
