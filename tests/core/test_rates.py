from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.rates import interval, per_hundred


def test_none_without_calls() -> None:
    assert per_hundred(0, 0) is None and interval(0, 0) is None
    assert per_hundred(3, 200) == 1.5


@pytest.mark.parametrize(
    ("count", "low", "high"),
    # The exact Poisson limits; the approximation is within a few per cent of them.
    [(0, 0.0, 3.69), (1, 0.025, 5.57), (5, 1.62, 11.67), (10, 4.80, 18.39), (100, 81.36, 121.63)],
)
def test_as_the_exact_limits(count: int, low: float, high: float) -> None:
    found = interval(count, 100)
    assert found is not None
    assert found[0] == pytest.approx(low, abs=0.05) and found[1] == pytest.approx(high, rel=0.03)


@given(st.integers(0, 10_000), st.integers(1, 1_000_000))
def test_the_rate_is_inside(count: int, calls: int) -> None:
    found, rate = interval(count, calls), per_hundred(count, calls)
    assert found is not None and rate is not None
    assert 0 <= found[0] <= rate < found[1]
