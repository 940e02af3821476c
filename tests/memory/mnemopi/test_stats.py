"""What a bank holds is counted as a person would count it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory.mnemopi.bank import MnemopiMemory


def test_every_count(memory: MnemopiMemory, path: Path, clock: Callable[[], float]) -> None:
    for n, word in enumerate(("Apples", "Birds", "Cats", "Dogs")):
        memory.store(Lesson(f"{word} alone.", veracity="stated" if n else "tool"))
    memory.store(Lesson("An episode of old.", memory_type="episode", scope=Scope.GLOBAL, valid_until=1.0))
    memory.store(Lesson("Not for long.", valid_until=9e9))
    with closing(MnemopiMemory(path, "other-2", clock)) as other:
        other.store(Lesson("Elsewhere."))
    memory.forget("1")
    memory.invalidate("2", "3")
    memory.invalidate("4")
    memory.pin("3")
    for _ in range(5):
        memory.recall("cats")
    memory.close()
    found = memory.care.stats()
    assert found.banks == {"p-1": 4, "global": 1, "other-2": 1}
    assert found.types == {"fact": 5, "episode": 1} and found.veracities == {"stated": 3, "tool": 3}
    assert found.states == {
        "all": 7, "holding": 3, "expired": 1, "no longer holding": 1, "replaced": 1, "forgotten": 1, "pinned": 1,
    }  # fmt: skip
    assert (found.never_recalled, found.often_recalled, found.changes) == (5, 1, 4)
    assert found.vectors + found.unembedded == 6
    assert found.bytes_per_lesson and found.bytes_per_lesson > 100


def test_what_vacuum_gives_back_is_what_was_unused(memory: MnemopiMemory) -> None:
    memory.store(Lesson("Stays."))
    with memory._file.writing() as db:
        db.execute("CREATE TABLE big (x)")
        db.execute("INSERT INTO big VALUES (zeroblob(400000))")
    with memory._file.writing() as db:
        db.execute("DROP TABLE big")
    assert memory.care.stats().unused_bytes >= 400_000
    before, after = memory.care.vacuum()
    assert before - after >= 400_000 and memory.care.stats().unused_bytes == 0
    assert [one.text for one in memory.recent()] == ["Stays."]
