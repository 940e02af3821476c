"""How the few lessons whose score is worked out are found, in a bank where a question's words are common."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.lesson import Lesson
from lessonbook.memory.mnemopi import candidates
from lessonbook.memory.mnemopi.bank import MnemopiMemory

WORDS = "abcdefg"


@given(st.lists(st.sets(st.sampled_from(WORDS)), max_size=40), st.integers(1, 5), st.integers(1, 5))
def test_at_least_so_many_of_the_words(lessons: list[set[str]], count: int, least: int) -> None:
    least = min(least, count)
    expression = candidates.at_least_of([f'"{word}"' for word in WORDS[:count]], least)
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
        db.executemany("INSERT INTO words (text) VALUES (?)", [(" ".join(sorted(has)),) for has in lessons])
        found = {row[0] for row in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,))}
    assert found == {number for number, has in enumerate(lessons, 1) if len(has & set(WORDS[:count])) >= least}


def test_each_word_is_named_less_often_than_in_every_group() -> None:
    assert candidates.at_least_of(["a", "b", "c"], 2) == "((a AND (b OR c)) OR (b AND c))"
    assert candidates.at_least_of(list("abcd"), 3).count("AND") < 8, "four groups of three have eight"
    assert candidates.at_least_of(["a"], 1) == "(a)"


def test_many_matches_are_those_with_most_of_the_words(memory: MnemopiMemory) -> None:
    common = [f"alpha beta case {number}" for number in range(2_000)]
    some = [f"alpha gamma case {number}" for number in range(2_000)]
    memory.store_many([Lesson(text) for text in ("alpha beta gamma together", *common, *some)])
    assert memory.recall("alpha beta gamma", 1)[0].text == "alpha beta gamma together"
