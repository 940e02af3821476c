from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.paragraphs import fences, is_blank, is_heading, is_item, join, lines_of, split

LINES = st.sampled_from(
    [
        "",
        " ",
        "\t",
        "a",
        "- a",
        "  b",
        "    ```",
        "```",
        "```sh",
        "````",
        "~~~",
        "~~~~ x",
        "  ~~~",
        "`` ` ``",
        "\r",
        "# h",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(LINES).map("\n".join))


def texts(text: str) -> list[str]:
    return [paragraph.text for paragraph in split(text)]


@given(TEXTS)
def test_the_paragraphs_joined_are_the_text_byte_for_byte(text: str) -> None:
    assert join(split(text)) == text


@given(TEXTS)
def test_lines_count_and_no_paragraph_is_split_inside_a_fence(text: str) -> None:
    lines = lines_of(text)
    inside = fences(lines)
    assert "".join(lines) == text
    for paragraph in split(text):
        assert not inside[paragraph.line]
        assert paragraph.line == 0 or is_blank(lines[paragraph.line - 1])
        assert all(is_blank(line) for line in lines_of(paragraph.after))


@given(st.lists(st.sampled_from(["a", "- b", "# c", "```\nx\n\ny\n```", "~~~~\n```\n\n~~~\n~~~~"]), min_size=1))
def test_blocks_written_with_blank_lines_between_come_back_as_they_were(blocks: list[str]) -> None:
    assert texts("\n\n".join(blocks)) == [block + "\n" for block in blocks[:-1]] + blocks[-1:]


def test_blank_lines_belong_to_the_paragraph_before_them() -> None:
    first, second, third = split("\n\na\nb\n \n\nc")
    assert (first.text, first.after, first.line) == ("", "\n\n", 0)
    assert (second.text, second.after, second.line) == ("a\nb\n", " \n\n", 2)
    assert (third.text, third.after, third.line) == ("c", "", 6)
    assert split("") == ()


@pytest.mark.parametrize(
    "whole",
    [
        "```\na\n\nb\n```\n",
        "~~~\na\n\nb\n~~~\n",
        "`````md\n```\na\n\n```\n````\n\nb\n`````\n",
        "```\n~~~\n\n~~~\n```\n",
        "Run this:\n```sh\na\n\nb\n```\nand then that.\n",
        "```\nnever closed\n\nto the end\n",
        "```\na\n\n    ```\n\nb\n```\n",
        "- an item\n  ```\n  a\n\n  b\n  ```\n",
        "- ```\n  a\n\n  b\n  ```\n",
        "1. one\n   - two\n     ```\n     a\n\n     b\n     ```\n",
        "- a\n  - b\n    - c\n        ```\n        x\n\n        y\n        ```\n",
        "```\r\na\r\n\r\nb\r\n```\r\n",
        "```\na\n\nb\n```   \n",
    ],
)
def test_a_fence_is_whole(whole: str) -> None:
    assert texts(f"before\n\n{whole}") == ["before\n", whole]
    assert [paragraph.fenced for paragraph in split(f"before\n\n{whole}")] == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        "a ``` b\n\nc\n",
        "```x``` is code\n\nc\n",
        "    ``` indented code\n\nc\n",
        "``\n\nc\n",
        "```\na\n```\n\nc\n",
        "```\na\n`````\n\nc\n",
    ],
)
def test_what_is_no_open_fence_holds_nothing_together(text: str) -> None:
    assert len(split(text)) == 2


def test_a_fence_is_closed_only_by_its_own_kind_and_length() -> None:
    assert len(split("````\n```\n\n~~~~\n\n```` x\n\nend\n")) == 1


def test_the_line_ends_of_other_systems_end_no_line() -> None:
    assert texts("a\r\rb\n\nc\u2028\u2028d\x0b\x0c\n") == ["a\r\rb\n", "c\u2028\u2028d\x0b\x0c\n"]


def test_items_and_headings_are_known_by_their_marks() -> None:
    assert all(map(is_item, ["- a", "* a", "+ a", "1. a", "12) a", "  - a", "-\ta"]))
    assert not any(map(is_item, ["-a", "a - b", "1.a", "", "---", "**a**"]))
    assert all(map(is_heading, ["# a", "###### a\n", "#\n", "  ## a"]))
    assert not any(map(is_heading, ["#a", "####### a", "    # a", "a # b", ""]))
