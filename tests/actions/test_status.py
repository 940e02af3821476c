"""One look at books, memory, skills and switches; what is broken is a sentence in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lessonbook.actions.status import status
from lessonbook.book.offer import Offer, offer
from lessonbook.core.lesson import Lesson
from lessonbook.memory.registry import open_memory
from lessonbook.system.projects import identify
from lessonbook.system.settings import load, places

NOW = 1_798_675_200.0


def test_a_new_machine(home: Path, tmp_path: Path) -> None:
    found = status(places(), load(places()), tmp_path, NOW)
    assert (found.learning, found.autolearn, found.memory, found.lessons) == (True, False, "off", None)
    assert [(book.book, book.head, book.pending) for book in found.books] == [
        ("global", None, 0),
        (identify(tmp_path).slug, None, 0),
    ]
    assert found.troubles == () and found.skills == {"authored": 0, "learned": 0, "managed": 0}


def test_what_there_is_is_counted(home: Path, tmp_path: Path, commit: Callable[..., Path]) -> None:
    folder = commit({"AGENTS.md": "Ten chars\n", "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n\nx\n"})
    commit({"AGENTS.md": "x\n"}, "elsewhere-00000000")
    offer(
        folder,
        [Offer("one", rule="A rule."), Offer("two", rule="Another.")],
        int(NOW),
        iter(["0a0a0a", "0b0b0b"]).__next__,
    )
    settings = replace(load(places()), memory_backend="mnemopi")
    memory = open_memory(settings, identify(tmp_path), lambda: NOW, tmp_path)
    memory.store(Lesson("One lesson"))
    memory.close()
    found = status(places(), settings, tmp_path, NOW)
    assert (found.lessons, found.skills["learned"]) == (1, 1)
    first, *others = found.books
    assert (first.book, first.pending, first.stale, first.characters, first.skills) == ("global", 2, 0, 10, 1)
    assert first.head and len(first.head) == 7
    assert {book.book: book.counts_here for book in others} == {
        "elsewhere-00000000": False,
        identify(tmp_path).slug: True,
    }


def test_what_is_broken_is_said(home: Path, tmp_path: Path, commit: Callable[..., Path]) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    (folder / ".git/HEAD").write_bytes(b"garbage")
    bank = places().data / "agent/bank.db"
    bank.parent.mkdir(parents=True)
    bank.write_bytes(b"no database " * 500)
    found = status(places(), replace(load(places()), memory_backend="mnemopi"), tmp_path, NOW)
    assert found.books[0].trouble and found.lessons is None
    assert found.troubles[0].startswith("memory: ")
