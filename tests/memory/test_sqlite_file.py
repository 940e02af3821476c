"""A file of ours stays in use for other processes however often this one opens it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.memory.outbox.conftest import item

from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.memory.outbox.outbox import Outbox

OTHER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("SELECT count(*) FROM sqlite_master").fetchone()
db.execute("CREATE TABLE IF NOT EXISTS theirs (a)")
db.commit()
db.close()
"""


def _bank(path: Path) -> Any:
    return MnemopiMemory(path, "p-1", lambda: 1.0)


def _told(memory: Any, text: str) -> None:
    memory.store(Lesson(text)) if isinstance(memory, MnemopiMemory) else memory.put([item(text)], 1.0)


@pytest.mark.parametrize(("opener", "table"), [(_bank, "lessons"), (Outbox, "outbox")])
def test_another_process_that_closes_takes_nothing_away(
    tmp_path: Path, opener: Callable[[Path], Any], table: str
) -> None:
    """The last one to close a database removes its log; who has the file open must be known to have it open.

    Another opening of the same file in one process once dropped its locks (POSIX: closing any descriptor does).
    """
    path = tmp_path / "x.db"
    first, second = opener(path), opener(path)
    _told(first, "one")
    first.recent() if table == "lessons" else first.counts()
    _told(second, "two")
    second.close()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", OTHER, str(path)], env=env, check=True)
    assert (tmp_path / "x.db-wal").exists(), "its log was taken away while it was in use"
    _told(first, "three")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 3
    first.close()
