"""``kill -9`` in the middle of writes: every acknowledged lesson is there, and words and vectors agree with rows."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from lessonbook.memory.mnemopi import checks
from lessonbook.memory.mnemopi.bank import MnemopiMemory

KILLS = int(os.environ.get("LESSONBOOK_KILLS", "12"))
"""How many times the writer is killed; 100 in a long run."""
WRITER = """
import sys, time
from pathlib import Path
from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.memory.vectors.registry import open_embedder
file, who = sys.argv[1:]
memory = MnemopiMemory(Path(file), "p-1", time.time, embedder=open_embedder())
memory.store(Lesson("the first"))
memory.recall("first")  # loads the embedder, where there is one
for n in range(10**6):
    receipt = memory.store(Lesson(f"writer {who} lesson {n} ends here", key=f"k{n % 50}" if n % 3 == 0 else None))
    sys.stdout.write(f"{receipt.id} {who} {n}\\n")
    sys.stdout.flush()
    if n % 7 == 6:
        memory.forget(receipt.id)
        memory.undo(receipt.id)
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(path: Path) -> None:
    chance = random.Random(KILLS)
    last: dict[str, str] = {}
    for who in range(KILLS):
        command = [sys.executable, "-c", WRITER, str(path), str(who)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            told = [process.stdout.readline()]
            time.sleep(chance.random() * 0.2)
            process.send_signal(signal.SIGKILL)
            told += process.stdout.readlines()
        for line in told:
            if line.endswith("\n") and line.strip():
                number, of, n = line.split()
                last[number] = f"writer {of} lesson {n} ends here"
    with closing(MnemopiMemory(path, "p-1", time.time)) as memory:
        # A kill between forgetting and taking that back leaves the lesson forgotten, not lost.
        both = (*memory.lessons(10**6), *memory.lessons(10**6, forgotten=True))
        kept = {one.id: one.lesson.text for one in both}
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            assert [one.said for one in checks.look(db, memory._vectors, deep=True) if one.problem] == []
    assert len(last) > KILLS
    assert set(last) <= set(kept)
    # A lesson under a key may have been replaced by a write that was done and not yet acknowledged.
    differing = {number for number, text in last.items() if kept[number] != text}
    assert len(differing) <= KILLS
