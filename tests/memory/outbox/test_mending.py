"""A damaged outbox is set aside, and every row that can be read goes on in a new one; nothing is lost silently."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.memory.outbox.conftest import Shelf, item

from lessonbook.core.errors import StoreError
from lessonbook.memory import aside
from lessonbook.memory.outbox.flusher import Flusher
from lessonbook.memory.outbox.items import TORN, State
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Became, Outbox

PAGE = 4_096
TEXTS = [f"Lesson number {number} of the outbox. {'more ' * (number % 7)}" for number in range(120)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with many rows, the first ten of them done, one of many pages among them."""
    path = tmp_path / OUTBOX_FILE
    outbox = Outbox(path)
    outbox.put([item(text) for text in TEXTS], 1.0)
    outbox.put([item("long " * 4_000)], 2.0)
    with outbox.file.writing() as db:
        db.execute("UPDATE outbox SET state = 'done', ended = 3 WHERE seq <= 10")
    outbox.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path


def damage(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def told(outbox: Outbox) -> dict[int, str]:
    return {row.seq: str(row.told.get("content")) for row in outbox.rows(tuple(State))}


def intact(path: Path) -> dict[int, str]:
    outbox = Outbox(path)
    found = told(outbox)
    outbox.close()
    return found


def deliver(outbox: Outbox, shelf: Shelf) -> None:
    clock = iter(range(10, 10_000))
    flusher = Flusher(outbox, shelf, "me", lambda: float(next(clock)), lambda: 0.0)
    while flusher.next_due() is not None:
        flusher.step()


DAMAGE: dict[str, Callable[[Path], None]] = {
    "magic": lambda path: damage(path, 0, b"\0" * 16),
    "header": lambda path: damage(path, 0, b"\xff" * 100),
    "first page": lambda path: damage(path, 0, b"\0" * PAGE),
    "schema": lambda path: damage(path, 100, b"\0" * (PAGE - 100)),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_the_head_is_gone_and_no_row_is(what: str, path: Path) -> None:
    whole = intact(path)
    DAMAGE[what](path)
    damaged = path.read_bytes()
    outbox = Outbox(path)
    put = outbox.put([item("told after the damage")], 9.0)
    assert put[0].became is Became.QUEUED
    assert "was damaged" in (said := outbox.told()) and outbox.told() == ""
    assert told(outbox) == {**whole, put[0].seq: "told after the damage"}
    assert outbox.counts()["done"] == 10
    (kept,) = aside.found(path)
    assert kept.name in said and kept.read_bytes() == damaged
    outbox.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.mark.parametrize("page", range(2, 33))
def test_a_page_of_noise_costs_what_stood_on_it_and_no_more(page: int, path: Path) -> None:
    whole = intact(path)
    if page * PAGE > path.stat().st_size:
        pytest.skip("the file has no such page")
    damage(path, (page - 1) * PAGE, random.Random(page).randbytes(PAGE))
    outbox, shelf = Outbox(path), Shelf()
    outbox.put([item("one more")], 9.0)
    deliver(outbox, shelf)
    torn = [row for row in outbox.rows([State.DEAD]) if row.last_error == TORN]
    waiting = {text for seq, text in whole.items() if seq > 10}
    arrived = set(shelf.documents.values()) - {"one more"}
    assert arrived <= waiting and len(waiting - arrived) - len(torn) <= 20, "a page holds that many at most"
    if waiting - arrived:
        assert torn or aside.found(path), "what could not be read is kept"
    assert len(shelf.writes) == len(set(shelf.writes))


@pytest.mark.parametrize("part", [0.9, 0.5, 0.25, 0.1])
def test_cut_short_it_keeps_what_is_left(part: float, path: Path) -> None:
    whole = intact(path)
    size = int(path.stat().st_size * part)
    os.truncate(path, size)
    outbox = Outbox(path)
    outbox.put([item("one more")], 9.0)
    found = told(outbox)
    kept = {seq: text for seq, text in found.items() if text != "one more" and not text.startswith("long ")}
    assert kept.items() <= whole.items() and "was damaged" in outbox.told()
    assert len(kept) >= int(len(TEXTS) * (part - 0.25))
    assert [one.stat().st_size for one in aside.found(path)] == [size]


def test_only_its_journal_is_left(path: Path, tmp_path: Path) -> None:
    """Nothing was moved into the file yet: SQLite would take it for new, and remove the journal."""
    copy = tmp_path / "copy"
    copy.mkdir()
    outbox = Outbox(tmp_path / "live" / OUTBOX_FILE)
    outbox.put([item(text) for text in TEXTS], 1.0)
    for end in ("", "-wal"):
        shutil.copy(tmp_path / "live" / f"{OUTBOX_FILE}{end}", copy)
    outbox.close()
    os.truncate(copy / OUTBOX_FILE, 0)
    again = Outbox(copy / OUTBOX_FILE)
    assert sorted(told(again).values()) == sorted(TEXTS) and "was damaged" in again.told()
    assert aside.found(copy / OUTBOX_FILE)


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / OUTBOX_FILE).touch()
    outbox = Outbox(tmp_path / OUTBOX_FILE)
    assert outbox.put([item("a")], 1.0)[0].became is Became.QUEUED
    assert outbox.told() == "" and not aside.found(outbox.file.path)


@pytest.mark.parametrize("data", [b"no database at all, and long enough to be one\n" * 200, b"x" * 700, b"\0" * 9_000])
def test_what_is_no_database_is_set_aside(data: bytes, tmp_path: Path) -> None:
    (tmp_path / OUTBOX_FILE).write_bytes(data)
    outbox = Outbox(tmp_path / OUTBOX_FILE)
    assert outbox.put([item("a")], 1.0)[0].became is Became.QUEUED
    assert "was damaged" in outbox.told()
    assert [one.read_bytes() for one in aside.found(outbox.file.path)] == [data]


def test_a_newer_one_and_a_foreign_one_are_left_as_they_are(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    outbox = Outbox(path)
    for act in (lambda: outbox.put([item("a")], 1.0), outbox.counts, lambda: outbox.rows(tuple(State))):
        with pytest.raises(StoreError, match="newer lessonbook"):
            act()
    assert path.read_bytes() == before and not aside.found(path)


def test_torn_words_are_shown_and_told_anew_they_arrive(path: Path) -> None:
    """The page is a page, and a letter on it is another one: nothing but the size and the shape tells."""
    whole = path.read_bytes()
    at = whole.index(b'"content": "Lesson number 57 ')
    damage(path, at, b"\0")
    damage(path, 0, b"\0" * 16)
    outbox = Outbox(path)
    (torn,) = outbox.rows([State.DEAD])
    assert torn.seq == 58 and torn.last_error == TORN and "number 57" in torn.payload
    assert "1 of them are torn" in outbox.told()
    assert outbox.put([item(TEXTS[57])], 5.0)[0].became is Became.QUEUED
    shelf = Shelf()
    deliver(outbox, shelf)
    assert sorted(shelf.documents.values()) == sorted([*TEXTS[10:], "long " * 4_000])
    assert len(shelf.writes) == len(set(shelf.writes))


def test_what_was_under_way_goes_on_under_the_same_ids(path: Path) -> None:
    """Mended in the middle of delivering: no item is on the server twice, and none is missing."""
    shelf, clock = Shelf(), iter(range(10, 10_000))
    outbox = Outbox(path)
    flusher = Flusher(outbox, shelf, "me", lambda: float(next(clock)), lambda: 0.0)
    for _ in range(3):
        flusher.step()
    outbox.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    damage(path, 0, b"\xff" * 100)
    while flusher.next_due() is not None:
        flusher.step()
    assert sorted(shelf.documents.values()) == sorted([*TEXTS[10:], "long " * 4_000])
    assert len(shelf.writes) == len(set(shelf.writes)) == 111


_KILLED = """
import sys
from pathlib import Path
from lessonbook.memory.outbox.outbox import Outbox
from lessonbook.system import faults
faults.arm(sys.argv[2])
Outbox(Path(sys.argv[1])).counts()
"""
POINTS = ("outbox.salvaged", "outbox.ready", "outbox.beside-moved", "outbox.set-aside")


@pytest.mark.parametrize("point", POINTS)
def test_killed_while_it_is_mended(point: str, path: Path) -> None:
    whole = intact(path)
    damage(path, 0, b"\xff" * 100)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path), point], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    outbox = Outbox(path)
    assert told(outbox) == whole and "was damaged" in outbox.told()
    assert not list(path.parent.glob("*.salvag*")) and aside.found(path)


def test_two_processes_find_the_damage_at_once(path: Path) -> None:
    whole = intact(path)
    damage(path, 0, b"\xff" * 100)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = (
        "import sys; from pathlib import Path; from tests.memory.outbox.conftest import item\n"
        "from lessonbook.memory.outbox.outbox import Outbox\n"
        "print(Outbox(Path(sys.argv[1])).put([item(sys.argv[2])], 5.0)[0].seq)"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(path), f"of {who}"], env=env, stdout=subprocess.PIPE)
        for who in range(4)
    ]
    said = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    outbox = Outbox(path)
    found = told(outbox)
    assert found.items() >= whole.items() and {f"of {who}" for who in range(4)} <= set(found.values())
    assert len(aside.found(path)) == 1
