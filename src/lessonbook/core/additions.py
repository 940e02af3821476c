"""Whole paragraphs and list items that one or both sides of a merge add at one place, and how they stand together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from lessonbook.core.linediff import Hunk
from lessonbook.core.paragraphs import fences, is_blank, is_heading, is_item


@dataclass(frozen=True, slots=True)
class _Unit:
    """One added paragraph or list item, and the blank lines that came before it."""

    gap: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def item(self) -> bool:
        return is_item(self.lines[0])

    @property
    def mark(self) -> str:
        """What marks it as an item of one kind of list; empty for a paragraph."""
        mark = self.lines[0].lstrip(" \t")[:1] if self.item else ""
        return "1" if mark.isdigit() else mark

    @property
    def alone(self) -> bool:
        """Whether it means the same wherever it stands: no heading, no fence, nothing that goes on before or after."""
        first, last = self.lines[0], self.lines[-1].rstrip()
        fenced = any(fences(self.lines))
        return not (is_heading(first) or first[0] in " \t" or last.endswith(":") or fenced)


@dataclass(frozen=True, slots=True)
class _Added:
    """What one side added at a place, in the order in which it stands there."""

    head: tuple[_Unit, ...]
    """Units that continue what stands above, with no blank line between."""
    middle: tuple[_Unit, ...]
    tail: tuple[_Unit, ...]
    """Units that what stands below continues, with no blank line between."""
    after: tuple[str, ...]
    """The blank lines at its end."""

    @property
    def units(self) -> tuple[_Unit, ...]:
        return self.head + self.middle + self.tail


def fits(base: Sequence[str], inside: Sequence[bool], hunk: Hunk) -> bool:
    """Whether an addition is whole paragraphs or list items that join no paragraph of the base and split no fence.

    ``inside`` is ``fences(base)``.
    """
    units, _ = _units(hunk.lines)
    if not units:
        return True
    if inside[hunk.start] or not _closed(hunk):
        return False
    above, below = _around(base, hunk.start)
    first, last = hunk.lines[0], hunk.lines[-1]
    edge = is_blank(above) or is_blank(below) or is_item(below) or is_heading(above) or is_heading(below)
    opens = is_blank(above) or is_blank(first) or is_item(first) or is_heading(above)
    closes = is_blank(below) or is_blank(last) or is_heading(below) or (is_item(below) and units[-1].item)
    return edge and opens and closes


def both(base: Sequence[str], inside: Sequence[bool], ours: Hunk, theirs: Hunk) -> list[str] | None:
    """Return what two additions at one place become together, or ``None`` where one of them is no addition by itself.

    At the end of the base plain lines will do too: a file that grows line by line grows by both.
    """
    ends = ours.start == len(base) and not inside[ours.start]
    if not all(fits(base, inside, hunk) or (ends and _closed(hunk)) for hunk in (ours, theirs)):
        return None
    above, below = _around(base, ours.start)
    left, right = (_added(hunk.lines, above, below) for hunk in (ours, theirs))
    if _holds(left.units, right.units):
        return list(ours.lines)
    if _holds(right.units, left.units):
        return list(theirs.lines)
    right = _without_twins(left.units, right)
    return list(_together(left, right, above))


def around(
    before: Sequence[str], first: Sequence[str], edit: Sequence[str], last: Sequence[str], after: Sequence[str]
) -> list[str] | None:
    """Return one side's ``edit`` with the other side's additions just before and just after it.

    ``before`` and ``after`` are the merged lines above and the base's lines below. ``None`` where what was added are
    items of a list that the edit took away.
    """
    kept = _units(edit)[0]
    first, last = (() if _holds(kept, _units(part)[0]) else part for part in (first, last))
    below = next(iter([*edit, *last, *after]), "")
    if first and not _has_list(before, first, below):
        return None
    merged = [*first, *(_gap(first[-1], below) if first and not is_item(below) else ()), *edit]
    if last:
        so_far = [*before, *merged]
        above = so_far[-1] if so_far else ""
        while is_blank(above) and is_blank(last[0]):
            last = last[1:]
        if not _has_list(so_far, last, next(iter(after), "")):
            return None
        merged += [*(() if is_item(last[0]) else _gap(above, last[0])), *last]
    return merged


def _around(base: Sequence[str], at: int) -> tuple[str, str]:
    """The lines above and below a place; an empty one at the start and at the end."""
    return (base[at - 1] if at else ""), (base[at] if at < len(base) else "")


def _closed(hunk: Hunk) -> bool:
    """Whether what is added leaves no fence open, and is not the frontmatter of a file."""
    return not fences(hunk.lines)[-1] and not (hunk.start == 0 and hunk.lines[0].rstrip() == "---")


def _units(lines: Sequence[str]) -> tuple[list[_Unit], tuple[str, ...]]:
    """The paragraphs and list items of some lines, and the blank lines after the last."""
    inside = fences(lines)
    starts: list[tuple[int, int]] = []
    end = 0
    for index, line in enumerate(lines):
        if is_blank(line) and not inside[index]:
            continue
        if not starts or end < index or (not inside[index] and _next_item(lines[starts[-1][1]], line)):
            starts.append((end, index))
        end = index + 1
    stops = [gap for gap, _ in starts[1:]] + [end]
    units = [
        _Unit(tuple(lines[gap:start]), tuple(lines[start:stop]))
        for (gap, start), stop in zip(starts, stops, strict=False)
    ]
    return units, tuple(lines[end:])


def _next_item(first: str, line: str) -> bool:
    """Whether ``line`` starts the next item of the list that ``first`` starts."""
    return is_item(first) and is_item(line) and _indent(line) <= _indent(first)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _added(lines: Sequence[str], above: str, below: str) -> _Added:
    units, after = _units(lines)
    spaced = [index for index, unit in enumerate(units) if unit.gap]
    head = (spaced[0] if spaced else len(units)) if not is_blank(above) else 0
    tail = (spaced[-1] if spaced else head) if not is_blank(below) and not after else len(units)
    return _Added(tuple(units[:head]), tuple(units[head:tail]), tuple(units[tail:]), after)


def _holds(these: Sequence[_Unit], those: Sequence[_Unit]) -> bool:
    """Whether all of ``those`` stand among ``these``, side by side."""
    wanted, there = [unit.lines for unit in those], [unit.lines for unit in these]
    places = (at for at in range(len(there) - len(wanted) + 1) if there[at : at + 1] == wanted[:1])
    return not wanted or any(there[at : at + len(wanted)] == wanted for at in places)


def _without_twins(ours: Sequence[_Unit], theirs: _Added) -> _Added:
    """Their units less those that we add as well: the ones both start with, and those that stand by themselves."""
    pairs = zip(ours, theirs.units, strict=False)
    same = [unit for _, unit in takewhile(lambda pair: pair[0].lines == pair[1].lines, pairs)]
    rest = theirs.units[len(same) :]
    there = {unit.lines for unit in ours}
    if all(unit.alone for unit in rest):
        same += [unit for unit in rest if unit.lines in there]
    drop = {id(unit) for unit in same}
    head, middle, tail = (
        tuple(unit for unit in part if id(unit) not in drop) for part in (theirs.head, theirs.middle, theirs.tail)
    )
    return _Added(head, middle, tail, theirs.after)


def _together(ours: _Added, theirs: _Added, above: str) -> Iterator[str]:
    """What continues the text above comes first, what the text below continues comes last; else ours before theirs."""
    marks = {"" if unit.gap else unit.mark for unit in ours.units + theirs.units}
    lists = len(marks) == 1 and marks != {""} and not ours.after and not theirs.after
    line: str | None = None
    for part in (ours.head, theirs.head, ours.middle, theirs.middle, ours.tail, theirs.tail):
        # Lines go on from lines and items from items, but no paragraph goes on from a heading.
        tight = lists or line is None or (part is theirs.head and not is_heading(above))
        for index, unit in enumerate(part):
            yield from unit.gap or (() if tight or index else _gap(line or above, unit.lines[0]))
            yield from unit.lines
            line = unit.lines[-1]
    if not (ours.tail or theirs.tail):
        yield from max(ours.after, theirs.after, key=len)


def _gap(above: str, below: str) -> list[str]:
    """A blank line where two lines need one to be two paragraphs, ended like the line above."""
    if is_blank(above) or is_blank(below):
        return []
    return ["\r\n" if above.endswith("\r\n") else "\n"]


def _has_list(above: Sequence[str], added: Sequence[str], below: str) -> bool:
    """Whether items that were added to a list still have one beside them; true for anything else."""
    if not is_item(added[0]) or not above or is_blank(above[-1]) or is_item(below):
        return True
    for line in reversed(above):
        if is_item(line):
            return True
        if is_blank(line) or line[0] not in " \t":
            return False
    return False
