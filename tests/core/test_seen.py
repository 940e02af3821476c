from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.seen import Recording, Seen

KEYS = st.sampled_from("abcdef")


def test_only_the_first_of_its_kind_is_new() -> None:
    seen = Seen()
    assert not seen.knows("call", "a")
    assert seen.first("call", "a")
    assert not seen.first("call", "a")
    assert seen.first("record", "a")
    assert seen.knows("call", "a") and not seen.knows("call", "b")
    assert len(seen) == 2


def test_any_text_can_be_a_key() -> None:
    assert Seen().first("call", "\udc88\x00")


@given(st.lists(st.tuples(st.booleans(), KEYS)), st.lists(KEYS))
def test_a_recording_answers_as_any_that_knows_none_of_it(asked: list[tuple[bool, str]], before: list[str]) -> None:
    other, recording = Seen(), Recording()
    for key in before:
        other.first("kind", key)
    apart = {key for _, key in asked}.isdisjoint(before)
    answers = [(recording.first if take else recording.knows)("kind", key) for take, key in asked]
    assert other.knows_none_of(recording.asked()) == apart
    if apart:
        left = Seen()
        left.remember(recording.remembered())
        assert answers == [(other.first if take else other.knows)("kind", key) for take, key in asked]
        assert [left.knows("kind", key) for _, key in asked] == [other.knows("kind", key) for _, key in asked]
