"""Lessons go out of a bank and into another one whole, and however often they come, each is there once."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.care import Imported, Taken
from lessonbook.core.lesson import VERACITIES, Lesson, Scope
from lessonbook.memory.importing import bank_db, json_lines
from lessonbook.memory.importing.values import ReadProblem
from lessonbook.memory.mnemopi.bank import MnemopiMemory

NOW = 1_700_000_000.0


def clock() -> Callable[[], float]:
    ticks = itertools.count(1_700_000_000)
    return lambda: next(ticks) + 0.25


@pytest.fixture
def other(tmp_path: Path) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(tmp_path / "other" / "bank.db", "p-1", clock())) as opened:
        yield opened


def lines(memory: MnemopiMemory) -> list[str]:
    with memory.care.exported(forgotten=True, every_bank=True) as found:
        return list(found)


def given_to(memory: MnemopiMemory, found: Iterator[Imported | ReadProblem], bank: str | None = None) -> Taken:
    everything = list(found)
    assert [one for one in everything if isinstance(one, ReadProblem)] == []
    return memory.care.receive((bank or one.bank, one) for one in everything if isinstance(one, Imported))


def carried(source: MnemopiMemory, target: MnemopiMemory, file: Path) -> Taken:
    """Export everything of ``source`` and import it into ``target``."""
    file.write_text("".join(f"{line}\n" for line in lines(source)), "utf-8")
    return given_to(target, json_lines.read(file))


def one(text: str, origin: str = "elsewhere:1", **fields: object) -> Imported:
    lesson = {name: fields.pop(name) for name in list(fields) if name in Lesson._fields}
    return Imported(Lesson(text, **lesson), origin, **fields)  # type: ignore[arg-type]


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
LESSONS = st.builds(
    Lesson,
    text=TEXTS,
    context=st.none() | TEXTS,
    scope=st.sampled_from(Scope),
    source=st.sampled_from(["coding-agent-learn", "import"]),
    importance=st.floats(0, 1),
    veracity=st.sampled_from(VERACITIES),
    memory_type=st.sampled_from(["fact", "episode", "preference"]),
    metadata=st.dictionaries(TEXTS, TEXTS, max_size=2),
    title=st.none() | TEXTS,
    tags=st.lists(TEXTS, max_size=3).map(tuple),
    key=st.none() | st.sampled_from(["port", "style"]),
    cue=st.none() | TEXTS,
    confidence=st.none() | st.floats(0, 1),
    valid_until=st.none() | st.floats(0, 1e10),
    branch=st.none() | TEXTS,
)
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["forget", "invalidate", "replace", "pin", "erase", "undo"]),
        st.integers(1, 8),
        st.integers(1, 8),
    ),
    max_size=6,
)


def act(memory: MnemopiMemory, verb: str, lesson: int, by: int) -> None:
    """Do something to a lesson, where it can be done."""
    from lessonbook.core.errors import InputError

    acts = {
        "forget": lambda: memory.forget(str(lesson)),
        "invalidate": lambda: memory.invalidate(str(lesson)),
        "replace": lambda: memory.invalidate(str(lesson), str(by)),
        "pin": lambda: memory.pin(str(lesson)),
        "erase": lambda: memory.erase(str(lesson)),
        "undo": lambda: memory.undo(str(lesson)),
    }
    try:
        acts[verb]()
    except InputError:
        pass


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(LESSONS, min_size=1, max_size=8), ACTS)
def test_out_and_into_an_empty_bank_and_out_again_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, told: list[Lesson], acts: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    with closing(MnemopiMemory(folder / "a" / "bank.db", "p-1", clock())) as source:
        for lesson in told:
            source.store(lesson)
        for verb, lesson, by in acts:
            act(source, verb, lesson, by)
        source.recall("0 a S style port")
        source.close()
        wanted = lines(source)
        for name in ("lines", "file"):
            with closing(MnemopiMemory(folder / name / "bank.db", "q-2", lambda: NOW + 1e6)) as target:
                taken = (
                    carried(source, target, folder / "out.jsonl")
                    if name == "lines"
                    else given_to(target, bank_db.read(folder / "a" / "bank.db"))
                )
                assert lines(target) == wanted
                assert sum(taken.stored.values()) == len(wanted) - 1
                again = carried(source, target, folder / "out.jsonl")
                assert (sum(again.stored.values()), again.known) == (0, len(wanted) - 1)
                assert lines(target) == wanted
                assert [found.said for found in target.care.diagnose(deep=True) if found.problem] == []


def test_a_bank_that_gets_its_own_export_does_not_change(memory: MnemopiMemory, tmp_path: Path) -> None:
    memory.store(Lesson("Use tabs.", "style", key="style"))
    memory.store(Lesson("Run make.", "ci"))
    file = tmp_path / "out.jsonl"
    file.write_text("\n".join(lines(memory)))
    memory.update("1", {"text": "Use spaces."})
    memory.forget("2")
    before = lines(memory)
    assert given_to(memory, json_lines.read(file)).known == 2
    assert lines(memory) == before, "neither the edited text nor the forgotten lesson comes back"


def test_words_that_are_there_gain_the_context_and_stay_one_lesson(memory: MnemopiMemory) -> None:
    memory.store(Lesson("Run make.", "ci", importance=0.3))
    for _ in range(2):
        taken = memory.care.receive([("p-1", one("Run  make.", context="elsewhere", importance=0.9, seen=5.0))])
        assert (taken.known, sum(taken.stored.values())) == (1, 0)
    kept = memory.get("1")
    assert (kept.lesson.context, kept.lesson.importance) == ("ci; elsewhere", 0.3)
    memory.update("1", {"text": "Run make test."})
    assert memory.care.receive([("p-1", one("Run make.", context="elsewhere"))]).known == 1, "known by its origin"
    assert memory.count() == 1


def test_times_counts_and_state_come_along(memory: MnemopiMemory) -> None:
    given = one("Old.", created=10.0, seen=20.0, recalled=7, recalled_at=30.0, invalid=15.0, pinned=True)
    gone = one("Gone.", "elsewhere:2", forgotten=40.0, veracity="imported")
    vague = one("Vague.", "elsewhere:3", invalid=0.0)
    ahead = one("Ahead.", "elsewhere:4", created=9e18, seen=9e18, recalled_at=9e18)
    memory.care.receive([("p-1", given), ("p-1", gone), ("p-1", vague), ("p-1", ahead)])
    kept = memory.get("1")
    assert (kept.created, kept.seen, kept.recalled, kept.recalled_at, kept.invalid, kept.pinned) == (
        10.0, 20.0, 7, 30.0, 15.0, True,
    )  # fmt: skip
    assert memory.get("2").forgotten == 40.0 and memory.get("2").lesson.veracity == "imported"
    assert (memory.get("3").invalid or 0) > 1_000_000_000, "nobody knows when: now"
    assert memory.get("4").seen < 2_000_000_000, "no time that is still to come"
    assert [found.text for found in memory.recent()] == ["Ahead."]


def test_what_holds_in_its_place_is_found_in_whatever_order(memory: MnemopiMemory) -> None:
    first = one("First.", "a", superseded_by="c")
    second = one("Second.", "b", superseded_by="never came")
    third = one("Third.", "c", superseded_by="a")
    memory.care.receive([("p-1", lesson) for lesson in (first, second, third)])
    assert [memory.get(id).superseded_by for id in "123"] == ["3", None, None], "and nothing replaces itself"
    assert all(memory.get(id).invalid for id in "123")


def test_under_one_key_the_lesson_told_last_holds(memory: MnemopiMemory) -> None:
    memory.store(Lesson("Port 5432.", key="port"))
    older = one("Port 5431.", "a", key="port", seen=5.0)
    newer = one("Port 5433.", "b", key="port", seen=1_700_000_002.0)
    for _ in range(2):
        memory.care.receive([("p-1", older), ("p-1", newer)])
    kept = {kept.lesson.text: kept for kept in memory.lessons()}
    assert {text: (one.lesson.key, one.superseded_by) for text, one in kept.items()} == {
        "Port 5431.": (None, "1"), "Port 5432.": (None, "3"), "Port 5433.": ("port", None),
    }  # fmt: skip
    assert kept["Port 5432."].invalid is not None and memory.history("1")[0].verb == "invalidated"
    assert [found.said for found in memory.care.diagnose(deep=True) if found.problem] == []


def test_what_comes_in_is_cleaned_redacted_and_said(memory: MnemopiMemory) -> None:
    key = "ghp_" + "a1B2" * 9
    taken = memory.care.receive([("p-1", one(f"The key\x00 is {key}", evidence="x" * 3_000))])
    kept = memory.get("1").lesson
    assert kept.text == "The key is [REDACTED]" and len(kept.evidence or "") == 2_000
    assert any("evidence was cut" in note for note in taken.notes)


LOADER = """
import sys, time
from pathlib import Path
from lessonbook.memory.importing import json_lines
from lessonbook.memory.mnemopi.bank import MnemopiMemory
memory = MnemopiMemory(Path(sys.argv[1]), "p-1", time.time)
memory.care.receive((one.bank, one) for one in json_lines.read(Path(sys.argv[2])))
"""


def test_cut_off_in_the_middle_it_is_finished_by_doing_it_again(
    memory: MnemopiMemory, other: MnemopiMemory, path: Path, tmp_path: Path
) -> None:
    other.store_many([Lesson(f"Lesson {n} of a great many.", key=f"k{n}") for n in range(2_000)])
    for n in range(1, 1_999, 100):
        other.invalidate(str(n), str(n + 1))
    file = tmp_path / "out.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines(other)), "utf-8")
    command = [sys.executable, "-c", LOADER, str(path), str(file)]
    with subprocess.Popen(command) as process:
        while memory.count() < 500:
            assert process.poll() is None
        os.kill(process.pid, 9)
    cut = memory.count()
    assert cut % 500 == 0 and cut < 2_000, "whole transactions"
    subprocess.run(command, check=True)
    assert lines(memory) == lines(other)
    assert [found.said for found in memory.care.diagnose(deep=True) if found.problem] == []


def test_others_write_while_many_come_in(
    memory: MnemopiMemory, other: MnemopiMemory, path: Path, tmp_path: Path
) -> None:
    other.store_many([Lesson(f"Lesson {n} of a great many.") for n in range(2_000)])
    file = tmp_path / "out.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines(other)), "utf-8")
    with subprocess.Popen([sys.executable, "-c", LOADER, str(path), str(file)]) as process:
        while not path.exists():
            assert process.poll() is None
        told = [memory.store(Lesson(f"Meanwhile {n}.")).id for n in range(10)]
        assert process.wait(timeout=120) == 0
    assert all(told) and memory.count() == 2_010
