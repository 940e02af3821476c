"""The ``learn`` tool with ``autolearn.review``: its skills wait in the right book, with where they come from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lessonbook.actions.learn import LearnSession, LearnTool
from lessonbook.actions.skill_review import skill_offer
from lessonbook.book import queue
from lessonbook.book.location import book_folder
from lessonbook.core.errors import LearnError
from lessonbook.memory.registry import open_memory
from lessonbook.system.projects import identify
from lessonbook.system.settings import Settings, places

NOW = 1_800_000_000
SKILL = {"action": "create", "name": "Release", "description": "When releasing.", "body": "Tag."}
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def tool(home: Path, tmp_path: Path) -> Iterator[LearnTool]:
    work = tmp_path / "work"
    work.mkdir()
    settings = Settings(home / "agent", autolearn_enabled=True, autolearn_review=True, memory_backend="mnemopi")
    memory = open_memory(settings, identify(work), lambda: NOW, work)
    offer = skill_offer(places(), work, f"session-1 {SECRET}", lambda: NOW, lambda: os.urandom(3).hex())
    made = LearnTool.create_if(settings, LearnSession(work, "session-1", memory, home, offer))
    assert made
    yield made
    memory.close()


def test_a_skill_waits_in_the_projects_book_and_the_same_call_offers_it_once(tool: LearnTool, tmp_path: Path) -> None:
    book = book_folder(places(), identify(tmp_path / "work"))
    for _ in range(2):
        result = tool.execute({"memory": "Tag first.", "skill": SKILL})
        [row] = queue.candidates(book)
        text = f'Lesson stored. Proposed skill "release" for review as {row.id}.'
        assert (result.content, result.is_error) == ([{"type": "text", "text": text}], False)
        assert result.details == {"skill": None, "pending": row.id}
    told = dict(row.trailers)
    assert told["Evidence-session"] == "session-1 [REDACTED]" and told["Evidence-dates"] == "2027-01-15"
    assert not (tmp_path / "home/agent/managed-skills").exists() and not places().learned.exists()
    assert queue.accept(book, row.id, NOW)["ok"]
    with pytest.raises(LearnError, match="Lesson stored, but the managed skill could not be written: the book holds"):
        tool.execute({"memory": "Tag first.", "skill": SKILL})


def test_a_global_lesson_takes_its_skill_to_the_global_book(tool: LearnTool) -> None:
    result = tool.execute({"memory": "Tag first.", "skill": SKILL, "scope": "global"})
    assert [row.id for row in queue.candidates(places().learned)] == [result.details["pending"]]


def test_a_secret_in_a_skill_never_reaches_the_book(tool: LearnTool, tmp_path: Path) -> None:
    tool.execute({"memory": "a", "skill": {**SKILL, "body": f"Use {SECRET}."}})
    book = book_folder(places(), identify(tmp_path / "work"))
    [row] = queue.candidates(book)
    assert "Use [REDACTED]." in queue.diff(book, row.id)["diff"]
