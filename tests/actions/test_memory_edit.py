"""A lesson as a file to edit: what is left as it was changes nothing, and no edit is lost to a slip."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.actions.memory_edit import CLEARABLE, as_file, changed, cleared, edit_in, time_of
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory

FULL = Lesson(
    "Use port 5433.", "ci", Scope.GLOBAL, importance=0.25, memory_type="procedure", title="Port: db",
    tags=("a, b", "c]"), key="port", cue='when "tests" fail', component="#db", evidence="- run 7", confidence=0.5,
    valid_until=2e9, branch="main",
)  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MnemopiMemory]:
    ticks = itertools.count(1_700_000_000)
    with closing(MnemopiMemory(tmp_path / "bank.db", "p-1", lambda: float(next(ticks)))) as opened:
        yield opened


def editor(*edits: Callable[[str], str]) -> Callable[[Mapping[str, bytes]], Mapping[str, bytes]]:
    """A person who makes these edits, one each time the file comes up, and then leaves it as it is."""
    left = iter(edits)
    return lambda files: {name: next(left, str)(data.decode()).encode() for name, data in files.items()}


def test_a_file_that_is_left_as_it_is_changes_nothing() -> None:
    for lesson in (FULL, Lesson("Run make.")):
        assert changed(lesson, as_file(lesson)) == {}


@settings(max_examples=150)
@given(st.text(min_size=1), st.none() | st.text(), st.lists(st.text(), max_size=3), st.none() | st.floats(0, 3e9))
def test_whatever_a_lesson_holds(text: str, title: str | None, tags: list[str], until: float | None) -> None:
    told = Lesson(text, title=title, cue=title, context=title, tags=tuple(tags), valid_until=until)
    lesson = tidy_lesson(told).lesson
    found = changed(lesson, as_file(lesson))
    # Times are written to the microsecond.
    assert set(found) <= {"valid_until"} and abs(float(str(found.get("valid_until", until or 0))) - (until or 0)) < 1e-5


def test_every_field_can_be_changed_and_cleared(memory: MnemopiMemory) -> None:
    memory.store(FULL)
    lines = {
        "title": "New", "context": "x", "key": "k", "cue": "y", "component": "z", "evidence": "e", "branch": "b",
        "tags": "one, two", "memory_type": "fact", "veracity": "stated", "scope": "project", "importance": "1",
        "confidence": "0", "valid_until": "2030-01-01",
    }  # fmt: skip
    block = "".join(f"{name}: {value}\n" for name, value in lines.items())
    document, _ = edit_in(editor(lambda text: f"---\n{block}---\n\nUse\nport 5434.\n"), memory, "1")
    kept = memory.get("1").lesson
    wanted = Lesson(
        "Use port 5434.", "x", importance=1.0, veracity="stated", title="New", tags=("one", "two"), key="k", cue="y",
        component="z", evidence="e", confidence=0.0, valid_until=1_893_456_000.0, branch="b",
    )  # fmt: skip
    assert document["changed"] and kept == wanted.but(metadata=kept.metadata)
    empty = "".join(f"{name}:\n" for name in CLEARABLE)
    edit_in(editor(lambda text: f"---\n{empty}---\nUse port 5434.\n"), memory, "1")
    kept = memory.get("1").lesson
    assert [getattr(kept, name) for name in CLEARABLE if name != "tags"] == [None] * (len(CLEARABLE) - 1)
    assert kept.tags == () and len(memory.history("1")) == 2


def test_a_field_that_was_taken_out_stays_as_it_was(memory: MnemopiMemory) -> None:
    memory.store(FULL)
    edit_in(editor(lambda text: "---\n---\nAnother text.\n"), memory, "1")
    assert memory.get("1").lesson.but(text=FULL.text) == FULL


def test_a_slip_comes_up_again_with_its_reason(memory: MnemopiMemory) -> None:
    memory.store(FULL)
    seen: list[str] = []

    def slip(text: str) -> str:
        return text.replace("importance: 0.25", "importance: 9").replace("Use port", "Take port")

    def correct(text: str) -> str:
        seen.append(text)
        return text.replace("importance: 9", "importance: 0.9")

    edit_in(editor(slip, correct), memory, "1")
    assert "# wrong: importance must be a number from 0 to 1" in seen[0] and "Take port" in seen[0]
    assert (memory.get("1").lesson.text, memory.get("1").lesson.importance) == ("Take port 5433.", 0.9)


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda text: text.replace("key: port", "keys: port"), "no field 'keys'"),
        (lambda text: text.replace("importance: 0.25", "importance: much"), "number from 0 to 1"),
        (lambda text: text.replace("confidence: 0.5", "confidence: nan"), "confidence must be"),
        (lambda text: text.replace("valid_until: 2", "valid_until: soon 2"), "not a date or time"),
        (lambda text: text.replace("memory_type: procedure", "memory_type:"), "memory_type must be"),
        (lambda text: text.replace("scope: global", "scope: everywhere"), "scope must be"),
        (lambda text: text.replace("key: port", "key: [a, b]"), "text on one line"),
        (lambda text: text.replace("---\n\nUse port 5433.", "---\n\n"), "would be empty"),
        (lambda text: "no block at all", "has no frontmatter"),
        (lambda text: "", "has no frontmatter"),
        (lambda text: text.replace("key: port", "key: port: port"), "not YAML"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(memory: MnemopiMemory, edit, why: str) -> None:
    memory.store(FULL)
    with pytest.raises(InputError, match=why):
        edit_in(editor(edit), memory, "1")
    assert memory.get("1").lesson == FULL and memory.history("1") == []


def test_an_editor_that_never_gets_it_right_is_not_asked_for_ever(memory: MnemopiMemory) -> None:
    memory.store(FULL)
    count = itertools.count()
    with pytest.raises(InputError):
        edit_in(editor(*[lambda text: f"broken {next(count)}"] * 100), memory, "1")
    assert next(count) < 20


def test_fields_by_name() -> None:
    assert cleared("tag", {}) == cleared("tags", {}) == {"tags": ()} and cleared("valid-until", {}) == {
        "valid_until": None
    }
    for name, others in (("text", {}), ("nothing", {}), ("importance", {}), ("cue", {"cue": "x"})):
        with pytest.raises(InputError):
            cleared(name, others)


@pytest.mark.parametrize(
    ("text", "at"),
    [("2027-01-31", 1_801_353_600.0), ("2027-01-31T01:00:00+01:00", 1_801_353_600.0), ("1801353600", 1_801_353_600.0)],
)
def test_times(text: str, at: float) -> None:
    assert time_of(text) == at


def test_what_is_no_time() -> None:
    for text in ("", "soon", "2027-13-01", "nan", "inf"):
        with pytest.raises(InputError, match="not a date or time"):
            time_of(text)
