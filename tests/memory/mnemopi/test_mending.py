"""A damaged file is set aside under a dated name and said so, never deleted; a damaged index is made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.errors import StoreError
from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.memory.mnemopi import checks, mending
from lessonbook.memory.mnemopi.bank import MnemopiMemory

NO_DATABASES = [b"this is no database at all, and long enough to be one" * 40, b"SQLite format 3\0" + b"\xff" * 4096]


def aside(path: Path) -> list[Path]:
    return [found for found in path.parent.glob("bank.db.damaged-*") if not found.name.endswith(("-wal", "-shm"))]


@pytest.mark.parametrize("data", NO_DATABASES)
def test_a_write_goes_on_in_a_new_file_and_says_so(memory: MnemopiMemory, path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    receipt = memory.store(Lesson("a"))
    assert receipt.outcome is Outcome.STORED
    assert "was damaged" in receipt.notes[-1]
    assert aside(path)[0].name in receipt.notes[-1]
    assert [found.read_bytes() for found in aside(path)] == [data]
    assert [found.text for found in memory.recent()] == ["a"]
    assert memory.store(Lesson("b")).notes == ()


@pytest.mark.parametrize("data", NO_DATABASES)
def test_a_read_says_so_once_and_then_finds_nothing(memory: MnemopiMemory, path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"was set aside as bank\.db\.damaged-"):
        memory.recall("a")
    assert memory.recall("a") == []
    assert [found.read_bytes() for found in aside(path)] == [data]


def test_two_damaged_files_of_one_second_are_both_kept(path: Path) -> None:
    path.parent.mkdir()
    for data in NO_DATABASES:
        path.write_bytes(data)
        with closing(MnemopiMemory(path, "p-1", lambda: 1_700_000_000.0)) as memory:
            memory.store(Lesson("a"))
        path.unlink()
    assert sorted(found.read_bytes() for found in aside(path)) == sorted(NO_DATABASES)


@pytest.mark.parametrize("page", range(1, 40, 4))
def test_a_page_of_noise_loses_nothing_silently(page: int, path: Path, clock: Callable[[], float]) -> None:
    """Wherever the damage is, what is recalled is right, or the file is set aside whole and that is said."""
    with closing(MnemopiMemory(path, "p-1", clock)) as memory:
        memory.store_many([Lesson(f"lesson {n} about topic {n % 7} and more words {n * 31}") for n in range(400)])
    with closing(sqlite3.connect(path)) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    if page * size >= len(data):
        pytest.skip("the file is shorter")
    data[page * size : (page + 1) * size] = b"\xa5" * size
    path.write_bytes(bytes(data))
    with closing(MnemopiMemory(path, "p-1", clock)) as memory:
        said = ""
        try:
            found = memory.recall("topic 3", 50)
            assert all("topic 3" in one.text or "3" in one.text for one in found)
        except StoreError as error:
            said = str(error)
        receipt = memory.store(Lesson("after"))
        assert receipt.outcome is Outcome.STORED
        said += " ".join(receipt.notes)
        if memory.count() < 401:
            assert "was set aside" in said
            assert [found.read_bytes()[size:] for found in aside(path)] == [bytes(data[size:])]


@pytest.mark.parametrize(
    "damage", ["DELETE FROM words_data WHERE id > 10", "UPDATE words_data SET block = x'ff' WHERE id > 10"]
)
def test_a_damaged_index_is_made_anew_and_no_lesson_is_lost(memory: MnemopiMemory, path: Path, damage: str) -> None:
    memory.store_many([Lesson(f"lesson {n} on trains") for n in range(100)])
    memory.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(damage)
        db.commit()
    assert len(memory.recall("trains", 50)) == 50
    assert memory.store(Lesson("one more on trains")).outcome is Outcome.STORED
    assert memory.count() == 101
    assert aside(path) == []


def test_an_index_that_lost_its_words_silently_is_found_by_the_check_and_made_anew(
    memory: MnemopiMemory, path: Path
) -> None:
    memory.store_many([Lesson(f"lesson {n} on trains") for n in range(100)])
    memory.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10")
        db.execute("BEGIN IMMEDIATE")
        assert [one.about for one in checks.look(db, memory._vectors) if one.problem] == ["index"]
    assert "made anew" in mending.mend(memory._file, 0.0)
    assert len(memory.recall("trains", 50)) == 50


def test_a_bank_of_another_version_or_program_is_never_set_aside(memory: MnemopiMemory, path: Path) -> None:
    path.parent.mkdir()
    for script in (
        "PRAGMA application_id = 0x4C426B31; PRAGMA user_version = 99; CREATE TABLE x (y)",
        "CREATE TABLE x (y)",
    ):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as db:
            db.executescript(script)
        data = path.read_bytes()
        for act in (lambda: memory.store(Lesson("a")), lambda: memory.recall("a"), memory.count):
            with pytest.raises(StoreError, match="left as it is"):
                act()
        assert path.read_bytes() == data
        assert aside(path) == []
