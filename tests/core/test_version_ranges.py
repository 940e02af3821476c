"""Two versions exclude each other, or they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.version_ranges import conflict, moved


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("18", "20"),
        ("1.2", "1.4"),
        ("1.2", "1.20"),
        ("18.1", "20"),
        ("1.2.3", "1.2.4"),
        (">=20", "18"),
        (">=20", "<18"),
        ("<2", "2.0"),
        ("<2", ">=2"),
        ("^1.26", "2.1"),
        ("^0.2.3", "0.3.0"),
        ("~1.2.3", "1.3.0"),
        ("~=1.4.2", "1.5"),
        (">=1.2 <2", "2.1"),
        (">=1.2 <2", "1.1"),
        ("3.x", "4.1"),
    ],
)
def test_what_excludes_each_other(one: str, other: str) -> None:
    assert conflict(one, other) and conflict(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("20", "20"),
        ("20", "20.11"),
        ("3", "3.0"),
        ("3.0.0", "3"),
        (">=18", "20"),
        (">=18", ">=20"),
        ("<=2", "2.4"),
        ("^1.26", "1.30.2"),
        ("~1.2.3", "1.2.9"),
        ("~=1.4", "1.9"),
        (">=1.2 <2", "1.9.9"),
        ("3.x", "3.12"),
        ("=18", "20"),  # cleaning takes "<" and ">" out of a lesson, so this may have been ">=18"
        ("!=3.1", "3.1"),
        ("", "7"),
        ("latest", "7"),
        ("v2", "2.1"),
    ],
)
def test_what_goes_together(one: str, other: str) -> None:
    assert not conflict(one, other) and not conflict(other, one)


def test_a_lower_bound_can_have_moved() -> None:
    assert moved(">=3.8", ">=3.11")
    assert not moved(">=3", ">=3.0")
    assert not moved(">=3", "3.1")


_VERSIONS = st.one_of(
    st.text(max_size=12), st.from_regex(r"(?:[<>~^=!]{0,2}\d{1,3}(?:\.\d{1,3}){0,3} ?){1,2}", fullmatch=True)
)


@given(_VERSIONS, _VERSIONS)
def test_it_is_the_same_whichever_comes_first(one: str, other: str) -> None:
    assert conflict(one, other) == conflict(other, one)
    assert moved(one, other) == moved(other, one)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.lists(st.integers(0, 99), max_size=2))
def test_a_version_goes_with_what_names_it_more_closely(parts: list[int], more: list[int]) -> None:
    one, other = (".".join(map(str, numbers)) for numbers in (parts, parts + more))
    assert not conflict(one, other)
    assert not conflict(f">={one}", other)
    assert conflict(f"<{one}", one)
