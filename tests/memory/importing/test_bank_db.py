"""A bank of our own is read back: of every version, past damage, and without changing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.care import Imported
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory import sqlite_file
from lessonbook.memory.importing import registry
from lessonbook.memory.importing.bank_db import matches, read
from lessonbook.memory.importing.values import ReadProblem
from lessonbook.memory.mnemopi import schema
from lessonbook.memory.mnemopi.bank import MnemopiMemory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent" / "bank.db"


@pytest.fixture
def memory(path: Path) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(path, "p-12345678", lambda: 1_700_000_000.5)) as opened:
        yield opened


def parted(path: Path) -> tuple[list[Imported], list[ReadProblem]]:
    found = list(read(path))
    return (
        [one for one in found if isinstance(one, Imported)],
        [one for one in found if isinstance(one, ReadProblem)],
    )


def test_it_is_known_by_its_mark_whatever_it_is_called(memory: MnemopiMemory, path: Path, tmp_path: Path) -> None:
    memory.store(Lesson("One."))
    memory.care.vacuum()
    memory.close()
    aside = path.rename(tmp_path / "bank.db.damaged-20260101T000000Z")
    assert registry.sources(aside) == [("bank", aside)]
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE lessons (id)")
    assert not matches(tmp_path / "other.db", (tmp_path / "other.db").read_bytes())


def test_every_field_of_every_lesson(memory: MnemopiMemory, path: Path) -> None:
    full = Lesson(
        "Port 5433.", "ci", Scope.GLOBAL, "import", 0.25, "stated", "procedure", {"session_id": "s"}, "Port", ("db",),
        "port", "tests fail", "db", "run 7", 0.5, 2e9, "main",
    )  # fmt: skip
    memory.store(full)
    memory.store(full.but(context="again"))
    memory.store(Lesson("Port 5432."))
    memory.invalidate("2", "1")
    memory.pin("1")
    memory.store(Lesson("Forgotten."))
    memory.forget("3")
    (one, two, three), problems = parted(path)
    assert problems == []
    assert one.lesson == full.but(context="ci; again") and (one.bank, one.pinned, one.seen) == (
        "global",
        True,
        1_700_000_000.5,
    )
    assert one.origin == "lessonbook:global:1:1700000000.500000" == two.superseded_by
    assert two.bank == "p-12345678" and two.invalid and three.forgotten


def test_the_first_version_is_read_too(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        for statement in sqlite_file.statements(schema.STEPS[0]):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")
        row = ("p-12345678", "Old.", "Old.", "ci", "learn", 0.8, "tool", "fact", '{"a": "b"}', 5.0, 6.0)
        db.execute(
            "INSERT INTO lessons (bank, same, text, context, source, importance, veracity, memory_type, metadata,"
            " created, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        db.execute("INSERT INTO sightings (lesson, context, metadata, at) VALUES (1, 'later', '{}', 6.0)")
        db.commit()
    before = path.read_bytes()
    (one,), problems = parted(path)
    assert problems == [] and one.lesson == Lesson("Old.", "ci; later", source="learn", metadata={"a": "b"})
    assert (one.created, one.seen) == (5.0, 6.0) and path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == ["bank.db"]


def test_what_lies_past_the_damage_is_read(memory: MnemopiMemory, path: Path) -> None:
    memory.store_many([Lesson(f"Lesson {n:03}. " + "word " * 200) for n in range(200)])
    memory.invalidate("10", "190")
    memory.care.vacuum()
    memory.close()
    data = bytearray(path.read_bytes())
    place = data.find(b"Lesson 100.")
    data[place // 4096 * 4096 : place // 4096 * 4096 + 4096] = b"\xee" * 4096
    path.write_bytes(data)
    found, problems = parted(path)
    assert len(found) >= 190 and problems and all("damaged" in one.sentence for one in problems)
    assert {"Lesson 000.", "Lesson 199."} <= {one.lesson.text[:11] for one in found}
    assert next(one for one in found if one.lesson.text.startswith("Lesson 009")).superseded_by


def test_a_file_that_is_no_database_any_more_is_one_problem(memory: MnemopiMemory, path: Path) -> None:
    memory.store(Lesson("One."))
    memory.close()
    for data in (path.read_bytes()[:100], path.read_bytes()[:100] + b"\x00" * 8_000, b""):
        path.write_bytes(data)
        found, problems = parted(path)
        assert found == [] and len(problems) == 1


def test_a_bank_set_aside_comes_back_into_the_new_one(
    memory: MnemopiMemory, path: Path, tmp_path: Path, run: Callable[..., object]
) -> None:
    memory.store(Lesson("Mine."))
    memory.store(Lesson("Everybody's.", scope=Scope.GLOBAL))
    memory.care.vacuum()
    memory.close()
    aside = path.rename(tmp_path / "aside.db")
    found, _ = parted(aside)
    taken = memory.care.receive((one.bank, one) for one in found)
    assert dict(taken.stored) == {"p-12345678": 1, "global": 1}
    assert sorted(one.text for one in memory.recent()) == ["Everybody's.", "Mine."]
