"""A value behaves as a frozen dataclass does."""

from __future__ import annotations

import copy
import pickle

import pytest

from lessonbook.core.value import Value


class Point(Value):
    x: int
    y: int = 2

    @property
    def total(self) -> int:
        return self.x + self.y


def test_fields_come_by_position_name_or_default() -> None:
    assert Point(1) == Point(1, 2) == Point(x=1, y=2)
    assert (Point(1).x, Point(1).y, Point(1).total) == (1, 2, 3)
    assert repr(Point(1)) == "Point(x=1, y=2)" and list(Point(y=1, x=0).as_dict().items()) == [("x", 0), ("y", 1)]


@pytest.mark.parametrize(("args", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})])
def test_wrong_fields_are_refused(args: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Point takes x, y"):
        Point(*args, **named)


def test_it_is_frozen_and_has_no_identity_of_its_own() -> None:
    point = Point(1)
    with pytest.raises(AttributeError):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert {point, Point(1)} == {point} and point != Point(2) and point != (1, 2)
    assert point.but(y=5) == Point(1, 5) and point == Point(1)
    assert copy.copy(point) == pickle.loads(pickle.dumps(point)) == point
