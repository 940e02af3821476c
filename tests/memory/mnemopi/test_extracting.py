"""A model adds what lessons name and state while nobody waits; what it says wrong, or does not say, costs nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.errors import ModelError
from lessonbook.core.lesson import Lesson
from lessonbook.memory import extracting
from lessonbook.memory.mnemopi.bank import MnemopiMemory

TEXT = "The Gizmo box needs the blue cable."


@pytest.fixture
def bank(path: Path, clock: Callable[[], float]) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(path, "p-1", clock)) as opened:
        yield opened


def named(*values: str) -> str:
    return json.dumps({"entities": [{"kind": "tool", "value": value} for value in values]})


def names(bank: MnemopiMemory, lesson: str) -> list[str]:
    return sorted(entity.value for entity in bank.care.show(lesson).entities)


def test_what_a_model_reads_is_noted_once_for_each_lesson(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson(TEXT), Lesson("Run `make lint` before the Frobber.")])
    prompts: list[str] = []

    def chat(prompt: str, /) -> str:
        prompts.append(prompt)
        return named("Gizmo" if "Gizmo" in prompt else "Frobber")

    found = bank.care.extract(chat)
    assert (found.lessons, found.refused, found.left, found.problem) == (2, 0, 0, "")
    assert "Frobber" in prompts[0] and "Gizmo" in prompts[1], "the newest first"
    assert names(bank, "1") == ["Gizmo"] and {"Frobber", "make lint"} <= set(names(bank, "2"))
    assert bank.care.extract(chat).lessons == 0 and len(prompts) == 2
    bank.update("1", {"text": "The Gizmo box needs the red cable."})
    assert names(bank, "1") == [], "the rules alone, until it is asked again"
    assert bank.care.extract(chat).lessons == 1 and names(bank, "1") == ["Gizmo"]


def test_only_so_many_at_a_time_and_only_this_projects(
    bank: MnemopiMemory, path: Path, clock: Callable[[], float]
) -> None:
    with closing(MnemopiMemory(path, "p-2", clock)) as other:
        other.store(Lesson("Of another project."))
    bank.store_many([Lesson(f"Box {n} hums.") for n in range(extracting.AT_ONCE + 3)])
    found = bank.care.extract(lambda _: named())
    assert (found.lessons, found.left) == (extracting.AT_ONCE, 3)
    assert (bank.care.extract(lambda _: named()).lessons, bank.care.extract(lambda _: named()).lessons) == (3, 0)


def test_an_answer_of_no_use_leaves_the_rules_and_the_others(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson(TEXT), Lesson("Use pnpm in the web folder.")])
    before = names(bank, "2")
    found = bank.care.extract(lambda prompt: named("Gizmo") if "Gizmo" in prompt else "no idea")
    assert (found.lessons, found.refused, found.problem) == (1, 1, "")
    assert names(bank, "1") == ["Gizmo"] and names(bank, "2") == before
    assert bank.care.extract(lambda _: pytest.fail("asked again")).lessons == 0


def test_a_model_that_does_not_answer_ends_it_and_is_asked_again(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson(TEXT), Lesson("Another box hums.")])

    def silent(_: str, /) -> str:
        raise ModelError("the editor model is away")

    found = bank.care.extract(silent)
    assert (found.lessons, found.left) == (0, 2) and "the editor model is away" in found.problem
    assert bank.care.extract(lambda _: named()).lessons == 2


def test_a_lesson_changed_while_the_model_reads_keeps_what_it_then_says(bank: MnemopiMemory) -> None:
    bank.store(Lesson(TEXT))

    def slow(_: str, /) -> str:
        bank.update("1", {"text": "Use pnpm in the web folder."})
        return named("Gizmo")

    assert bank.care.extract(slow).lessons == 0
    assert "Gizmo" not in names(bank, "1") and "pnpm" in names(bank, "1")


def test_contradictions_it_brings_to_light_are_counted_and_listed(bank: MnemopiMemory) -> None:
    bank.store_many([Lesson("The Gizmo wants blue cables."), Lesson("The Gizmo wants no blue cables at all.")])
    assert bank.care.contradictions() == []

    def chat(prompt: str, /) -> str:
        positive = "no blue" not in prompt
        return json.dumps({"facts": [{"relation": "use", "object": "blue cables", "positive": positive}]})

    assert bank.care.extract(chat).contradictions == 1
    assert [(one.newer, one.older) for one in bank.care.contradictions()] == [("2", "1")]


def test_an_erased_lesson_leaves_nothing_of_it(bank: MnemopiMemory) -> None:
    bank.store(Lesson(TEXT))
    bank.care.extract(lambda _: named("Gizmo"))
    bank.erase("1")
    assert bank.care.stats().states["all"] == 0 and all(not one.problem for one in bank.care.diagnose(deep=True))
