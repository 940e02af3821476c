"""A keyword score without an index: rare words count, and a word that matches is never missed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.memory.scoring import MAX_TERMS, fold, rank, terms


def test_spellings_of_a_word_fold_together() -> None:
    assert fold("CAF\u00c9") == fold("cafe\u0301") == "cafe"
    assert fold("\ud55c\uad6d") == "\ud55c\uad6d"
    assert fold("\u304c") != fold("\u304b")


def test_terms_are_distinct_bounded_and_symbols_only_alone() -> None:
    assert terms("a b, a! C++") == ("a", "b", "C")
    assert terms("++ \U0001f680 ++") == ("++", "\U0001f680")
    assert len(terms(" ".join(map(str, range(500))))) == MAX_TERMS
    assert terms(" \n") == ()


def test_the_rarer_word_wins_and_ties_keep_their_order() -> None:
    texts = ["run tests", "run linter", "run tests twice", "nothing"]
    assert [index for index, _ in rank("run the linter", texts)] == [1, 0, 2]
    assert rank("absent", texts) == []


def test_a_part_of_a_longer_word_is_found() -> None:
    assert rank("deploy", ["the deployments"])
    assert rank("deployments", ["deploy it"])
    assert rank("\u6d41\u7a0b", ["\u90e8\u7f72\u6d41\u7a0b"])


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_word_of_a_text_finds_it(query: str, texts: list[str]) -> None:
    assert all(score > 0 for _, score in rank(query, texts))
    for index, text in enumerate(texts):
        for word in terms(fold(text))[:3]:
            assert index in dict(rank(word, texts))
