"""Texts and questions come to the same words, whatever stands in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.words import MOST_TERMS, TOKENIZE, fold, index_words, plain_words, stem, stems, terms

ANY = st.text(st.characters(codec=None, exclude_categories=("Cs",)), max_size=200)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("parse_config fails", ["pars", "config", "parse_config", "fail"]),
        ("UserService", ["user", "servic", "userservic"]),
        ("HTTPServer2", ["http", "server", "2", "httpserver2"]),
        ("src/app-main.ts", ["src", "app", "main", "ts"]),
        ("v2.10.1", ["v", "2", "v2", "10", "1"]),
        ("C++ at 50%", ["c", "++", "at", "50"]),
        ("Café cafe\u0301 Cre\u0300me", ["caf", "caf", "crem"]),
        ("Straßenbahn_Halt", ["strassenbahn", "halt"]),
        ("\u90e8\u7f72\u6d41", ["\u90e8", "\u7f72", "\u6d41", "\u90e8\u7f72", "\u7f72\u6d41"]),
        ("\U0001f680\U0001f680", ["\U0001f680", "\U0001f680"]),
        ("- - -", ["-", "-", "-"]),
        ("a, b.", ["a", "b"]),
        ("", []),
    ],
)
def test_what_a_text_is_found_by(text: str, wanted: list[str]) -> None:
    assert stems(text) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [("tests", "test"), ("running", "run"), ("failed", "fails"), ("retries", "retry"), ("classes", "class"),
     ("caching", "caches"), ("databases", "database"), ("stopped", "stopping"), ("deploys", "deployed")],
)  # fmt: skip
def test_forms_of_a_word_are_one(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["status", "analysis", "process", "bus", "sing", "red", "123s", "caf\u00e9s", "gas"])
def test_what_only_looks_like_an_ending_stays(word: str) -> None:
    assert stem(word) == word


def test_a_question_is_what_it_is_about() -> None:
    asked = terms("How do I please fix the failing build, and the Build?")
    assert [(term.stem, term.weight) for term in asked] == [
        ("pleas", 0.3),
        ("fix", 1.0),
        ("fail", 1.0),
        ("build", 1.0),
    ]
    assert [term.stem for term in terms("what is it")] == ["what", "is", "it"]
    assert [term.weight for term in terms("please help")] == [0.3, 0.3]
    assert len(terms(" ".join(f"word{n}" for n in range(1_000)))) == MOST_TERMS


@settings(deadline=None)
@given(ANY)
def test_a_text_is_found_by_itself_and_folding_is_done_once(text: str) -> None:
    words = stems(text)
    assert " ".join(words) == index_words(text)
    assert not any(character.isspace() for word in words for character in word)
    assert {term.stem for term in terms(text)} <= set(words)
    assert fold(fold(text)) == fold(text)
    assert all(plain_words(text))


@settings(deadline=None, max_examples=200)
@given(ANY)
def test_the_index_takes_every_word_as_it_is(text: str) -> None:
    words = list(dict.fromkeys(stems(text)))[:20]
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5 (a, content = '', tokenize = \"{TOKENIZE}\")")
        db.execute("INSERT INTO t (rowid, a) VALUES (1, ?)", (index_words(text),))
        for word in words:
            match = '"' + word.replace('"', '""') + '"'
            assert db.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)).fetchall() == [(1,)], word
