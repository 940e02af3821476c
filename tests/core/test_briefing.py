"""Budgets, cuts between items, and the frame that is recognised again."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.briefing import (
    CLOSING,
    OPENING,
    Block,
    briefing,
    tokens,
    without_briefings,
)

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=400).map(lambda text: f"- {text}")


def lessons(count: int, size: int = 60) -> tuple[str, ...]:
    return tuple(f"- lesson {number:05d} ".ljust(size, "x") for number in range(count))


def test_nothing_to_say_is_no_text() -> None:
    assert briefing([]).text == ""
    assert briefing([Block("Skills", ())], ["Left out memory: broken"]).text == ""


def test_a_block_is_framed_titled_and_labelled() -> None:
    made = briefing([Block("Skills", ("- a: b", "- c: d"), label="Read one.")])
    assert made.text == f"{OPENING}\n\n## Skills\nRead one.\n- a: b\n- c: d\n\n{CLOSING}"
    assert (made.characters, made.left_out) == (len(made.text), 0)


def test_what_blocks_have_in_common_is_told_once_where_the_first_is_shown() -> None:
    blocks = [Block(title, (f"- {title}",), label="By Ana.", common="Weigh it.") for title in ("One", "Two", "Three")]
    text = briefing(blocks).text
    assert text.count("Weigh it.") == 1 and text.count("By Ana.") == 3
    assert "## One\nBy Ana. Weigh it.\n- One\n" in text and "## Two\nBy Ana.\n- Two\n" in text
    assert "## Two\nBy Ana. Weigh it.\n" in briefing([blocks[0].but(items=()), *blocks[1:]]).text
    assert "## Three\nWeigh it.\n" in briefing([blocks[2].but(label="")]).text
    small = briefing([blocks[0].but(limit=10), *blocks[1:]])
    assert "## One" not in small.text and small.text.count("Weigh it.") == 1


def test_notes_stand_before_the_closing_line() -> None:
    made = briefing([Block("Skills", ("- a: b",))], ["Left out memory: it is locked"])
    assert made.text.endswith(f"- a: b\n\n(Left out memory: it is locked)\n\n{CLOSING}")


def test_two_thousand_lessons_are_cut_between_items_and_counted() -> None:
    made = briefing([Block("Remembered", lessons(2_000), more="lessonbook recall")])
    shown = made.text.count("\n- lesson ")
    assert shown + made.left_out == 2_000
    assert f"({made.left_out} more: run `lessonbook recall`)" in made.text
    assert all(len(line) == 60 for line in made.text.splitlines() if line.startswith("- lesson"))
    assert 9_000 < made.characters <= 9_400


def test_items_that_were_not_handed_in_count_as_left_out() -> None:
    made = briefing([Block("Remembered", lessons(3), more="lessonbook recall", beyond=97)])
    assert made.left_out == 97 and "(97 more: run `lessonbook recall`)" in made.text
    made = briefing([Block("Remembered", lessons(300), more="lessonbook recall", beyond=700)])
    assert f"({made.left_out} more" in made.text and made.text.count("- lesson") + made.left_out == 1_000


def test_an_item_too_long_by_itself_is_passed_over_whole() -> None:
    made = briefing([Block("Remembered", ("- " + "y" * 9_999, "- short"), more="lessonbook recall")])
    assert "yyy" not in made.text
    assert "- short\n\n(1 more: run `lessonbook recall`)" in made.text


def test_a_block_keeps_to_its_limit_and_leaves_the_others_their_share() -> None:
    first = Block("Rules", lessons(500), more="m")
    second = Block("Dated", lessons(500), more="m", limit=1_000, share=1_000)
    third = Block("Skills", ("- only: one",), share=1_000)
    text = briefing([first, second, third]).text
    rules, dated = text.index("## Dated") - text.index("## Rules"), text.index("## Skills") - text.index("## Dated")
    assert dated <= 1_000 and dated > 900
    assert rules > 8_000, "what the later ones do not need is not kept free for them"
    assert "- only: one" in text


def test_wide_characters_are_counted_by_their_bytes() -> None:
    made = briefing([Block("Remembered", tuple(f"- {'漢字' * 40} {n}" for n in range(200)), more="m")])
    assert made.tokens == tokens(made.text) <= 2_400
    assert made.left_out > 100


def test_no_frame_fits_a_tiny_budget() -> None:
    assert briefing([Block("Skills", ("- a: b",))], max_chars=100).text == ""


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(LINE, max_size=30), st.integers(0, 9_400), st.integers(0, 3_000), st.sampled_from(["\n", "\n\n"])
        ),
        max_size=6,
    )
)
def test_both_budgets_hold_in_text_and_in_json(parts: list[tuple[list[str], int, int, str]]) -> None:
    blocks = [
        Block(f"Block {n}", tuple(items), "Label.", "lessonbook", gap, limit, share)
        for n, (items, limit, share, gap) in enumerate(parts)
    ]
    made = briefing(blocks)
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": made.text}}
    assert len(json.dumps(answer, ensure_ascii=False)) < 9_600
    assert made.tokens <= 2_400
    assert made.left_out <= sum(len(block.items) for block in blocks)


def test_our_own_text_is_recognised_and_taken_out_again() -> None:
    text = briefing([Block("Skills", ("- a: b",))]).text
    wrapped = f"<hook_context>{text}</hook_context>\n\nplease fix the build"
    assert without_briefings(wrapped) == "<hook_context></hook_context>\n\nplease fix the build"
    assert without_briefings(f"before {text} between {text} after") == "before  between  after"
    assert without_briefings(f"before {text[:200]}") == "before "
    assert without_briefings("nothing of ours") == "nothing of ours"
