from __future__ import annotations

from lessonbook.core.seen import Seen


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
