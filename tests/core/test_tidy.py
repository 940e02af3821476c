"""One lesson, fit to keep and to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.lesson import Lesson
from lessonbook.core.redact import LABEL
from lessonbook.core.tidy import as_item, from_item, tidy, tidy_lesson

SECRET = "ghp_" + "a1B2" * 9


@given(st.text())
def test_tidying_twice_is_once(text: str) -> None:
    once = tidy(text, 20)
    again = tidy(once.text, 20)
    assert (again.text, again.redacted, again.cut) == (once.text, 0, False)
    assert len(once.text) <= 20
    assert "\n" not in once.text


@given(st.text(alphabet="\\#-*_= [a]:x"))
def test_an_item_gives_its_text_back(text: str) -> None:
    assert from_item(as_item(text)) == text


@pytest.mark.parametrize(
    "text", ["# x", "###### x", "#", "---", "- - -", "***", "===", "[a]: http://x.invalid", "\\# x"]
)
def test_what_opens_a_block_is_escaped(text: str) -> None:
    assert as_item(text) == f"\\{text}"


@pytest.mark.parametrize("text", ["#hashtag", "-v is a flag", "[a] b", "\\n is a line", "*bold*", "1. first"])
def test_what_stays_a_paragraph_is_left_alone(text: str) -> None:
    assert as_item(text) == text


def test_every_field_is_redacted_and_secrets_are_counted() -> None:
    lesson = Lesson(f"a {SECRET}", f"b {SECRET}", source=f"s {SECRET}", metadata={"cwd": f"/x/{SECRET}"})
    tidied = tidy_lesson(lesson)
    assert SECRET not in repr(tidied)
    assert (tidied.lesson.text, tidied.redacted) == (f"a {LABEL}", 2)
    assert tidied.notes == ("2 secrets were redacted.",)


def test_a_cut_says_how_long_it_may_be() -> None:
    tidied = tidy_lesson(Lesson("x" * 3_000, "y" * 500), 2_000, 400)
    assert (len(tidied.lesson.text), len(tidied.lesson.context or "")) == (2_000, 400)
    assert tidied.notes == ("The lesson was cut to 2,000 characters.", "The context was cut to 400 characters.")


def test_a_cut_never_splits_a_label() -> None:
    kept = tidy("s" * 15 + " " + SECRET, 20).text
    assert "[RED" not in kept


def test_an_empty_context_is_none() -> None:
    assert tidy_lesson(Lesson("a", "\x00 ")).lesson.context is None
