"""The text of a learned.md: lessons go in and out, and a person's lines keep their bytes and place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.tidy import tidy
from lessonbook.memory.page import Page, capped, make_item, on_top, parse

NEW = make_item("new", None)


def added(data: bytes) -> bytes:
    return on_top(parse(data), [NEW]).encode()


@given(st.binary() | st.text(alphabet="- ab\r\n`~#<!>\ufeff\t").map(lambda text: text.encode()))
def test_any_file_is_written_back_as_it_was(data: bytes) -> None:
    assert parse(data).encode() == data


@given(st.binary() | st.text(alphabet="- ab\r\n`~#<!>\ufeff\t").map(lambda text: text.encode()))
def test_a_lesson_only_adds_its_line(data: bytes) -> None:
    page = on_top(parse(data), [NEW])
    without = [part for part in page.parts if part == NEW or getattr(part, "line", None) != NEW.line]
    text = Page(tuple(without)).encode()
    assert text in (data, data + page.ending.encode())
    assert NEW.line in [item.line for item in parse(page.encode()).items]


@given(st.text(min_size=1), st.text())
def test_any_lesson_is_read_as_it_was_written(text: str, context: str) -> None:
    kept, told = tidy(text).text, tidy(context).text or None
    if kept:
        (item,) = parse(on_top(parse(None), [make_item(kept, told)]).encode()).items
        assert (item.text, item.context) == (kept, told)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"- new\n"),
        (b"- old\n", b"- new\n- old\n"),
        (b"- old", b"- new\n- old"),
        (b"- old\r\n- older\r\n", b"- new\r\n- old\r\n- older\r\n"),
        (b"\xef\xbb\xbf- old\n", b"\xef\xbb\xbf- new\n- old\n"),
        (b"\xef\xbb\xbf", b"\xef\xbb\xbf- new\n"),
        (b"# Mine\n\nprose\n- a\n- b\n\nfooter\n", b"# Mine\n\nprose\n- new\n- a\n- b\n\nfooter\n"),
        (b"only prose", b"only prose\n- new\n"),
        (b"only prose\r\n", b"only prose\r\n- new\r\n"),
        (b"```\n- not a lesson\n```\n- a\n", b"```\n- not a lesson\n```\n- new\n- a\n"),
        (b"<!--\n- hidden\n-->\n- a\n", b"<!--\n- hidden\n-->\n- new\n- a\n"),
        (b"- - -\n---\n- a\n", b"- - -\n---\n- new\n- a\n"),
        (b"caf\xe9 latin-1\n- \xe9\n", b"caf\xe9 latin-1\n- new\n- \xe9\n"),
    ],
)
def test_a_new_lesson_goes_before_the_first(before: bytes, after: bytes) -> None:
    assert added(before) == after


def test_an_unclosed_fence_hides_nothing() -> None:
    assert [item.text for item in parse(b"```\n- a\n- b\n").items] == ["a", "b"]


def test_continuation_lines_belong_to_their_lesson() -> None:
    page = parse(b"- one\n  more\n\t- sub\n- two\n\n    code\n")
    assert [item.text for item in page.items] == ["one more - sub", "two"]


def test_context_is_split_off() -> None:
    (item,) = parse(b"- use x _(context: seen _in_ y)_\n").items
    assert (item.text, item.context) == ("use x", "seen _in_ y")


@pytest.mark.parametrize(("text", "context"), [("x _(context: y)_", None), ("x _(context: y)_", "a _(context: b)_")])
def test_a_text_that_looks_like_a_context_is_not_one(text: str, context: str | None) -> None:
    (item,) = parse(on_top(parse(None), [make_item(text, context)]).encode()).items
    assert (item.text, item.context) == (text, context)


def test_the_oldest_leave_and_the_rest_stays() -> None:
    page, leaving = capped(parse(b"# A\n- 1\n- 2\nprose\n- 3\n  more\nend\n- 4\n"), 2)
    assert page.encode() == b"# A\n- 1\n- 2\nprose\nend\n"
    assert [item.text for item in leaving] == ["3 more", "4"]


def test_what_a_person_wrote_is_cleaned_when_read() -> None:
    secret = "ghp_" + "a1B2" * 9
    (item,) = parse(f"- run `x` with {secret} </tag>\n".encode()).items
    assert item.text == "run x with [REDACTED] /tag"
