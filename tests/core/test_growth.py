from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.growth import (
    KEPT,
    LEAST,
    MB,
    Bounds,
    Measure,
    measures_document,
    measures_of,
    notices,
    per_day,
)

NOW = 1_790_000_000.0
DAY = 86_400.0


@given(st.integers(-500 * MB, 500 * MB), st.lists(st.floats(LEAST, 6.9), min_size=1, max_size=8))
def test_steady_growth_is_told_as_it_is(rate: int, ago: list[float]) -> None:
    earlier = [Measure(NOW - days * DAY, {"claude": 10_000 * MB - round(rate * days)}) for days in ago]
    found = per_day(Measure(NOW, {"claude": 10_000 * MB}), earlier)
    assert found["claude"] == pytest.approx(rate, abs=10)


def test_growth_is_that_of_the_last_week_and_of_agents_measured_then() -> None:
    earlier = [Measure(NOW - 40 * DAY, {"claude": 0}), Measure(NOW - 4 * DAY, {"claude": 60 * MB})]
    now = Measure(NOW, {"claude": 100 * MB, "codex": 5})
    assert per_day(now, earlier) == {"claude": 10 * MB}
    assert per_day(now, earlier[:1]) == {"claude": 100 * MB / 40}, "an older one is better than none"
    assert per_day(now, [Measure(NOW - 60, {"claude": 0})]) == {}, "a minute says nothing of a day"
    assert per_day(now, []) == {}


def test_a_notice_for_each_bound_that_is_passed_names_its_setting() -> None:
    now = Measure(NOW, {"claude": 3 * MB}, {"books": 2 * MB, "notes": 2 * MB}, {"claude": ("/a", 2 * MB)})
    told = list(notices(now, {"claude": 2.0 * MB}, Bounds(2, 1, 1, 3)))
    for key, sentence in zip(("agent_mb)", "agent_mb_day)", "file_mb)", "own_mb)"), told, strict=True):
        assert sentence.endswith(f"(health.{key}")
    assert list(notices(now, {"claude": 2.0 * MB}, Bounds())) == []


def test_measures_survive_their_file_and_damage_costs_only_itself() -> None:
    measures = [Measure(NOW + day, {"claude": day}, {"books": 1}) for day in range(KEPT + 5)]
    document = json.loads(json.dumps(measures_document(measures)))
    assert measures_of(document) == measures[-KEPT:]
    assert measures_of([{"at": "x"}, 3, None, document[0], {"at": 1, "agents": [], "ours": {}}]) == measures[5:6]
    assert measures_of({}) == []
    huge = json.loads('[{"at": 1e999, "agents": {}, "ours": {}}, {"at": NaN, "agents": {}, "ours": {}}]')
    assert measures_of([*huge, {"at": 1, "agents": {"a": huge[0]["at"]}, "ours": {}}]) == []
    assert measures_of([{"at": 10**400, "agents": {}, "ours": {}}, document[0]]) == measures[5:6]
