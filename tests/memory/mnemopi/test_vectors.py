"""Vectors change with their rows, are made up for where nobody could make them, and are compared exactly."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi import checks
from lessonbook.memory.mnemopi.bank import MnemopiMemory
from lessonbook.memory.mnemopi.vectors import Vectors, likest

np = pytest.importorskip("numpy")


class Hashed:
    """A small embedder: each word falls on one of its dimensions; the text without words has no vector."""

    def __init__(self, dimensions: int = 64) -> None:
        self.dimensions = dimensions
        self.id = f"hashed-{dimensions}"
        self.made = 0
        self.is_loaded = True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.made += len(texts)
        made = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
            row /= np.linalg.norm(row) or 1
        return made

    def embed_words(self, words: Sequence[tuple[str, float]]) -> np.ndarray:
        made = sum((counts * self.embed([word])[0] for word, counts in words), np.zeros(self.dimensions, np.float32))
        return made / (np.linalg.norm(made) or 1)


@pytest.fixture
def opened(path: Path, clock: Callable[[], float]) -> Callable[..., MnemopiMemory]:
    return lambda embedder=None: MnemopiMemory(path, "p-1", clock, embedder=embedder)


def likeness(memory: MnemopiMemory, query: str) -> dict[str, float]:
    with memory._file.reading() as db:
        found = memory._vectors.likeness(db, [(word, 1.0) for word in query.split()])
    return {} if found is None else {str(n): round(float(found[n]), 3) for n in np.flatnonzero(found > 0.05)}


def problems(memory: MnemopiMemory) -> list[str]:
    with closing(sqlite3.connect(memory._file.path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        return [one.said for one in checks.look(db, memory._vectors, deep=True) if one.problem]


def test_every_lesson_has_its_vector_and_an_edit_changes_it(opened: Callable[..., MnemopiMemory]) -> None:
    with closing(opened(Hashed())) as memory:
        for text in ("apples", "pears", "plums"):
            memory.store(Lesson(text))
        assert likeness(memory, "pears") == {"2": 1.0}
        memory.update("2", {"text": "cherries"})
        memory.forget("3")
        assert (likeness(memory, "pears"), likeness(memory, "cherries")) == ({}, {"2": 1.0})
        assert likeness(memory, "plums") == {}
        memory.undo("2")
        memory.undo("3")
        assert likeness(memory, "pears plums") == {"2": 0.707, "3": 0.707}
        assert problems(memory) == []


def test_another_process_sees_what_changed_and_loads_only_that(opened: Callable[..., MnemopiMemory]) -> None:
    with closing(opened(Hashed())) as one, closing(opened(Hashed())) as other:
        one.store_many([Lesson(f"fruit{n}") for n in range(200)])
        assert likeness(other, "fruit150")["151"] == 1.0
        one.update("151", {"text": "stone"})
        one.store(Lesson("flower"))
        assert "151" not in likeness(other, "fruit150")
        assert likeness(other, "stone")["151"] == likeness(other, "flower")["201"] == 1.0


def test_what_was_written_without_an_embedder_is_made_up_for(opened: Callable[..., MnemopiMemory]) -> None:
    with closing(opened()) as without:
        without.store_many([Lesson(f"fruit{n}") for n in range(10)])
    embedder = Hashed()
    with closing(opened(embedder)) as memory:
        memory.recall("fruit3")
        assert embedder.made >= 10
        assert likeness(memory, "fruit3")["4"] == 1.0
        with closing(opened()) as without:
            without.update("4", {"text": "stone"})
        assert "4" not in likeness(memory, "fruit3")
        assert problems(memory) == []
        memory.recall("fruit3")
        assert likeness(memory, "stone")["4"] == 1.0
        assert problems(memory) == []


def test_another_embedder_starts_anew_and_never_mixes(opened: Callable[..., MnemopiMemory]) -> None:
    with closing(opened(Hashed(64))) as one, closing(opened(Hashed(32))) as other:
        one.store_many([Lesson(f"fruit{n}") for n in range(100)])
        assert likeness(one, "fruit3")["4"] == 1.0
        other.recall("fruit3")
        assert likeness(other, "fruit3")["4"] == 1.0
        assert problems(other) == []
        assert likeness(one, "fruit3") == {}
        one.store(Lesson("stone"))
        one.recall("fruit3")
        assert likeness(one, "fruit3")["4"] == 1.0
        assert problems(one) == []


def test_vectors_follow_a_file_that_was_replaced(opened: Callable[..., MnemopiMemory], path: Path) -> None:
    with closing(opened(Hashed())) as memory:
        memory.store_many([Lesson(f"fruit{n}") for n in range(100)])
        assert likeness(memory, "fruit3")["4"] == 1.0
        memory.close()
        path.unlink()
        memory.store(Lesson("stone"))
        assert likeness(memory, "fruit3") == {}
        assert likeness(memory, "stone") == {"1": 1.0}


def test_a_write_that_fails_leaves_no_vector(opened: Callable[..., MnemopiMemory]) -> None:
    with closing(opened(Hashed())) as memory:
        memory.store(Lesson("apples"))
        with pytest.raises(RuntimeError), memory._file.writing() as db:
            memory._vectors.keep(db, 1, "stone")
            raise RuntimeError
        assert likeness(memory, "stone") == {}
        assert problems(memory) == []


@given(
    likeness=st.lists(st.sampled_from([-0.5, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0]), max_size=60),
    wanted=st.integers(1, 20),
    least=st.sampled_from([0.0, 0.2, 0.9]),
)
def test_the_nearest_are_those_a_plain_sort_gives(likeness: list[float], wanted: int, least: float) -> None:
    found = Vectors(None).nearest(sqlite3.connect(":memory:"), np.array(likeness, np.float32), wanted, None, least)
    above = [number for number, value in enumerate(likeness) if value > least]
    assert found == sorted(above, key=lambda number: -likeness[number])[:wanted]


@given(st.lists(st.sampled_from([0.1, 0.25, 0.5]), min_size=1, max_size=30), st.sets(st.integers(0, 40)), st.data())
def test_the_likest_of_some_are_those_a_plain_sort_gives(
    known: list[float], some: set[int], data: st.DataObject
) -> None:
    wanted, mine = data.draw(st.integers(1, 20)), sorted(some)
    found = likest(np.array(known, np.float32), mine, wanted)
    assert found == sorted(mine, key=lambda number: -(known[number] if number < len(known) else 0))[:wanted]


def test_of_many_that_share_the_words_the_likest_is_found(opened: Callable[..., MnemopiMemory]) -> None:
    with closing(opened(Hashed())) as memory:
        texts = [f"alpha beta of case{n} and box{n} by line{n}" for n in range(2_000)]
        memory.store_many([Lesson(text) for text in (*texts[:700], "beta alpha", *texts[700:])])
        assert memory.recall("alpha beta", 1)[0].text == "beta alpha"
    with closing(opened()) as memory:
        assert memory.recall("alpha beta", 1)[0].text == "beta alpha"
