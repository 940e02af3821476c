from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.defect import Defect, DefectKind, Told
from lessonbook.core.defect_draft import day, draft_of, is_ours
from lessonbook.core.defects import DefectState, Repeated


def one(said: str = "TypeError: x", tool: str = "fetch", asked: str = "path: text") -> Repeated:
    defect = Defect(DefectKind.CRASH, tool, "TypeError: x")
    agents = {"claude": ("2.1.0", "2.1.3"), "codex": ()}
    return Repeated(
        Told("1a2b3c4d", defect, said, asked), DefectState.OPEN, 12, ("claude/a", "codex/b"), 2, agents,
        ("m1",), 1_780_000_000.0, 1_790_000_000.0, 5, 2,
    )  # fmt: skip


def test_it_says_what_whoever_keeps_the_tool_needs() -> None:
    text = draft_of(one())
    assert text.startswith("# fetch: TypeError: x\n")
    for part in (
        "12 calls in 2 sessions of 2 projects, 2026-05-28 to 2026-09-21",
        "**last 14 days**: 5; the 14 before: 2",
        "claude 2.1.0, 2.1.3; codex",
        "```text\nTypeError: x\n```",
        "called with `path: text`",
    ):
        assert part in text


@given(st.text(max_size=60), st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_a_draft_is_ours_until_it_is_edited(said: str, tool: str, asked: str) -> None:
    assert is_ours(draft_of(one(said, tool, asked)))


@given(st.data())
def test_one_letter_more_less_or_other_makes_it_a_persons(data: st.DataObject) -> None:
    text = draft_of(one())
    at = data.draw(st.integers(0, text.rindex("<!--") - 2))
    letter = data.draw(st.characters(codec="utf-8"))
    assert not is_ours(text[:at] + letter + text[at:]) or letter == text[at]
    assert not is_ours(text[:at] + text[at + 1 :])
    assert not is_ours(text + letter)


@given(st.text(alphabet="`\n ab", max_size=40))
def test_nothing_that_was_said_closes_its_fence(said: str) -> None:
    lines = draft_of(one(said)).split("\n")
    start = next(n for n, line in enumerate(lines) if line.endswith("text") and line.startswith("```"))
    fence = lines[start].removesuffix("text")
    ends = [n for n, line in enumerate(lines) if n > start and line.strip() == fence]
    assert len(ends) == 1
    assert "\n".join(lines[start + 1 : ends[0]]) == (said or "TypeError: x")


def test_a_time_that_is_none_is_no_error() -> None:
    assert day(None) == day(1e300) == "an unknown day"
