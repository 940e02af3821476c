"""A skill an agent wrote goes to the queue once, whatever became of it there."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lessonbook.book import queue
from lessonbook.book.skill_offer import offer_skill
from lessonbook.core.errors import InputError
from lessonbook.core.skill import Skill, SkillDraft, prepare

if TYPE_CHECKING:
    from lessonbook.core.skill import Action

NOW = 1_800_000_000


def skill(body: str = "Do it.", session: str = "one") -> Skill:
    return prepare(SkillDraft("create", "release", "When releasing.", body), {"learned-in-session": session})


def offered(folder: Path, item: Skill, action: Action = "create") -> str:
    return offer_skill(folder, item, action, (("Proposer", "learn"),), NOW, lambda: os.urandom(3).hex())


def test_the_same_skill_is_offered_once_also_from_another_session(tmp_path: Path) -> None:
    book = tmp_path / "learned"
    one = offered(book, skill())
    assert offered(book, skill(session="two")) == one == offered(book, skill(), "update")
    [row] = queue.candidates(book)
    assert (row.id, row.files, row.subject) == (
        one,
        ("skills/release/SKILL.md",),
        "Lesson from a replay: Skill release",
    )
    assert ("Proposer", "learn") in row.trailers and row.stale is None
    with pytest.raises(InputError, match=f"waits for review as {one}"):
        offered(book, skill("Do it twice."))


def test_calls_side_by_side_offer_it_once(tmp_path: Path) -> None:
    book = tmp_path / "learned"
    with ThreadPoolExecutor(6) as pool:
        ids = set(pool.map(lambda n: offered(book, skill(session=str(n))), range(6)))
    assert ids == {row.id for row in queue.candidates(book)} and len(ids) == 1


def test_what_a_person_rejected_stays_rejected(tmp_path: Path) -> None:
    book = tmp_path / "learned"
    one = offered(book, skill())
    assert queue.reject(book, one)["ok"]
    with pytest.raises(InputError, match=f"rejected this very skill, as {one}"):
        offered(book, skill(session="two"))
    assert offered(book, skill("Another way.")) != one


def test_what_the_book_holds_is_updated_not_created(tmp_path: Path) -> None:
    book = tmp_path / "learned"
    assert queue.accept(book, offered(book, skill()), NOW)["ok"]
    file = book / "skills/release/SKILL.md"
    with pytest.raises(InputError, match="just like this"):
        offered(book, skill(session="two"), "update")
    with pytest.raises(InputError, match='use the action "update"'):
        offered(book, skill("Do it twice."))
    assert queue.accept(book, offered(book, skill("Do it twice."), "update"), NOW)["ok"]
    assert file.read_text().endswith("\nDo it twice.\n")
    assert queue.accept(book, offered(book, skill(), "update"), NOW)["ok"]  # and back again
    assert file.read_text().endswith("\nDo it.\n")
