"""What leaves a text and what stays, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.expiry import (
    DATED,
    DAY,
    PARAGRAPH,
    SKILL,
    Part,
    dated_until,
    day_of,
    judged,
    paragraph_key,
    skill_key,
    without,
)
from lessonbook.core.paragraphs import is_blank, lines_of, split

NOW = 1_800_000_000
OLD = NOW - 31 * DAY
TEXTS = st.lists(
    st.sampled_from(["Use rg.", "- item", "", " ", "```", "~~~~", "## Head", "  - deep", "é", "Use rg.\r"]), max_size=14
).flatmap(lambda lines: st.sampled_from(["", "\n", "\n\n"]).map(lambda end: "\n".join(lines) + end))


@given(TEXTS, st.sets(st.integers(1, 15)))
def test_what_stays_keeps_its_bytes_and_its_order(text: str, lines: set[int]) -> None:
    kept = [paragraph for paragraph in split(text) if paragraph.text and paragraph.line + 1 not in lines]
    left = without(text, lines)
    if not kept:
        assert left == ""
        return
    assert [p.text for p in split(left) if p.text] == [p.text for p in kept]
    assert left.endswith("\n") == text.endswith("\n") or not text.endswith("\n")
    assert without(left, ()) == left


@given(TEXTS)
def test_nothing_to_remove_changes_nothing(text: str) -> None:
    assert without(text, ()) == (text if text.strip(" \t\r\n") else "")


@pytest.mark.parametrize(
    ("text", "lines", "left"),
    [
        ("A.\n\nB.\n", {3}, "A.\n"),
        ("A.\n\nB.\n", {1}, "B.\n"),
        ("A.\n\nB.", {3}, "A.\n"),
        ("A.\r\n\r\nB.\r\n\r\nC.\r\n", {3}, "A.\r\n\r\nC.\r\n"),
        ("\n\nA.\n\n\nB.\n\n", {4, 6}, "\n\nA.\n\n"),
        ("A.\n\n```\nx\n\ny\n```\n\nB.\n", {3}, "A.\n\nB.\n"),
        ("A.\n", {1}, ""),
    ],
)
def test_the_blank_lines_between_go_with_it(text: str, lines: set[int], left: str) -> None:
    assert without(text, lines) == left


def part(kind: str = PARAGRAPH, since: int = OLD, held: str | None = None, key: str = "k") -> Part:
    return Part(kind, "AGENTS.md", key, "Words", since, 1, held)


@pytest.mark.parametrize(
    ("given", "pinned", "used", "worked", "leaves", "why"),
    [
        (part(), (), {}, True, True, "nothing used it for 30 days"),
        (part(since=NOW - 30 * DAY), (), {}, True, False, "it was written less than 30 days ago"),
        (part(since=NOW - 30 * DAY - 1), (), {}, True, True, "nothing used it for 30 days"),
        (part(), ("k",), {}, True, False, "it is pinned"),
        (part(), (), {"k": NOW - DAY}, True, False, "it was used less than 30 days ago"),
        (part(), (), {"k": OLD, "other": NOW}, True, True, "nothing used it for 30 days"),
        (part(SKILL), (), {"k": NOW + DAY}, True, False, "it was used less than 30 days ago"),
        (part(held="a person wrote it"), (), {}, True, False, "a person wrote it"),
        (part(), (), {}, False, False, "nobody worked in the last 30 days, so nothing could be used"),
        (part(DATED), (), {"k": NOW}, False, True, "it is more than 30 days old"),
    ],
)
def test_who_leaves_and_why(
    given: Part, pinned: tuple[str, ...], used: dict[str, int], worked: bool, leaves: bool, why: str
) -> None:
    verdict = judged([given], NOW, 30, pinned, used, worked=worked)[0]
    assert (verdict.leaves, verdict.why) == (leaves, why)


def test_one_day_is_said_as_one() -> None:
    asked = [(part(), True), (part(since=NOW), True), (part(), False), (part(DATED), True)]
    why = [judged([given], NOW, 1, (), {}, worked=worked)[0].why for given, worked in asked]
    assert why == [
        "nothing used it for 1 day",
        "it was written less than 1 day ago",
        "nobody worked in the last day, so nothing could be used",
        "it is more than 1 day old",
    ]


def test_a_dated_file_counts_from_the_end_of_its_day() -> None:
    assert dated_until("dhrona-1970-01-02.md") == 2 * DAY and day_of(2 * DAY - 1) == "1970-01-02"
    assert dated_until("dhrona-2026-02-31.md") is None
    assert day_of(999_999_999_999) == "9999-12-31" and day_of(-5) == "1970-01-01"


@given(st.text())
def test_a_key_knows_a_paragraph_by_its_words_alone(text: str) -> None:
    lines = [line for line in lines_of(text.replace("\r", "")) if not is_blank(line)]
    plain = "".join(lines)
    assert paragraph_key(plain) == paragraph_key("\n" + plain.replace("\n", " \r\n") + "\r\n\n")
    assert len(paragraph_key(text)) == 32 and paragraph_key(text) != skill_key(text)
