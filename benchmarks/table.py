"""What a bench measured, as rows of a plain table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

Sample = TypeVar("Sample")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: our samples beside a baseline's, in the same unit, and the bar the ratio has to meet.

    ``at_least``: the baseline takes so many times what we take. ``at_most``: we take so many times what it takes.
    A row without a baseline only tells a figure; one with ``skipped`` says why nothing was measured.
    """

    what: str
    ours: Sequence[float] = ()
    baseline: str = ""
    theirs: Sequence[float] = ()
    unit: str = "s"
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""
    skipped: str = ""
    checks: Sequence[str] = field(default_factory=tuple)
    """What was wrong with the outcome; a row with any never meets its bar."""

    @property
    def ratio(self) -> float | None:
        """How many times the baseline we cost, or, where a bar says ``at_least``, the other way round."""
        if not self.ours or not self.theirs:
            return None
        ours, theirs = median(self.ours), median(self.theirs)
        above, below = (theirs, ours) if self.at_least is not None else (ours, theirs)
        return above / below if below else None

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; ``None`` where there is none."""
        if self.checks:
            return False
        if self.ratio is None or (self.at_least is None and self.at_most is None):
            return None
        return self.ratio >= self.at_least if self.at_least is not None else self.ratio <= (self.at_most or 0)

    def cells(self) -> list[str]:
        """Return the row's text, column by column."""
        if self.skipped:
            return [self.what, "skipped: " + self.skipped, "", "", "", ""]
        bar = f"≥ {self.at_least:g}×" if self.at_least is not None else f"≤ {self.at_most:g}×" if self.at_most else ""
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        theirs = f"{self.baseline}: {shown(self.theirs, self.unit)}" if self.theirs else self.baseline
        ratio = f"{self.ratio:.3g}×" if self.ratio is not None else ""
        notes = "; ".join([*self.checks, *([self.note] if self.note else [])])
        return [self.what, shown(self.ours, self.unit), theirs, ratio, f"{bar} {verdict}".strip(), notes]


def shown(samples: Sequence[float], unit: str) -> str:
    """Return the median, and the lowest and highest where there are several."""
    if not samples:
        return ""
    form = _seconds if unit == "s" else lambda value: f"{value:,.0f} {unit}"
    if len(samples) == 1:
        return form(samples[0])
    return f"{form(median(samples))} ({form(min(samples))} to {form(max(samples))}, n={len(samples)})"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text."""
    head = ["what", "lessonbook", "baseline", "ratio", "bar", "notes"]
    cells = [head, *(row.cells() for row in rows)]
    # A skipped row's reason is long and stands alone: it widens no column.
    sized = [line for line in cells if not line[1].startswith("skipped: ")]
    widths = [max(len(line[column]) for line in sized) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def in_turns(times: int, *ways: Callable[[], Sample]) -> list[list[Sample]]:
    """Run each way in turn, A B A B …, ``times`` times each, and return each one's samples."""
    samples: list[list[Sample]] = [[] for _ in ways]
    for _ in range(times):
        for found, way in zip(samples, ways, strict=True):
            found.append(way())
    return samples


def _seconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"
