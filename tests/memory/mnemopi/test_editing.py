"""Lessons are read and changed one by one; every change is kept and can be taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Lesson, Outcome, Scope
from lessonbook.core.ports import Bank
from lessonbook.memory.mnemopi import checks
from lessonbook.memory.mnemopi.bank import MnemopiMemory

KEY = "sk-ant-api03-" + "Zq8" * 30 + "AA"
EDITS: dict[str, Callable[[MnemopiMemory, str], object]] = {
    "update": lambda memory, one: memory.update(one, {"text": "Use uv to install.", "tags": ["uv"], "title": "uv"}),
    "forget": lambda memory, one: memory.forget(one),
    "invalidate": lambda memory, one: memory.invalidate(one),
    "pin": lambda memory, one: memory.pin(one),
    "scope": lambda memory, one: memory.update(one, {"scope": "global"}),
}


def stored(memory: MnemopiMemory, text: str, **fields: object) -> str:
    receipt = memory.store(Lesson(text, **fields))  # type: ignore[arg-type]
    assert receipt.id is not None
    return receipt.id


def texts(memory: MnemopiMemory, query: str) -> list[str]:
    return [found.text for found in memory.recall(query, 20)]


def problems(memory: MnemopiMemory) -> list[str]:
    with closing(sqlite3.connect(memory._file.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        return [one.said for one in checks.look(db, memory._vectors, deep=True) if one.problem]


def test_it_is_a_bank(memory: MnemopiMemory) -> None:
    assert isinstance(memory, Bank)


def test_every_field_comes_back(memory: MnemopiMemory) -> None:
    lesson = Lesson(
        "Use make test.",
        "CI run 7",
        importance=0.4,
        veracity="stated",
        memory_type="preference",
        metadata={"cwd": "/x"},
        title="Tests",
        tags=("ci", "tests"),
        key="how-to-test",
        cue="when running tests",
        component="build",
        evidence="the log of run 7",
        confidence=0.7,
        valid_until=1_900_000_000.0,
        branch="main",
    )
    receipt = memory.store(lesson)
    assert receipt.id is not None
    assert memory.get(receipt.id).lesson == lesson


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_can_be_undone_and_is_in_the_history(memory: MnemopiMemory, edit: str) -> None:
    one = stored(memory, "Use pip to install.", title="pip", tags=("pip",))
    before, found = memory.get(one), texts(memory, "pip install")
    EDITS[edit](memory, one)
    assert memory.get(one) != before
    assert problems(memory) == []
    after = memory.undo(one)
    assert after == before
    assert texts(memory, "pip install") == found
    assert [change.undone for change in memory.history(one)] == [True]
    assert problems(memory) == []
    with pytest.raises(InputError, match="no change to undo"):
        memory.undo(one)


def test_undo_goes_back_step_by_step(memory: MnemopiMemory) -> None:
    one = stored(memory, "a1")
    for text in ("a2", "a3", "a4"):
        memory.update(one, {"text": text})
    assert [memory.undo(one).lesson.text for _ in range(3)] == ["a3", "a2", "a1"]


def test_what_is_forgotten_is_never_recalled_and_comes_back_when_told_again(memory: MnemopiMemory) -> None:
    one = stored(memory, "The linter is ruff.")
    memory.forget(one)
    assert (texts(memory, "linter"), memory.recent(), memory.count()) == ([], [], 0)
    assert [kept.id for kept in memory.lessons(forgotten=True)] == [one]
    with pytest.raises(InputError, match="forgotten already"):
        memory.forget(one)
    receipt = memory.store(Lesson("The linter is ruff."))
    assert (receipt.outcome, receipt.id) == (Outcome.DUPLICATE, one)
    assert "had been forgotten" in receipt.notes[0]
    assert texts(memory, "linter") == ["The linter is ruff."]


def test_what_no_longer_holds_is_marked_and_comes_after_what_does(memory: MnemopiMemory) -> None:
    old = stored(memory, "Node is version 18 here.")
    new = stored(memory, "Node is version 20 here.")
    memory.invalidate(old, new)
    found = memory.recall("which node version", 5)
    assert [one.id for one in found] == [new, old]
    assert found[1].marks == (f"lesson {new} took its place",)
    assert [one.id for one in memory.recent()] == [new]
    with pytest.raises(InputError, match="replaces itself"):
        memory.invalidate(new, old)


def test_the_same_key_replaces(memory: MnemopiMemory) -> None:
    one = stored(memory, "Deploys go out on Friday.", key="deploy-day")
    receipt = memory.store(Lesson("Deploys go out on Monday.", key="deploy-day"))
    assert (receipt.id, receipt.outcome) == (one, Outcome.STORED)
    assert "takes the place" in receipt.notes[0]
    assert (memory.count(), texts(memory, "deploys")) == (1, ["Deploys go out on Monday."])
    assert memory.undo(one).lesson.text == "Deploys go out on Friday."
    assert problems(memory) == []


def test_a_key_moves_to_the_lesson_that_already_says_so(memory: MnemopiMemory) -> None:
    old = stored(memory, "Use tabs.", key="indent")
    new = stored(memory, "Use spaces.")
    assert memory.store(Lesson("Use spaces.", key="indent")).id == new
    assert memory.get(new).lesson.key == "indent"
    assert (memory.get(old).superseded_by, memory.get(old).lesson.key) == (new, None)
    assert memory.count() == 2


def test_two_lessons_never_get_one_text_or_key(memory: MnemopiMemory) -> None:
    first, second = stored(memory, "first", key="k"), stored(memory, "second")
    for changes in ({"text": "first"}, {"key": "k"}):
        with pytest.raises(InputError, match="already has this"):
            memory.update(second, changes)
    memory.update(first, {"text": "third"})
    memory.update(second, {"text": "first"})
    with pytest.raises(InputError, match="already has this"):
        memory.undo(first)
    assert [memory.get(one).lesson.text for one in (first, second)] == ["third", "first"]


WRONG: list[dict[str, object]] = [
    {},
    {"id": "3"},
    {"text": 3},
    {"text": "  \x00 "},
    {"confidence": 2},
    {"importance": True},
    {"tags": "a"},
    {"veracity": "sure"},
    {"scope": "all"},
    {"valid_until": float("nan")},
    {"metadata": {"a": 1}},
    {"memory_type": "A b"},
]


@pytest.mark.parametrize("changes", WRONG)
def test_a_change_that_cannot_be_changes_nothing(memory: MnemopiMemory, changes: dict[str, object]) -> None:
    one = stored(memory, "as it is")
    before = memory.get(one)
    with pytest.raises(InputError):
        memory.update(one, changes)
    assert (memory.get(one), memory.history(one)) == (before, [])


@pytest.mark.parametrize("lesson", ["", "0", "99", "-1", "x", "1.0", "٣", "9" * 40, "1; DROP TABLE lessons"])
def test_an_id_that_is_not_there_is_said(memory: MnemopiMemory, lesson: str) -> None:
    stored(memory, "here")
    with pytest.raises(InputError, match="There is no lesson"):
        memory.get(lesson)


def test_another_projects_lessons_can_be_neither_seen_nor_changed(path: Path, clock: Callable[[], float]) -> None:
    with closing(MnemopiMemory(path, "a-1", clock)) as one, closing(MnemopiMemory(path, "b-2", clock)) as two:
        own, shared = stored(one, "of a"), stored(one, "of all", scope=Scope.GLOBAL)
        assert two.get(shared).lesson.text == "of all"
        for act in (two.get, two.forget, two.pin, two.undo, two.history, two.erase):
            with pytest.raises(InputError, match="There is no lesson"):
                act(own)


def test_pages_of_lessons_join_without_a_gap(memory: MnemopiMemory) -> None:
    told = [stored(memory, f"lesson {n}") for n in range(25)]
    seen: list[str] = []
    while page := memory.lessons(10, after=seen[-1] if seen else None):
        seen += [one.id for one in page]
    assert seen == told[::-1]


def test_secrets_stay_out_of_every_field_and_of_the_history(memory: MnemopiMemory, path: Path) -> None:
    one = stored(memory, f"key {KEY} is set", context=KEY, title=KEY, tags=(KEY,), cue=KEY, evidence=KEY, component=KEY)
    memory.update(one, {"text": f"now {KEY}", "evidence": KEY, "metadata": {"a": KEY}})
    memory.forget(one)
    memory.close()
    held = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"Zq8Zq8" not in held


def test_what_is_erased_leaves_no_trace_in_the_file(memory: MnemopiMemory, path: Path) -> None:
    keep = [stored(memory, f"a lesson to keep {n}") for n in range(50)]
    one = stored(memory, "Xylophonic quagmire of Zwischenzug.", context="told in Kwyjibo")
    memory.update(one, {"title": "Xylophonic", "text": "Quagmire and Zwischenzug"})
    memory.invalidate(keep[0], one)
    memory.erase(one)
    for held in (file.read_bytes().lower() for file in path.parent.iterdir()):
        assert not [word for word in (b"xylophon", b"quagmir", b"zwischenzug", b"kwyjibo") if word in held]
    assert memory.count() == 50
    assert memory.get(keep[0]).superseded_by is None
    assert problems(memory) == []


WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
VERBS = st.sampled_from(["tell", "key", "update", "forget", "invalidate", "pin", "undo"])
ACTS = st.lists(st.tuples(VERBS, st.integers(0, 5), WORDS), max_size=25)


@given(acts=ACTS)
@settings(max_examples=40, deadline=None)
def test_whatever_is_done_in_whatever_order_index_and_rows_agree(
    acts: list[tuple[str, int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ticks = iter(range(10**6))
    with closing(
        MnemopiMemory(tmp_path_factory.mktemp("bank") / "bank.db", "p-1", lambda: float(next(ticks)))
    ) as memory:
        memory.store(Lesson("first of all"))
        for verb, number, word in acts:
            try:
                if verb in ("tell", "key"):
                    memory.store(Lesson(f"{word} {number}", word, key=word if verb == "key" else None))
                elif verb == "update":
                    memory.update(str(number), {"text": f"{word} {number % 2}", "cue": word})
                else:
                    getattr(memory, verb)(str(number))
            except InputError:
                continue
        assert problems(memory) == []
        recalled = {one.id for word in ("alpha", "beta", "gamma", "delta") for one in memory.recall(word, 50)}
        assert recalled <= {kept.id for kept in memory.lessons(1_000)}
        assert not recalled & {kept.id for kept in memory.lessons(1_000, forgotten=True)}
