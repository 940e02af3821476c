"""Where everything of a chart stands: findings per 100 calls over the weeks, and the weeks lessons were accepted in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from lessonbook.actions.trend import Week
from lessonbook.core.value import Value

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 30, 38
MOST_LINES = 5
"""Groups that are drawn; the table has them all."""
_APART = 84
"""Units from one day beneath the axis to the next."""
_FLATTENS = 2.5
_INSET = 40
"""Units between the ends of the axis and the first and last week: half a day's words."""


class Point(Value):
    """One week of one group, with the words for who points at it."""

    x: float
    y: float
    words: str


class Line(Value):
    """One group: its points in order, and the path through them."""

    name: str
    points: tuple[Point, ...]
    path: str


class Tick(Value):
    """A place on an axis, with what stands there."""

    at: float
    words: str


class Chart(Value):
    """A chart of ``WIDTH`` by ``HEIGHT``. ``band`` is the 95 % range of the only line, as a path."""

    lines: tuple[Line, ...]
    band: str
    down: tuple[Tick, ...]
    along: tuple[Tick, ...]
    marks: tuple[Tick, ...]
    """Where lessons were accepted: how many, and which."""
    left_out: int
    """Groups that are only in the table."""


def chart(weeks: Sequence[Week]) -> Chart | None:
    """Return the chart of these weeks; ``None`` where there is nothing to draw."""
    dated = [week for week in weeks if week.start is not None and week.rate is not None]
    if not dated:
        return None
    every = [week.start for week in weeks if week.start is not None]
    across = _Across(min(every), max(every))
    names = sorted({week.group for week in dated}, key=lambda name: -sum(w.calls for w in dated if w.group == name))
    top = _round(_highest(dated, alone=len(names) == 1))
    lines = tuple(_line(name, [week for week in dated if week.group == name], across, top) for name in names)
    marked = {week.start: week.accepted for week in weeks if week.start is not None and week.accepted}
    return Chart(
        lines=lines[:MOST_LINES],
        band=_band(dated, across, top) if len(names) == 1 else "",
        down=tuple(Tick(_y(top * part / 4, top), f"{top * part / 4:g}") for part in range(5)),
        along=tuple(_along(sorted(set(every)), across)),
        marks=tuple(
            Tick(across.x(start), ", ".join(one.lesson.title for one in found)) for start, found in marked.items()
        ),
        left_out=max(0, len(lines) - MOST_LINES),
    )


class _Across:
    """Where a week stands from left to right."""

    def __init__(self, first: date, last: date) -> None:
        self._first = first
        self._days = (last - first).days

    def x(self, start: date) -> float:
        room = WIDTH - LEFT - RIGHT - 2 * _INSET
        part = (start - self._first).days / self._days if self._days else 0.5
        return round(LEFT + _INSET + room * part, 1)


def _y(rate: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(rate, top) / top, 1)


def _line(name: str, weeks: Sequence[Week], across: _Across, top: float) -> Line:
    points = []
    for week in weeks:
        if week.start is not None and week.rate is not None:
            words = f"{name + ', ' if name else ''}week of {week.start}: {week.rate:.1f} in {week.calls:,} calls"
            points.append(Point(across.x(week.start), _y(week.rate, top), words))
    return Line(name, tuple(points), "M" + " L".join(f"{point.x} {point.y}" for point in points))


def _band(weeks: Sequence[Week], across: _Across, top: float) -> str:
    sure = [(across.x(week.start), *week.sure) for week in weeks if week.start is not None and week.sure]
    there = [f"{x} {_y(high, top)}" for x, _, high in sure]
    back = [f"{x} {_y(low, top)}" for x, low, _ in reversed(sure)]
    return "M" + " L".join([*there, *back]) + " Z" if len(sure) > 1 else ""


def _along(weeks: Sequence[date], across: _Across) -> list[Tick]:
    """As many of the weeks as have room for their day beneath the axis."""
    found: list[Tick] = []
    for week in weeks:
        if not found or across.x(week) - found[-1].at >= _APART:
            found.append(Tick(across.x(week), week.isoformat()))
    return found


def _highest(weeks: Sequence[Week], *, alone: bool) -> float:
    """What has to fit on the axis: every rate, and of the range around the only line what does not flatten it."""
    most = max(week.rate or 0.0 for week in weeks)
    return max([most, *(min(week.sure[1], _FLATTENS * most) for week in weeks if alone and week.sure)])


def _round(most: float) -> float:
    """The next of 1, 2 or 5 times a power of ten: what people read an axis by."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most)
