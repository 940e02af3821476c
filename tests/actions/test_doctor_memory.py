"""What is worth knowing of a bank's file is found from outside, and not a byte of it changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.actions.check import Check, Level
from lessonbook.actions.doctor import examine
from lessonbook.core.lesson import Lesson
from lessonbook.memory import sqlite_file
from lessonbook.memory.mnemopi import schema
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.system.projects import identify
from lessonbook.system.settings import places

NOW = 1_798_675_200.0


@pytest.fixture
def bank(home: Path) -> Path:
    """Where the bank's file is, which is the memory that is switched on."""
    config = home / ".config/lessonbook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[memory]\nbackend = 'mnemopi'\n")
    file = home / ".local/share/lessonbook/agent/bank.db"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def looked(tmp_path: Path, bank: Path) -> Callable[[Level], list[Check]]:
    """``looked(level)``: what the doctor says of the memory; nothing beside the bank changes by it."""

    def look(level: Level) -> list[Check]:
        before = {path.name: path.read_bytes() for path in bank.parent.iterdir() if path.is_file()}
        found = [check for check in examine(places(), tmp_path, NOW) if check.what == "memory" and check.level is level]
        after = {path.name: path.read_bytes() for path in bank.parent.iterdir() if path.is_file()}
        assert after == before or bank.with_name("bank.db-wal").name in before, "a doctor only looks"
        return [check for check in found if "extra `vectors`" not in check.found]

    return look


def told(bank: Path, tmp_path: Path, *texts: str) -> MnemopiMemory:
    memory = MnemopiMemory(bank, identify(tmp_path).slug, lambda: NOW)
    memory.store_many([Lesson(text) for text in texts])
    return memory


def test_what_a_project_can_recall_is_counted(
    bank: Path, tmp_path: Path, looked: Callable[[Level], list[Check]]
) -> None:
    with closing(told(bank, tmp_path, "One.", "Two.", "Three.")) as memory:
        memory.forget("1")
        counted = "mnemopi: 2 remembered for this project"
        assert [check.found for check in looked(Level.FINE)] == [counted], "while another process has it open"
        with closing(MnemopiMemory(bank, "other-00000002", lambda: NOW)) as other:
            other.store(Lesson("Theirs."))
    assert [check.found for check in looked(Level.FINE)] == [counted]
    assert looked(Level.PROBLEM) == []
    assert [check.found for check in looked(Level.NOTE) if "vector" not in check.found] == []


@pytest.mark.parametrize(
    "data", [b"no database " * 1_000, b"SQLite format 3\0" + b"\xff" * 5_000], ids=["text", "garbage"]
)
def test_a_file_that_is_no_bank_is_wrong_and_left_as_it_is(
    bank: Path, looked: Callable[[Level], list[Check]], data: bytes
) -> None:
    bank.write_bytes(data)
    [found] = looked(Level.PROBLEM)
    assert "is damaged" in found.found and "sets it aside" in found.do and "memory import" in found.do
    assert looked(Level.FINE) == []


def test_a_damaged_page_is_found(bank: Path, tmp_path: Path, looked: Callable[[Level], list[Check]]) -> None:
    told(bank, tmp_path, *(f"Lesson {n} " + "long " * 300 for n in range(100))).close()
    data = bytearray(bank.read_bytes())
    with closing(sqlite3.connect(bank)) as db:
        page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'lessons_by_seen'").fetchone()[0]
    bank.with_name("bank.db-wal").unlink(missing_ok=True)
    bank.with_name("bank.db-shm").unlink(missing_ok=True)
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    bank.write_bytes(data)
    assert "is damaged" in looked(Level.PROBLEM)[0].found


def test_a_newer_file_and_another_programs_are_wrong(bank: Path, looked: Callable[[Level], list[Check]]) -> None:
    for script, why in (
        (f"PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = 99; CREATE TABLE x (y)", "newer"),
        ("CREATE TABLE x (y)", "another program"),
    ):
        bank.unlink(missing_ok=True)
        with closing(sqlite3.connect(bank)) as db:
            db.executescript(script)
        [found] = looked(Level.PROBLEM)
        assert why in found.found and found.do


def test_an_older_file_stays_as_it_is_and_is_counted(
    bank: Path, tmp_path: Path, looked: Callable[[Level], list[Check]]
) -> None:
    with closing(sqlite3.connect(bank)) as db:
        for statement in sqlite_file.statements(schema.STEPS[0]):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")
        row = (identify(tmp_path).slug, "Old.", "Old.", "learn", 0.8, "tool", "fact", "{}", 5.0, 6.0)
        db.execute(
            "INSERT INTO lessons (bank, same, text, source, importance, veracity, memory_type, metadata, created, seen)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        db.commit()
    assert any("older version" in check.found for check in looked(Level.NOTE))
    assert [check.found for check in looked(Level.FINE)] == ["mnemopi: 1 remembered for this project"]


def test_where_readers_and_writers_wait_it_says_so(
    bank: Path, tmp_path: Path, looked: Callable[[Level], list[Check]]
) -> None:
    told(bank, tmp_path, "One.").close()
    with closing(sqlite3.connect(bank)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        [found] = [check for check in looked(Level.NOTE) if "WAL" in check.found]
    assert "delete mode" in found.found and "Nothing is lost" in found.do


def test_words_of_other_rules_and_files_set_aside(
    bank: Path, tmp_path: Path, looked: Callable[[Level], list[Check]]
) -> None:
    told(bank, tmp_path, "One.").close()
    with closing(sqlite3.connect(bank)) as db:
        db.execute("UPDATE about SET value = 'older' WHERE name = 'words'")
        db.commit()
    for name in ("bank.db.damaged-20260101T000000Z", "bank.db.damaged-20260101T000000Z-wal"):
        bank.with_name(name).write_bytes(b"x")
    notes = looked(Level.NOTE)
    assert any("another version's rules" in check.found and "memory sleep" in check.do for check in notes)
    [aside] = [check for check in notes if "set aside" in check.found]
    assert f"`lessonbook memory import {bank}.damaged-20260101T000000Z`" in aside.do


def test_an_empty_file_is_a_bank_nobody_told_anything(bank: Path, looked: Callable[[Level], list[Check]]) -> None:
    bank.touch()
    assert [check.found for check in looked(Level.FINE)] == ["mnemopi: 0 remembered for this project"]


def test_a_scoping_that_is_not_there(home: Path, bank: Path, looked: Callable[[Level], list[Check]]) -> None:
    (home / ".config/lessonbook/config.toml").write_text("[memory]\nbackend = 'mnemopi'\nscoping = 'all'\n")
    assert "memory.scoping is 'all'" in looked(Level.PROBLEM)[0].found
