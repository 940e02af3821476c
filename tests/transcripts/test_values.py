from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessonbook.transcripts.values import clip, epoch, keep_args, whole


def test_a_short_text_stays() -> None:
    assert clip("all of it", 100) == "all of it"


def test_a_long_text_keeps_head_tail_and_says_what_is_missing() -> None:
    kept = clip("first\n" + "x" * 50_000 + "\nlast", 4_000)
    assert kept.startswith("first\n") and kept.endswith("\nlast")
    assert f"[… {50_011 - 4_000} characters left out …]" in kept
    assert len(kept) < 4_100


def test_error_lines_of_the_middle_survive() -> None:
    noise = "compiling a module\n" * 5_000
    kept = clip(noise + "src/a.ts(3,1): error TS2304: no such name\n" + noise, 4_000, errors=True)
    assert "src/a.ts(3,1): error TS2304: no such name" in kept
    assert len(kept) < 4_200


def test_error_lines_are_bounded() -> None:
    assert len(clip("error: again and again and again\n" * 50_000, 4_000, errors=True)) < 4_200
    assert len(clip("error" * 500_000, 4_000, errors=True)) < 4_200


@given(st.text(), st.integers(min_value=10, max_value=50))
def test_clipping_is_bounded_and_repeatable(text: str, limit: int) -> None:
    assert len(clip(text, limit, errors=True)) <= max(len(text), limit + 80)
    assert clip(text, limit) == clip(text, limit)


def test_times() -> None:
    assert epoch("2026-03-01T10:00:00.500Z") == epoch("2026-03-01T12:00:00.500+02:00") == 1772359200.5
    assert epoch("2026-03-01T10:00:00") == 1772359200.0
    assert epoch(1772359200500) == 1772359200.5
    assert epoch(1772359200) == 1772359200.0
    for odd in (None, "", "yesterday", True, -1, 10**30, float("nan"), [], {}, "0001-01-01T00:00:00+23:59"):
        assert epoch(odd) is None


def test_numbers() -> None:
    assert [whole(value) for value in (3, 0, -1, True, "3", None, 2.5)] == [3, 0, 0, 0, 0, 0, 0]


def test_long_arguments_are_clipped_and_equal_ones_stay_equal() -> None:
    args = {"content": "y" * 100_000, "edits": [{"old": "z" * 100_000}] * 300}
    kept = keep_args(args)
    assert len(kept["content"]) < 8_100 and len(kept["edits"]) == 201
    assert kept == keep_args(args)


def test_nested_arguments_are_bounded() -> None:
    deep: dict[str, object] = {}
    inner = deep
    for _ in range(500):
        inner["a"] = {}
        inner = inner["a"]  # type: ignore[assignment]
    assert "[…]" in repr(keep_args(deep))
