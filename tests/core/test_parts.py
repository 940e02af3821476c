"""Cutting one change into parts that together are the whole again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.merge import merge3
from lessonbook.core.parts import MOST, parts

BASE = "Lint.\n"


@pytest.mark.parametrize(
    ("new", "wanted"),
    [
        ("Lint.\n\nA.\n\nB.\n", ["Lint.\n\nA.\n", "Lint.\n\nB.\n"]),
        ("A.\n\nB.\n\nLint.\n", ["A.\n\nLint.\n", "B.\n\nLint.\n"]),
        ("A.\n\nLint.\n\nB.\n", ["A.\n\nLint.\n", "Lint.\n\nB.\n"]),
        ("Lint.\n\n```\na\n\nb\n```\n\nB.\n", ["Lint.\n\n```\na\n\nb\n```\n", "Lint.\n\nB.\n"]),
        ("Lint.\n\nOne:\n- a\n- b\n", ["Lint.\n\nOne:\n- a\n- b\n"]),
        ("Lint.\n\nA.\n", ["Lint.\n\nA.\n"]),
        ("Test.\n\nB.\n", ["Test.\n\nB.\n"]),
        ("", [""]),
        ("Lint.\n\nA.\n\nB.", ["Lint.\n\nA.", "Lint.\n\nB."]),
        ("Lint.\0\n\nA.\n\nB.\n", ["Lint.\0\n\nA.\n\nB.\n"]),
    ],
)
def test_where_a_change_is_cut(new: str, wanted: list[str]) -> None:
    assert [part.decode() for part in parts(BASE.encode(), new.encode())] == wanted


def test_the_first_rules_of_a_book_are_parts() -> None:
    assert parts(b"", b"A.\n\nB.\n") == [b"A.\n", b"B.\n"]
    assert parts(b"# Rules\n", b"# Rules\n\nA.\n\nB.\n\n\nC.\n")[1:] == [b"# Rules\n\nB.\n", b"# Rules\n\n\nC.\n"]


def test_edits_in_different_places_are_parts() -> None:
    old, new = "a\n\nb\n\nc\n", "A\n\nb\n\nC\n"
    assert parts(old.encode(), new.encode()) == [b"A\n\nb\n\nc\n", b"a\n\nb\n\nC\n"]


def test_a_list_that_grows_is_cut_by_item() -> None:
    assert parts(b"- a\n", b"- a\n- b\n  b\n- c\n") == [b"- a\n- b\n  b\n", b"- a\n- c\n"]


def test_too_many_paragraphs_stay_whole() -> None:
    new = "".join(f"{n}\n\n" for n in range(MOST + 1)).encode()
    assert parts(b"", new) == [new] and len(parts(b"", new[4:])) > 1


BLOCK = st.sampled_from(["a\n", "- b\n", "- b\n- c\n", "# h\n", "```\nx\n", "```\n", "\n", "  d\n", "a\nb\n"])
TEXT = st.lists(BLOCK, max_size=8).flatmap(lambda rows: st.sampled_from(["", "\n"]).map(lambda gap: gap.join(rows)))


@given(old=TEXT, new=TEXT, cut=st.booleans(), crlf=st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_parts_merged_in_order_are_the_whole(old: str, new: str, cut: bool, crlf: bool) -> None:
    one, two = (old.removesuffix("\n") if cut else old).encode(), new.encode()
    if crlf:
        one, two = one.replace(b"\n", b"\r\n"), two.replace(b"\n", b"\r\n")
    found = parts(one, two)
    assert (found and all(part != one for part in found)) or found == [two]
    state = one
    while found:
        first, *found = found
        found = [merged for part in found if (merged := merge3(state, first, part)) is not None]
        state = first
    assert state == two
