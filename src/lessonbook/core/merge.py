"""A three-way merge of text that knows paragraphs: what two sides only add is kept, what both change is a conflict.

Where neither side only adds, the outcome is that of ``git merge-file``: changes that touch are a conflict unless they
are the same change. Where a side does nothing but add, whole paragraphs and list items that it adds next to the other
side's change survive beside it. No result ever holds a conflict marker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lessonbook.core.additions import around, both, fits
from lessonbook.core.linediff import Hunk, diff, slides
from lessonbook.core.paragraphs import fences, lines_of


@dataclass(frozen=True, slots=True)
class _Region:
    """Hunks of both sides that touch each other, and the lines of the base they span."""

    start: int
    end: int
    ours: tuple[Hunk, ...]
    theirs: tuple[Hunk, ...]


def merge3(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return ``base`` with what ``ours`` and ``theirs`` did to it, or ``None`` where they conflict.

    What both add at one place stands ours first, then theirs, a blank line between paragraphs; what both add alike
    stands once. Added bytes are never altered, except that a last line without its newline gains one where something
    follows. A binary file (one with a NUL byte) merges only where one side left it as it was or both agree.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if b"\0" in base or b"\0" in ours or b"\0" in theirs:
        return None
    texts = [text.decode("utf-8", "surrogateescape") for text in (base, ours, theirs)]
    sides = [_whole_lines(text, texts) for text in texts]
    merged = _merge_lines(*sides)
    if merged is None:
        return None
    whole = "".join(merged)
    if merged and not _ends(*texts):
        whole = whole.removesuffix("\n").removesuffix("\r")
    return whole.encode("utf-8", "surrogateescape")


def _whole_lines(text: str, texts: Sequence[str]) -> list[str]:
    """The lines, the last one with an end like the others', so that having none is no change of that line."""
    lines = lines_of(text)
    if lines and not lines[-1].endswith("\n"):
        samples = [line for some in (text, *texts) for line in lines_of(some) if line.endswith("\n")]
        twin = next((line for line in samples if line.removesuffix("\n").removesuffix("\r") == lines[-1]), None)
        lines[-1] += "\r\n" if (twin or next(iter(samples), "")).endswith("\r\n") else "\n"
    return lines


def _ends(base: str, ours: str, theirs: str) -> bool:
    """Whether the merged text ends with a newline: as the side has it that differs from the base."""
    was, is_ours, is_theirs = (not text or text.endswith("\n") for text in (base, ours, theirs))
    return is_ours if is_theirs == was else is_theirs


def _merge_lines(base: list[str], ours: list[str], theirs: list[str]) -> list[str] | None:
    inside = fences(base)
    left, right = (_settled(base, inside, diff(base, side)) for side in (ours, theirs))
    paragraphs = all(hunk.adds for hunk in left) or all(hunk.adds for hunk in right)
    merged: list[str] = []
    done = 0
    for region in _regions(left, right):
        merged += base[done : region.start]
        lines = _one_change(base, region)
        if lines is None and paragraphs:
            lines = _beside(base, inside, region, merged)
        if lines is None:
            return None
        merged += lines
        done = region.end
    return merged + base[done:]


def _settled(base: list[str], inside: list[bool], hunks: list[Hunk]) -> list[Hunk]:
    """The hunks with each addition read, where it can be read in several ways, as whole paragraphs or list items."""
    settled: list[Hunk] = []
    for index, hunk in enumerate(hunks):
        if hunk.adds:
            low = settled[-1].end + 1 if settled else 0
            high = hunks[index + 1].start - 1 if index + 1 < len(hunks) else len(base)
            choices = list(slides(base, hunk, low, high))
            hunk = next((choice for choice in choices if fits(base, inside, choice)), choices[0])
        settled.append(hunk)
    return settled


def _regions(ours: list[Hunk], theirs: list[Hunk]) -> Iterator[_Region]:
    """The hunks of both sides in order, those that touch each other together."""
    a = b = 0
    while a < len(ours) or b < len(theirs):
        first_a, first_b = a, b
        start = min(hunks[at].start for hunks, at in ((ours, a), (theirs, b)) if at < len(hunks))
        end = start
        while True:
            if a < len(ours) and ours[a].start <= end:
                end, a = max(end, ours[a].end), a + 1
            elif b < len(theirs) and theirs[b].start <= end:
                end, b = max(end, theirs[b].end), b + 1
            else:
                break
        yield _Region(start, end, tuple(ours[first_a:a]), tuple(theirs[first_b:b]))


def _one_change(base: list[str], region: _Region) -> list[str] | None:
    """What the region becomes where only one side changed it or both did the same; else ``None``."""
    ours, theirs = (_applied(base, region, hunks) for hunks in (region.ours, region.theirs))
    if not region.theirs or ours == theirs:
        return ours
    return None if region.ours else theirs


def _applied(base: list[str], region: _Region, hunks: Sequence[Hunk]) -> list[str]:
    lines: list[str] = []
    at = region.start
    for hunk in hunks:
        lines += [*base[at : hunk.start], *hunk.lines]
        at = hunk.end
    return lines + base[at : region.end]


def _beside(base: list[str], inside: list[bool], region: _Region, before: list[str]) -> list[str] | None:
    """What the region becomes where a side only adds to it whole paragraphs or list items; else ``None``."""
    if fences(before)[-1]:
        return None
    adds_ours, adds_theirs = (all(hunk.adds for hunk in hunks) for hunks in (region.ours, region.theirs))
    if adds_ours and adds_theirs:
        return both(base, inside, region.ours[0], region.theirs[0])
    if not adds_ours and not adds_theirs:
        return None
    added, edits = (region.ours, region.theirs) if adds_ours else (region.theirs, region.ours)
    return _with_edit(base, inside, edits[0], added, before) if len(edits) == 1 else None


def _with_edit(
    base: list[str], inside: list[bool], edit: Hunk, added: Sequence[Hunk], before: list[str]
) -> list[str] | None:
    """One side's edit with the other side's additions before and after it; ``None`` for one in its middle."""
    if fences([*before, *edit.lines])[-1]:
        return None
    sides: dict[int, tuple[str, ...]] = {}
    for hunk in added:
        if hunk.start not in (edit.start, edit.end) or not fits(base, inside, hunk):
            return None
        sides[hunk.start] = hunk.lines
    return around(before, sides.get(edit.start, ()), edit.lines, sides.get(edit.end, ()), base[edit.end :])
