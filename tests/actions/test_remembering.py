"""Remembering: lessons with all their fields where a bank keeps them, plain notes while learning is off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lessonbook
from lessonbook import Lesson, Outcome, Receipt, open_memory
from lessonbook.actions.remembering import MOST, NOTE, NOTHING, SOURCE, Remembered, as_text, keep, lessons, remember
from lessonbook.core.errors import InputError, SetupError
from lessonbook.core.lesson import EMPTY, Recalled
from lessonbook.core.ports import Bank, Memory
from lessonbook.core.project import from_folder
from lessonbook.system.settings import Settings

Open = Callable[[str], Memory]
PROJECT = from_folder("/src/app")


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """``opened("local")``: a memory in this test's own folder."""
    return lambda backend: open_memory(Settings(tmp_path, memory_backend=backend), PROJECT, lambda: 1_000.0, "/src/app")


class Recording:
    """A memory of somebody else's making, which meets the Protocol and says what it was given."""

    name = "theirs"
    scopes = frozenset({"project"})

    def __init__(self, outcome: Outcome = Outcome.STORED) -> None:
        self.outcome = outcome
        self.kept: list[Lesson] = []

    def store(self, lesson: Lesson) -> Receipt:
        self.kept.append(lesson)
        return Receipt(self.outcome, id=str(len(self.kept)), notes=("Noted by theirs.",))

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        return ()

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        return ()

    def count(self) -> int:
        return len(self.kept)

    def close(self) -> None:
        return


def test_the_public_names(opened: Open) -> None:
    memory = opened("mnemopi")
    assert lessonbook.remember(memory, "Quote the path.").startswith("Lesson stored.")
    (found,) = lessonbook.lessons(memory)
    assert isinstance(found, lessonbook.Remembered) and found.lesson.text == "Quote the path." and found.at == 1_000.0


def test_every_field_reaches_the_memory() -> None:
    memory = Recording()
    told = remember(
        memory,
        "Quote <the> path.",
        title="Paths",
        tags=["shell", "shell", ""],
        key="paths",
        cue="a red build",
        component="ci",
        evidence="seen on 3 May",
        confidence=0.5,
        metadata={"session_id": "s-1"},
    )
    (kept,) = memory.kept
    assert kept == Lesson(
        "Quote the path.",
        source=SOURCE,
        metadata={"session_id": "s-1"},
        title="Paths",
        tags=("shell",),
        key="paths",
        cue="a red build",
        component="ci",
        evidence="seen on 3 May",
        confidence=0.5,
    )
    beside = "title, tags, key, cue, component, evidence, confidence"
    assert told == f"Lesson stored. The theirs memory keeps its words alone, not its {beside}. Noted by theirs."


def test_a_plain_note_while_learning_is_off() -> None:
    memory = Recording()
    told = remember(memory, "Port 80.", key="port", cue="c", component="d", evidence="e", confidence=1, learning=False)
    (kept,) = memory.kept
    assert (kept.cue, kept.component, kept.evidence, kept.confidence) == (None,) * 4
    assert (kept.key, kept.memory_type, kept.importance) == ("port", NOTE, 0.5)
    assert told.startswith("Note stored.")


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_what_is_listed(backend: str, opened: Open) -> None:
    memory = opened(backend)
    assert lessons(memory) == () and as_text(lessons(memory)) == NOTHING
    for text in ("One.", "Two.", "Three."):
        remember(memory, text)
    assert lessons(memory, learning=False) == ()
    assert [one.lesson.text for one in lessons(memory, 2)] == ["Three.", "Two."]
    assert as_text(lessons(memory, 2)).splitlines()[0].startswith("[lessonbook recall]")
    remember(memory, "A note.", learning=False)
    if isinstance(memory, Bank):
        assert [one.lesson.text for one in lessons(memory, 2)] == ["Three.", "Two."]
        (first, second, third) = lessons(memory, 3)
        assert lessons(memory, 2, after=first.id) == (second, third)
        assert lessons(memory, 2, after=third.id) == ()
        remember(memory, "Four.", key="number")
        assert "It takes the place of" in remember(memory, "Five.", key="number")
        assert [one.lesson.text for one in lessons(memory, 2)] == ["Five.", "Three."]
    else:
        with pytest.raises(InputError, match="lists its lessons at once"):
            lessons(memory, 2, after="1")


def test_told_again_it_is_kept_once(opened: Open) -> None:
    memory = opened("local")
    assert keep(memory, Lesson("One."))[0].outcome is Outcome.STORED
    receipt, said = keep(memory, Lesson("One."))
    assert (receipt.outcome, said, memory.count()) == (Outcome.DUPLICATE, "Lesson stored.", 1)


def test_what_is_queued_is_not_called_stored() -> None:
    assert remember(Recording(Outcome.QUEUED), "x").startswith("Lesson queued for retention.")


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        (" \x00\u200b", {}, EMPTY),
        ("x", {"confidence": 1.1}, "confidence must be from 0 to 1"),
        ("x", {"confidence": float("nan")}, "confidence must be from 0 to 1"),
    ],
)
def test_what_cannot_be_kept(text: str, more: dict[str, float], sentence: str) -> None:
    memory = Recording()
    with pytest.raises(InputError) as caught:
        remember(memory, text, **more)  # type: ignore[arg-type]
    assert sentence in str(caught.value) and not memory.kept


def test_what_the_memory_refuses_is_said(opened: Open) -> None:
    with pytest.raises(InputError, match="The theirs memory did not store it"):
        remember(Recording(Outcome.REFUSED), "x")
    with pytest.raises(SetupError, match="No memory is switched on"):
        remember(opened("off"), "x")
    for limit in (0, MOST + 1):
        with pytest.raises(InputError, match="must be from 1 to 100"):
            lessons(opened("local"), limit)


@given(st.text(), st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_a_line_stays_a_line(text: str, title: str, cue: str, tags: list[str]) -> None:
    lesson = Lesson(text, title=title, cue=cue, key=title, context=cue, tags=tuple(tags))
    shown = as_text([Remembered("1", lesson, "b", None)])
    assert len(shown.splitlines()) == 3 and shown.splitlines()[1].startswith("- ")


def test_secrets_go_no_further() -> None:
    memory = Recording()
    key = "sk-ant-api03-" + "Ab1" * 30
    told = remember(memory, f"The key is {key}.", title=key, evidence=key)
    assert key not in repr(memory.kept) and "3 secrets were redacted." in told
