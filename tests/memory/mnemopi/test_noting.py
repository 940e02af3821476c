"""What lessons name and state is kept with them, and what cannot both hold is said, never merged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory.mnemopi.bank import MnemopiMemory


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def test_what_a_lesson_names_is_linked_to_it_and_follows_its_text(memory: MnemopiMemory, path: Path) -> None:
    memory.store(Lesson("Run `pnpm install` before editing src/app.ts."))
    found = rows(path, "SELECT kind, key FROM entities WHERE lesson = 1")
    assert ("file", "src/app.ts") in found
    assert ("tool", "pnpm") in found
    memory.update("1", {"text": "Edit src/main.ts only."})
    found = rows(path, "SELECT kind, key FROM entities WHERE lesson = 1")
    assert ("file", "src/main.ts") in found
    assert ("tool", "pnpm") not in found
    memory.undo("1")
    assert ("tool", "pnpm") in rows(path, "SELECT kind, key FROM entities WHERE lesson = 1")


PAIRS = [
    ("Use pnpm.", "Do not use pnpm."),
    ("Node is version 18.", "Node is version 20."),
    ("Always squash commits.", "Never squash commits."),
]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_what_cannot_both_hold_is_said_and_both_are_kept(memory: MnemopiMemory, path: Path, old: str, new: str) -> None:
    first = memory.store(Lesson(old))
    receipt = memory.store(Lesson(new))
    assert [note for note in receipt.notes if note.startswith(f"It may contradict lesson {first.id}")]
    assert rows(path, "SELECT newer, older FROM contradictions") == [(2, 1)]
    assert memory.count() == 2


def test_other_projects_and_lessons_that_no_longer_hold_are_not_compared(path: Path) -> None:
    with (
        closing(MnemopiMemory(path, "a-1", lambda: 1.0)) as one,
        closing(MnemopiMemory(path, "b-2", lambda: 1.0)) as two,
    ):
        one.store(Lesson("Use pnpm."))
        assert two.store(Lesson("Do not use pnpm.")).notes == ()
        one.forget("1")
        assert one.store(Lesson("Do not use pnpm.")).notes == ()
        one.store(Lesson("Use tabs.", scope=Scope.GLOBAL))
        assert len(two.store(Lesson("Do not use tabs.")).notes) == 1
