"""A bank is copied while others write: one state of it, whole, and never over anything."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory

WRITER = """
import sys, time
from pathlib import Path
from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory
memory = MnemopiMemory(Path(sys.argv[1]), "p-1", time.time)
n = 0
while True:
    memory.store_many([Lesson(f"{n} one"), Lesson(f"{n} two")])
    n += 1
    print(n, flush=True)
"""
KILLED = """
import sys, time
from pathlib import Path
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.system import faults
faults.arm(sys.argv[3])
MnemopiMemory(Path(sys.argv[1]), "p-1", time.time).care.back_up(Path(sys.argv[2]))
"""


def texts(file: Path, clock: Callable[[], float]) -> list[str]:
    with closing(MnemopiMemory(file, "p-1", clock)) as copy:
        return sorted(one.text for one in copy.recent(100_000))


def test_a_copy_holds_what_the_bank_held(memory: MnemopiMemory, tmp_path: Path, clock: Callable[[], float]) -> None:
    told = sorted(f"Lesson {n} of many." for n in range(50))
    memory.store_many([Lesson(text) for text in told])
    copy = tmp_path / "copy.db"
    assert memory.care.back_up(copy) == copy.stat().st_size
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(one.name for one in tmp_path.glob("*copy*")) == ["copy.db"], "a lone file, without a journal"
    memory.store(Lesson("Later."))
    assert texts(copy, clock) == told


def test_it_never_takes_the_place_of_anything(memory: MnemopiMemory, path: Path, tmp_path: Path) -> None:
    memory.store(Lesson("One."))
    there, link = tmp_path / "there.db", tmp_path / "link.db"
    there.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")
    for target in (there, link, path, tmp_path):
        with pytest.raises(InputError, match="there already"):
            memory.care.back_up(target)
    with pytest.raises(InputError, match="no folder"):
        memory.care.back_up(tmp_path / "no" / "such.db")
    assert there.read_text() == "mine" and not (tmp_path / "no").exists() and not (tmp_path / "nowhere").exists()


def test_writers_go_on_and_the_copy_is_one_state(memory: MnemopiMemory, path: Path, tmp_path: Path, clock) -> None:
    memory.store_many([Lesson(f"{n} before") for n in range(300)])
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        writer.stdout.readline()
        copies = [tmp_path / f"copy{n}.db" for n in range(3)]
        for copy in copies:
            memory.care.back_up(copy)
            writer.stdout.readline()
        writer.kill()
    for copy in copies:
        kept = [text for text in texts(copy, clock) if not text.endswith("before")]
        assert kept and len(kept) % 2 == 0, "both lessons of a transaction, or none"


@pytest.mark.parametrize("point", ["backup.copied", "newfile.before-name"])
def test_a_killed_backup_leaves_no_copy_and_no_trace_after_the_next(
    memory: MnemopiMemory, path: Path, tmp_path: Path, point: str
) -> None:
    memory.store(Lesson("One."))
    target = tmp_path / "copy.db"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(target), point], check=False)
    assert done.returncode < 0 and not target.exists() and list(tmp_path.glob(".copy.db.*"))
    memory.care.back_up(target)
    assert not list(tmp_path.glob(".copy.db.*"))


def test_a_damaged_page_is_not_backed_up_as_if_it_were_whole(memory: MnemopiMemory, path: Path, tmp_path: Path) -> None:
    memory.store_many([Lesson(f"Lesson {n} " + "long " * 300) for n in range(200)])
    memory.care.vacuum()
    memory.close()
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'lessons_by_seen'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
    data[(page - 1) * size : (page - 1) * size + 200] = b"\xff" * 200
    path.write_bytes(data)
    with pytest.raises(StoreError, match="not whole"):
        memory.care.back_up(tmp_path / "copy.db")
    assert not list(tmp_path.glob("*copy.db*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_folder_that_cannot_be_written_is_one_sentence(memory: MnemopiMemory) -> None:
    memory.store(Lesson("One."))
    with pytest.raises(StoreError, match="cannot be made"):
        memory.care.back_up(Path("/proc/copy.db"))
