"""How often lessons were recalled is counted, and nobody who only recalls writes to the bank for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi import recalls
from lessonbook.memory.mnemopi.bank import MnemopiMemory


@pytest.fixture
def opened(path: Path, clock: Callable[[], float]) -> Callable[[], MnemopiMemory]:
    return lambda: MnemopiMemory(path, "p-1", clock)


def beside(path: Path) -> Path:
    return path.with_name(path.name + recalls.BESIDE)


def test_a_program_that_only_recalls_leaves_the_bank_as_it_is(opened: Callable[[], MnemopiMemory], path: Path) -> None:
    with closing(opened()) as memory:
        memory.store_many([Lesson("Quote every path."), Lesson("Use pnpm.")])
    before = path.read_bytes()
    for _ in range(3):
        with closing(opened()) as memory:
            memory.recall("quote paths", 1)
            memory.recall("quote", 1)
    assert path.read_bytes() == before and len(beside(path).read_text().splitlines()) == 3
    with closing(opened()) as memory:
        assert memory.care.show("1").kept.recalled == 6
        assert memory.care.show("1").kept.recalled == 6, "no line counts twice"
        assert memory.care.show("2").kept.recalled == 0
    assert not beside(path).exists()


def test_who_tells_a_lesson_takes_what_others_noted(opened: Callable[[], MnemopiMemory], path: Path) -> None:
    with closing(opened()) as memory:
        memory.store(Lesson("Quote every path."))
    with closing(opened()) as memory:
        memory.recall("quote")
    with closing(opened()) as memory:
        memory.store(Lesson("Use pnpm."))
        assert not beside(path).exists() and memory.get("1").recalled == 1


def test_what_else_stands_in_the_file_is_passed_over(opened: Callable[[], MnemopiMemory], path: Path) -> None:
    with closing(opened()) as memory:
        memory.store(Lesson("Quote every path."))
    beside(path).write_bytes(b"\xff\x00\n10 x\n10\n" + b"9" * 50 + b" 1\n10 1 1 77\n20 " + b"9" * 40 + b"\n10 1 2")
    with closing(opened()) as memory:
        kept = memory.care.show("1").kept
    assert (kept.recalled, kept.recalled_at) == (3, 10.0)


def test_a_bank_set_aside_takes_its_counts_along(opened: Callable[[], MnemopiMemory], path: Path) -> None:
    with closing(opened()) as memory:
        memory.store(Lesson("Quote every path."))
    beside(path).write_bytes(b"10 1\n")
    path.write_bytes(b"nonsense" * 1_000)
    with closing(opened()) as memory:
        memory.store(Lesson("Use pnpm."))
        assert memory.get("1").recalled == 0
    assert [each for each in path.parent.iterdir() if each.name.endswith(recalls.BESIDE)] != [beside(path)]
