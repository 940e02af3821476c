"""MH-06: a marked block in a Markdown file of a person's, whatever the markers look like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.system.config_text import ConfigTextError
from lessonbook.system.config_text_block import block, with_block, without_block

TEXT = "One line.\nAnother.\n"
FIRST, LAST = "<!-- lessonbook: begin -->", "<!-- lessonbook: end -->"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"Words.\n", b"# Head\n\nWords.\n\n", b"A\r\nB\r\n", b"\xef\xbb\xbfA\n",
        b"```\n<!-- lessonbook: begin -->\n```\n", b"~~~ md\n<!-- lessonbook: end -->\n~~~\nAfter.\n",
        b"Write <!-- lessonbook: begin --> in a line of its own.\n",
    ],
)  # fmt: skip
def test_a_persons_words_keep_their_bytes(data: bytes) -> None:
    new = with_block(data, "lessonbook", TEXT)
    assert new.startswith(data)
    assert block(new, "lessonbook") == TEXT
    assert with_block(new, "lessonbook", TEXT) == new
    changed = with_block(new, "lessonbook", "New.\n")
    assert block(changed, "lessonbook") == "New.\n" and changed.startswith(data)
    assert without_block(changed, "lessonbook") == data
    assert (b"\r\n" in data) == (b"\r\n" in new) and new.count(b"\r\n") in (0, new.count(b"\n"))


@pytest.mark.parametrize(
    "text",
    [
        FIRST, LAST, f"{LAST}\n{FIRST}", f"{FIRST}\na\n{LAST}\n{FIRST}\nb\n{LAST}", f"{FIRST}\n{FIRST}\n{LAST}",
        f"{FIRST}\n```\n{LAST}\n```\n",
    ],
)  # fmt: skip
def test_markers_that_do_not_pair_are_refused(text: str) -> None:
    for change in (lambda d: with_block(d, "lessonbook", TEXT), lambda d: without_block(d, "lessonbook")):
        with pytest.raises(ConfigTextError, match="do not pair"):
            change(text.encode())


def test_a_block_cannot_close_itself_or_vanish_in_a_fence() -> None:
    with pytest.raises(ConfigTextError, match="its own markers"):
        with_block(b"", "lessonbook", f"a\n{LAST}\nb\n")
    with pytest.raises(ConfigTextError, match="code fence"):
        with_block(b"```\nnever closed\n", "lessonbook", TEXT)


def test_words_before_and_after_stay() -> None:
    new = with_block(b"Before.\n", "lessonbook", TEXT) + b"\nAfter.\n"
    assert without_block(new, "lessonbook") == b"Before.\n\nAfter.\n"


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
def test_any_text_comes_back(text: str) -> None:
    data = text.encode()
    try:
        new = with_block(data, "lessonbook", TEXT)
    except ConfigTextError:
        return
    assert new.startswith(data) and block(new, "lessonbook") == TEXT
    back = without_block(new, "lessonbook")
    assert (
        back == data or back == data + b"\n" or back == data + b"\r\n" or back.rstrip(b"\r\n") == data.rstrip(b"\r\n")
    )
