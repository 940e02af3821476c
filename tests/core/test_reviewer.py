"""Who reviews: read from text, safe for a commit's header."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.reviewer import Reviewer, parse, reviewer


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Ana Lee <ana@example.org>", Reviewer("Ana Lee", "ana@example.org")),
        ("Ana Lee", Reviewer("Ana Lee")),
        ("ana@example.org", Reviewer("ana@example.org", "ana@example.org")),
        ("<ana@example.org>", Reviewer("ana@example.org", "ana@example.org")),
        ("Ana\nLee <a\x00b>", Reviewer("Ana Lee", "a b")),
        ("Zoë 李", Reviewer("Zoë 李")),
        ("", None),
        (" <> ", None),
        ("\n", None),
    ],
)
def test_how_a_reviewer_is_written(text: str, wanted: Reviewer | None) -> None:
    assert parse(text) == wanted


def test_what_it_says() -> None:
    assert Reviewer("Ana", "a@x").signature == "Ana <a@x>" and Reviewer("Ana").signature == "Ana"
    assert Reviewer("Ana").ident == b"Ana <>"


@given(st.text(), st.text())
@settings(deadline=None)
def test_no_text_breaks_a_header(name: str, email: str) -> None:
    found = reviewer(name, email)
    if found:
        assert found.ident.count(b"<") == found.ident.count(b">") == 1 and b"\n" not in found.ident
        assert found.name
