"""The SQLite bank: its banks, its patience with other writers, and what it does with files it cannot use."""

from __future__ import annotations

import itertools
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.errors import BusyError, StoreError
from lessonbook.core.lesson import Lesson, Outcome, Scope
from lessonbook.core.tidy import tidy
from lessonbook.memory.mnemopi import schema
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.testing import HARD_TEXTS

WRITER = """
import sys, time
from pathlib import Path
from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi.bank import MnemopiMemory
file, who = sys.argv[1:]
memory = MnemopiMemory(Path(file), "p-1", time.time)
for n in range(50):
    assert memory.store(Lesson(f"writer {who} lesson {n} ends here")).id
"""
HOLDER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
db.close()
"""


def clock() -> Callable[[], float]:
    ticks = itertools.count(1_700_000_000)
    return lambda: float(next(ticks))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent" / "bank.db"


@pytest.fixture
def memory(path: Path) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(path, "p-1", clock())) as opened:
        yield opened


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        yield process
        process.communicate("go\n", timeout=30)


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def test_banks_are_kept_apart_and_one_is_shared(path: Path) -> None:
    with closing(MnemopiMemory(path, "a-1", clock())) as one, closing(MnemopiMemory(path, "b-2", clock())) as two:
        one.store(Lesson("only in a"))
        one.store(Lesson("holds everywhere", scope=Scope.GLOBAL))
        assert [(found.text, found.bank) for found in two.recent()] == [("holds everywhere", "global")]
        assert [found.text for found in two.recall("only everywhere")] == ["holds everywhere"]
        assert (one.count(), two.count()) == (2, 1)


def test_a_lesson_in_both_banks_is_recalled_once(memory: MnemopiMemory) -> None:
    for scope in Scope:
        assert memory.store(Lesson("same", scope=scope)).outcome is Outcome.STORED
    assert (memory.count(), len(memory.recent()), len(memory.recall("same"))) == (1, 1, 1)


TOLD = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(list(Scope)), st.booleans()), max_size=12)


@settings(max_examples=30, deadline=None)
@given(TOLD, st.integers(1, 8))
def test_twins_count_once_and_what_is_forgotten_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, Scope, bool]], limit: int
) -> None:
    with closing(MnemopiMemory(tmp_path_factory.mktemp("bank") / "bank.db", "p-1", clock())) as bank:
        kept: dict[tuple[str, Scope], bool] = {}
        for text, scope, forget in told:
            id = bank.store(Lesson(text, scope=scope)).id
            assert id is not None
            kept.pop((text, scope), None)  # told again it is the newest
            kept[text, scope] = not forget
            if forget:
                bank.forget(id)
        left = list(dict.fromkeys(text for (text, _), there in reversed(kept.items()) if there))
        assert bank.count() == len(left)
        assert [one.text for one in bank.recent(limit)] == left[:limit]


def test_what_the_contract_wants_is_in_the_row(memory: MnemopiMemory, path: Path) -> None:
    memory.store(Lesson("a", "c", metadata={"session_id": "s", "cwd": "/x", "context": "c", "tool": "learn"}))
    row = rows(path, "SELECT bank, text, context, source, importance, veracity, memory_type, metadata FROM lessons")[0]
    assert row[:7] == ("p-1", "a", "c", "coding-agent-learn", 0.8, "tool", "fact")
    assert json.loads(str(row[7])) == {"session_id": "s", "cwd": "/x", "context": "c", "tool": "learn"}


def test_a_repeat_adds_no_row_and_keeps_every_context(memory: MnemopiMemory, path: Path) -> None:
    contexts = (None, "one", "two", "one", None)
    receipts = [memory.store(Lesson("a", context)) for context in contexts]
    assert {receipt.id for receipt in receipts} == {"1"}
    assert rows(path, "SELECT count(*) FROM lessons") == [(1,)]
    assert rows(path, "SELECT context FROM sightings ORDER BY at") == [("one",), ("two",)]
    assert memory.recent()[0].context == "one; two"


def test_the_file_is_durable_private_and_ours(memory: MnemopiMemory, path: Path) -> None:
    memory.store(Lesson("a"))
    assert path.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(path)) as db:
        pragmas = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "user_version")]
        assert pragmas == ["wal", len(schema.STEPS)]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    with memory._file.reading() as own:
        assert own.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_write_waits_for_another_process(memory: MnemopiMemory, path: Path) -> None:
    memory.store(Lesson("first"))
    with held(path) as process:
        release = threading.Timer(0.5, lambda: process.stdin and (process.stdin.write("go\n"), process.stdin.flush()))
        release.start()
        assert memory.store(Lesson("second")).outcome is Outcome.STORED
        release.join()
    assert memory.count() == 2


def test_past_the_wait_it_is_an_error_and_the_next_call_works(path: Path) -> None:
    with closing(MnemopiMemory(path, "p-1", clock(), wait=0.05)) as memory:
        memory.store(Lesson("first"))
        with held(path):
            with pytest.raises(BusyError, match="nothing was changed"):
                memory.store(Lesson("second"))
            assert [found.text for found in memory.recent()] == ["first"]
        assert memory.store(Lesson("second")).outcome is Outcome.STORED


def test_a_first_open_that_failed_is_tried_again(path: Path) -> None:
    path.parent.mkdir()
    with closing(MnemopiMemory(path, "p-1", clock(), wait=0.05)) as memory:
        with held(path), pytest.raises(BusyError):
            memory.store(Lesson("a"))
        assert memory.store(Lesson("a")).outcome is Outcome.STORED
        assert rows(path, "PRAGMA journal_mode") == [("wal",)]


def test_a_long_read_does_not_stop_a_writer(memory: MnemopiMemory, path: Path) -> None:
    for n in range(3):
        memory.store(Lesson(f"a {n}"))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM lessons").fetchone()
        assert memory.store(Lesson("b")).outcome is Outcome.STORED


@pytest.mark.slow
def test_sixteen_writers_lose_nothing(memory: MnemopiMemory, path: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(who)]) for who in range(16)]
    assert [process.wait(timeout=120) for process in running] == [0] * 16
    wanted = {f"writer {who} lesson {n} ends here" for who in range(16) for n in range(50)}
    assert {found.text for found in memory.recent(1_000)} == wanted
    assert memory.count() == 800
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_what_was_answered_survives_a_kill(memory: MnemopiMemory, path: Path) -> None:
    told = WRITER.replace("    assert memory", "    print(n, flush=True) if n else None\n    assert memory")
    for who in range(3):
        command = [sys.executable, "-c", told, str(path), str(who)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for _ in range(5):
                process.stdout.readline()
            process.kill()
        kept = {found.text for found in memory.recent(1_000)}
        assert {f"writer {who} lesson {n} ends here" for n in range(5)} <= kept
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_threads_may_share_one_memory(memory: MnemopiMemory) -> None:
    def store(who: int) -> None:
        for n in range(10):
            memory.store(Lesson(f"thread {who} lesson {n}"))

    threads = [threading.Thread(target=store, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.count() == 40


def test_a_newer_file_and_another_programs_are_left_untouched(path: Path) -> None:
    path.parent.mkdir()
    for script in (
        f"PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = 99; CREATE TABLE x (y)",
        "CREATE TABLE x (y)",
    ):
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as db:
            db.executescript(script)
        data = path.read_bytes()
        memory = MnemopiMemory(path, "p-1", clock())
        with pytest.raises(StoreError, match="left as it is"):
            memory.store(Lesson("a"))
        assert path.read_bytes() == data
        assert [found.name for found in path.parent.iterdir()] == ["bank.db"]


def test_a_file_moved_away_is_not_written_to_any_more(memory: MnemopiMemory, path: Path) -> None:
    memory.store(Lesson("old"))
    memory.close()
    memory.store(Lesson("older"))
    path.rename(path.with_name("moved.db"))
    memory.store(Lesson("new"))
    assert [found.text for found in memory.recent()] == ["new"]
    assert path.exists()


def test_a_killed_migration_leaves_nothing_half_done(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        for statement in schema._statements(schema.STEPS[0])[:2]:
            db.execute(statement)
    with closing(MnemopiMemory(path, "p-1", clock())) as memory:
        assert memory.store(Lesson("a")).outcome is Outcome.STORED


def test_where_wal_is_impossible_it_still_works(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        with closing(MnemopiMemory(path, "p-1", clock())) as first:
            first.store(Lesson("a"))
        reader.execute("PRAGMA journal_mode = DELETE")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM lessons").fetchone()
        # A reader keeps the file from changing its journal; reading goes on all the same.
        with closing(MnemopiMemory(path, "p-1", clock(), wait=0.1)) as memory:
            assert memory.count() == 1
            with pytest.raises(BusyError):
                memory.store(Lesson("b"))
            reader.execute("ROLLBACK")
            assert memory.store(Lesson("b")).outcome is Outcome.STORED


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(min_size=1), max_size=5), st.text())
def test_any_text_comes_back_and_any_question_is_answered(
    tmp_path_factory: pytest.TempPathFactory, told: list[str], query: str
) -> None:
    with closing(MnemopiMemory(tmp_path_factory.mktemp("bank") / "bank.db", "p-1", clock())) as memory:
        for text in told:
            memory.store(Lesson(text))
        wanted = {tidy(text).text for text in told} - {""}
        assert {found.text for found in memory.recent()} == wanted
        assert {found.text for found in memory.recall(query)} <= wanted


def test_hard_texts_are_found_by_themselves(memory: MnemopiMemory) -> None:
    for text in HARD_TEXTS:
        memory.store(Lesson(text))
    for text in HARD_TEXTS:
        assert tidy(text).text in [found.text for found in memory.recall(text, 20)]
