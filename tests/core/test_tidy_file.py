"""A person's changes to a file are cleaned and redacted; what they left alone keeps its bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.tidy_file import tidy_file

SECRET = "ghp_" + "a1B2" * 9


def test_only_what_changed_is_touched() -> None:
    old = f"Old {SECRET}\u200b\nKeep \x1b[31m\n"
    found = tidy_file(old, old + f"\nNew {SECRET}\u202e\n")
    assert (found.text, found.count) == (old + "\nNew [REDACTED]\n", 1)


def test_a_secret_of_several_lines_is_found_whole() -> None:
    begin, end = "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----"
    found = tidy_file("", f"Use:\n{begin}\n{'a1B2' * 16}\n{end}\n")
    assert found.count == 1 and "a1B2" not in found.text


def test_line_ends_and_indentation_stay() -> None:
    for text in ("  a\n\tb\n\n", "a\r\nb\r\n", "a\r\nb\nc", "\n\n- a\n  - b", "", "\r\n"):
        assert tidy_file("", text) == tidy_file(text, text)
        assert tidy_file("", text).text == text


@given(old=st.text("ab \n\r", max_size=20), new=st.text("ab \n\u200b\x1b", max_size=30))
@settings(max_examples=100, deadline=None)
def test_twice_is_once(old: str, new: str) -> None:
    once = tidy_file(old, new).text
    assert tidy_file(old, once).text == once and "\x1b" not in once
