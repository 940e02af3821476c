"""What an editor model is shown is material: nothing in it may end the material or begin an edit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.redact_names import Names
from lessonbook.proposers.edited_prompt import without


@given(st.text("=<> a"), st.sampled_from("=<>"), st.integers(0, 40))
def test_no_mark_of_ours_is_left_or_comes_of_what_is_left(around: str, one: str, times: int) -> None:
    plain = without(f"{around}{one * times}{around}", Names())
    assert not any(mark in plain for mark in ("=====", "<<<<", ">>>>"))
