"""What changed between two texts, line by line, with as few changed lines as there can be.

The shortest edit is found with Myers' greedy algorithm (Myers 1986, "An O(ND) Difference Algorithm and Its
Variations"). Where two texts differ too much for it to be cheap, lines that are unique on both sides divide them first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Edits searched for exactly; the search costs their square.
_EXACT = 200
# Ways to read one addition that are tried; more than a few only differ by blank lines.
_WAYS = 20


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``start`` to ``end`` (exclusive) of the old text became ``lines``; equal numbers mean only added."""

    start: int
    end: int
    lines: tuple[str, ...]

    @property
    def adds(self) -> bool:
        """Whether nothing of the old text is gone."""
        return self.start == self.end


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of the old text and the stretch of the new one that it is compared with."""

    old: int
    old_end: int
    new: int
    new_end: int

    def trimmed(self, old: Sequence[str], new: Sequence[str]) -> _Part:
        """Without the lines that are equal at both ends."""
        a, b, x, y = self.old, self.new, self.old_end, self.new_end
        while a < x and b < y and old[a] == new[b]:
            a, b = a + 1, b + 1
        while a < x and b < y and old[x - 1] == new[y - 1]:
            x, y = x - 1, y - 1
        return _Part(a, x, b, y)

    def cut(self, pairs: Sequence[tuple[int, int]]) -> Iterator[_Part]:
        """The parts between pairs of lines that stay, counted from where this part starts."""
        a, b = self.old, self.new
        for x, y in pairs:
            yield _Part(a, self.old + x, b, self.new + y)
            a, b = self.old + x + 1, self.new + y + 1
        yield _Part(a, self.old_end, b, self.new_end)


def diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Return the hunks that turn ``old`` into ``new``, in order, with at least one unchanged line between two."""
    done: list[_Part] = []
    waiting = [_Part(0, len(old), 0, len(new))]
    while waiting:
        part = waiting.pop().trimmed(old, new)
        before, after = old[part.old : part.old_end], new[part.new : part.new_end]
        pairs = _shortest(before, after) if before and after else []
        if pairs is not None:
            done.extend(part.cut(pairs))
        elif anchors := _anchors(before, after):
            waiting.extend(reversed(list(part.cut(anchors))))
        else:
            done.append(part)
    changed = [part for part in done if part.old < part.old_end or part.new < part.new_end]
    hunks = [Hunk(part.old, part.old_end, tuple(new[part.new : part.new_end])) for part in changed]
    return _compacted(old, hunks)


def _compacted(old: Sequence[str], hunks: Sequence[Hunk]) -> list[Hunk]:
    """The same changes read as git reads them: one that can stand next to the one before it is one with it.

    ``x [a] b a`` with ``[b a]`` gone further down is the same as ``x [b a → a]``; a removal left over stands low.
    """
    compacted: list[Hunk] = []
    for hunk in hunks:
        before = compacted[-1] if compacted else None
        if before and (not hunk.lines or hunk.adds):
            hunk, top = _raised(old, hunk, before.end), before.end
            if hunk.start == top:
                compacted[-1] = Hunk(before.start, hunk.end, before.lines + hunk.lines)
                continue
        compacted.append(hunk)
    limits = [*(hunk.start - 1 for hunk in compacted[1:]), len(old)]
    return [_lowest(old, hunk, limit) for hunk, limit in zip(compacted, limits, strict=False)]


def _raised(old: Sequence[str], hunk: Hunk, top: int) -> Hunk:
    """The same pure removal or addition as high as ``top``, or as it is where it cannot stand there."""
    up = hunk.start - top
    if hunk.lines:
        fits = all(old[hunk.start - 1 - step] == hunk.lines[-1 - step % len(hunk.lines)] for step in range(up))
    else:
        fits = all(old[hunk.start - 1 - step] == old[hunk.end - 1 - step] for step in range(up))
    return Hunk(top, hunk.end - up, _turned(hunk.lines, -up)) if fits else hunk


def _lowest(old: Sequence[str], hunk: Hunk, limit: int) -> Hunk:
    """Of the equal ways to read a removal the lowest, as git reads it: ``[a b] a`` and ``a [b a]`` are the same."""
    if hunk.lines:
        return hunk
    start, end = hunk.start, hunk.end
    while end < limit and old[start] == old[end]:
        start, end = start + 1, end + 1
    return Hunk(start, end, ())


def slides(old: Sequence[str], hunk: Hunk, low: int, high: int) -> Iterator[Hunk]:
    """Yield ways to read one pure addition, lowest first, that start between ``low`` and ``high``: at most ``_WAYS``.

    ``a b [x b]`` and ``a [b x] b`` are the same change: where a repeated line stands is anyone's guess.
    """
    start, lines, size = hunk.start, hunk.lines, len(hunk.lines)
    down = 0
    while start + down < high and old[start + down] == lines[down % size]:
        down += 1
    for move in range(down, down - _WAYS, -1):
        yield Hunk(start + move, start + move, _turned(lines, move))
        if start + move <= low or old[start + move - 1] != lines[(move - 1) % size]:
            return


def _turned(lines: tuple[str, ...], by: int) -> tuple[str, ...]:
    """The lines with the first ``by`` of them moved behind the others, or for a negative number the other way."""
    by = by % len(lines) if lines else 0
    return lines[by:] + lines[:by]


def _shortest(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    """The pairs that a shortest edit keeps; ``None`` where it takes more than ``_EXACT`` edits."""
    frontier = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _EXACT) + 1):
        trail.append(dict(frontier))
        for diagonal in range(-edits, edits + 1, 2):
            a = _step(frontier, diagonal, edits)
            b = a - diagonal
            while a < len(old) and b < len(new) and old[a] == new[b]:
                a, b = a + 1, b + 1
            frontier[diagonal] = a
            if a >= len(old) and b >= len(new):
                return _walk_back(trail, a, b)
    return None


def _step(frontier: dict[int, int], diagonal: int, edits: int) -> int:
    """How far into the old text one more edit gets on this diagonal: by an added line, or by a removed one."""
    if diagonal == -edits or (diagonal != edits and frontier[diagonal - 1] < frontier[diagonal + 1]):
        return frontier[diagonal + 1]
    return frontier[diagonal - 1] + 1


def _walk_back(trail: list[dict[int, int]], a: int, b: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for edits in range(len(trail) - 1, -1, -1):
        frontier, diagonal = trail[edits], a - b
        start = _step(frontier, diagonal, edits)
        while a > start:
            a, b = a - 1, b - 1
            pairs.append((a, b))
        if edits:
            down = diagonal == -edits or (diagonal != edits and frontier[diagonal - 1] < frontier[diagonal + 1])
            a, b = (a, b - 1) if down else (a - 1, b)
    return pairs[::-1]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest run of pairs, rising on both sides, of lines that are unique on both sides."""
    once_old, once_new = Counter(old), Counter(new)
    place = {line: index for index, line in enumerate(new) if once_new[line] == 1}
    tails: list[int] = []
    best: list[tuple[int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    for index, line in enumerate(old):
        if once_old[line] != 1 or line not in place:
            continue
        pair = (index, place[line])
        at = bisect_left(tails, pair[1])
        before[pair] = best[at - 1] if at else None
        tails[at : at + 1], best[at : at + 1] = [pair[1]], [pair]
    found: list[tuple[int, int]] = []
    last = best[-1] if best else None
    while last is not None:
        found.append(last)
        last = before[last]
    return found[::-1]
