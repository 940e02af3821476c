"""A bank is looked through by what a person knows of a lesson, and one is shown with all that belongs to it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.care import Wanted
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory.mnemopi import index
from lessonbook.memory.mnemopi.bank import MnemopiMemory


def name(memory: MnemopiMemory, lesson: str, kind: str, value: str) -> None:
    """Note what a lesson names, as ``noting`` does."""
    with memory._file.writing() as db, index.reindexed(db, int(lesson)):
        row = (int(lesson), kind, value.casefold(), value)
        db.execute("INSERT OR IGNORE INTO entities (lesson, kind, key, value) VALUES (?, ?, ?, ?)", row)


def contradict(memory: MnemopiMemory, newer: str, older: str) -> None:
    """Note that two lessons may contradict each other, as ``noting`` does."""
    with memory._file.writing() as db:
        row = (int(newer), int(older), "negation", "one says use pnpm, the other says do not", 5.0)
        db.execute("INSERT INTO contradictions (newer, older, kind, said, at) VALUES (?, ?, ?, ?, ?)", row)


def ids(memory: MnemopiMemory, *wanted: Wanted, **more: object) -> list[str]:
    return [one.id for one in memory.care.lessons(*(wanted or [Wanted()]), **more)]  # type: ignore[arg-type]


@pytest.fixture
def told(memory: MnemopiMemory) -> MnemopiMemory:
    memory.store(Lesson("Tests need port 5433.", tags=("db", "CI"), memory_type="procedure"))
    memory.store(Lesson("Prefer tabs.", source="coding-agent-remember", memory_type="preference"))
    memory.store(Lesson("100% of the_build is slow.", tags=("ci",), scope=Scope.GLOBAL))
    return memory


def test_newest_first_page_by_page(told: MnemopiMemory) -> None:
    assert ids(told) == ["3", "2", "1"]
    assert ids(told, limit=1) == ["3"] and ids(told, limit=5, after="3") == ["2", "1"] and ids(told, after="1") == []
    with pytest.raises(InputError, match="no lesson '9'"):
        ids(told, after="9")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(tag="ci"), ["3", "1"]),
        (Wanted(tag="db"), ["1"]),
        (Wanted(tag="d"), []),
        (Wanted(memory_type="preference"), ["2"]),
        (Wanted(source="coding-agent-remember"), ["2"]),
        (Wanted(tag="ci", memory_type="fact"), ["3"]),
        (Wanted(source="' OR 1=1 --"), []),
        (Wanted(forgotten=True), []),
    ],
)
def test_what_is_asked_for_is_all_that_is_found(told: MnemopiMemory, wanted: Wanted, found: list[str]) -> None:
    assert ids(told, wanted) == found


def test_a_lesson_is_found_by_what_it_names(told: MnemopiMemory) -> None:
    name(told, "1", "file", "src/db/Port_Map.py")
    name(told, "2", "file", "src/db/PortXMap.py")
    name(told, "3", "command", "make db")
    assert ids(told, Wanted(about="src/db/port_map.py")) == ids(told, Wanted(about="Port_Map.py")) == ["1"]
    assert ids(told, Wanted(about="db/port_map.py")) == ["1"]
    assert ids(told, Wanted(about=" MAKE db ")) == ["3"]
    assert ids(told, Wanted(about="%")) == ids(told, Wanted(about="")) == ids(told, Wanted(about="map.py")) == []


def test_tags_that_are_no_json_hide_nothing(told: MnemopiMemory) -> None:
    with told._file.writing() as db:
        db.execute("UPDATE lessons SET tags = '[' WHERE id = 2")
    assert ids(told, Wanted(tag="ci")) == ["3", "1"] and ids(told) == ["3", "2", "1"]


def test_the_forgotten_are_a_list_of_their_own(told: MnemopiMemory) -> None:
    told.forget("2")
    assert ids(told) == ["3", "1"] and ids(told, Wanted(forgotten=True)) == ["2"]


def test_another_projects_lessons_are_not_there(told: MnemopiMemory, path: Path, clock: Callable[[], float]) -> None:
    with closing(MnemopiMemory(path, "other-2", clock)) as other:
        assert ids(other) == ["3"]
        for act in (other.care.show, lambda id: ids(other, after=id), lambda id: other.care.merge(id, "3")):
            with pytest.raises(InputError, match="no lesson '1'"):
                act("1")


def test_one_is_shown_with_all_that_belongs_to_it(told: MnemopiMemory) -> None:
    told.store(Lesson("Tests need port 5433.", "first run", metadata={"session_id": "s1"}))
    told.store(Lesson("Tests need port 5433.", "second run", metadata={"session_id": "s2"}))
    name(told, "1", "port", "5433")
    contradict(told, "3", "1")
    told.store(Lesson("Tests need the port 5433."))
    told.care.sleep()
    told.invalidate("2", "1")
    found = told.care.show("1")
    assert found.kept.lesson.text == "Tests need port 5433."
    assert [(one.context, one.metadata) for one in found.contexts] == [
        ("first run", {"session_id": "s1"}),
        ("second run", {"session_id": "s2"}),
    ]
    assert ("port", "5433") in [(one.kind, one.value) for one in found.entities]
    assert [(one.newer, one.older) for one in found.contradictions if one.kind == "negation"] == [("3", "1")]
    assert [(pair.kept, pair.other) for pair in found.twins] == [("4", "1")]
    assert found.replaces == ("2",) and [one.verb for one in told.care.show("2").history] == ["invalidated"]


def test_contradictions_wait_until_they_are_settled(told: MnemopiMemory) -> None:
    contradict(told, "3", "1")
    contradict(told, "2", "1")
    waiting = [(one.newer, one.older) for one in told.care.contradictions()]
    assert ("3", "1") in waiting and ("2", "1") in waiting
    told.care.dismiss("1", "3")
    told.invalidate("2")
    assert [(one.newer, one.older) for one in told.care.contradictions() if one.kind == "negation"] == []
    assert [one.dismissed is not None for one in told.care.show("3").contradictions if one.kind == "negation"] == [True]
    for pair, why in ((("1", "3"), "noted already"), (("2", "3"), "not known to"), (("1", "1"), "two lessons")):
        with pytest.raises(InputError, match=why):
            told.care.dismiss(*pair)


def test_where_there_is_no_file_yet_none_is_made(memory: MnemopiMemory, path: Path) -> None:
    care = memory.care
    assert care.lessons(Wanted()) == care.contradictions() == care.merges() == []
    assert (care.stats().states["all"], care.sleep().twins, care.diagnose()[0].problem) == (0, 0, False)
    with care.exported() as lines:
        assert len(list(lines)) == 1
    for act in (lambda: care.show("1"), lambda: care.dismiss("1", "2"), care.vacuum, lambda: care.back_up(path)):
        with pytest.raises(InputError, match="nothing was remembered"):
            act()
    assert not path.exists()
