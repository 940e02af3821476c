"""Cuts one change of a Markdown text into several that each stand alone, and that together are the whole again.

The parts are whole paragraphs, or the items of a list that the change only lengthens. Accepting them one after the
other, in order, with a merge in between, gives the very text of the whole: that is tried before they are returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from lessonbook.core.linediff import Hunk, diff
from lessonbook.core.merge import merge3
from lessonbook.core.paragraphs import fences, is_blank, is_item, lines_of

MOST = 50
"""Parts one change is cut into; one of more paragraphs is left whole."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The old text as whole lines, the pieces of what changed, and how the new text ends."""

    lines: tuple[str, ...]
    pieces: tuple[Hunk, ...]
    ends: bool

    def with_pieces(self, chosen: Iterable[int]) -> bytes:
        """The old text with only these pieces changed."""
        parts: list[str] = []
        done = 0
        for number in sorted(chosen):
            hunk = self.pieces[number]
            follows = number > 0 and self.pieces[number - 1].start == hunk.start
            parts += self.lines[done : hunk.start]
            # What parted it from the piece before it has nothing to part at the top of a file.
            parts += dropwhile(is_blank, hunk.lines) if follows and not parts else hunk.lines
            done = hunk.end
        text = "".join([*parts, *self.lines[done:]])
        text = text if self.ends else text.removesuffix("\n").removesuffix("\r")
        return text.encode("utf-8", "surrogateescape")


def parts(old: bytes, new: bytes) -> list[bytes]:
    """Return the old text with each part of the change made alone, in order; ``[new]`` where it has no parts."""
    if b"\0" in old or b"\0" in new:
        return [new]
    text = _read(old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape"))
    if not 1 < len(text.pieces) <= MOST:
        return [new]
    groups: list[list[int]] = []
    for number in range(len(text.pieces)):
        group = [number]
        while groups and not _stands(old, text, [one for each in groups for one in each], group):
            group = groups.pop() + group
        groups.append(group)
    found = [text.with_pieces(group) for group in groups]
    return found if _adds_up(old, found, new) else [new]


def _read(old: str, new: str) -> _Text:
    before, after = _whole_lines(old), _whole_lines(new)
    inside = fences(after)
    pieces: list[Hunk] = []
    shift = 0
    for hunk in diff(before, after):
        pieces += _pieces(after, inside, hunk, hunk.start + shift, hunk.start == len(before))
        shift += len(hunk.lines) - (hunk.end - hunk.start)
    return _Text(tuple(before), tuple(pieces), not new or new.endswith("\n"))


def _whole_lines(text: str) -> list[str]:
    lines = lines_of(text)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\r\n" if lines[0].endswith("\r\n") else "\n"
    return lines


def _pieces(after: Sequence[str], inside: Sequence[bool], hunk: Hunk, start: int, at_end: bool) -> Iterator[Hunk]:
    """The paragraphs or list items that one addition consists of; any other change in one piece.

    The blank lines between two go with the second at the end of a text (``at_end``), and where the addition starts so.
    """
    end = start + len(hunk.lines)
    leads = at_end or (bool(hunk.lines) and is_blank(hunk.lines[0]))
    cuts = [at for at in range(start + 1, end) if _parts_at(after, inside, start, at, leads)] if hunk.adds else []
    for first, last in zip([start, *cuts], [*cuts, end], strict=True):
        yield Hunk(hunk.start, hunk.end, tuple(after[first:last]))


def _parts_at(after: Sequence[str], inside: Sequence[bool], start: int, at: int, leads: bool) -> bool:
    """Whether a piece may start at this line: with the blank lines before a paragraph, or after them."""
    if inside[at]:
        return False
    blank, was_blank = is_blank(after[at]), is_blank(after[at - 1])
    items = is_item(after[at]) and is_item(after[start]) and after[at][0] not in " \t" and not was_blank
    return items or (blank and not was_blank if leads else not blank and was_blank)


def _stands(old: bytes, text: _Text, earlier: Sequence[int], group: Sequence[int]) -> bool:
    """Whether merging the group onto the earlier pieces comes to all of them."""
    together = text.with_pieces([*earlier, *group])
    return merge3(old, text.with_pieces(earlier), text.with_pieces(group)) == together


def _adds_up(old: bytes, found: Sequence[bytes], new: bytes) -> bool:
    """Whether accepting the parts in order, the others moved along each time, comes to the new text."""
    state, left = old, list(found)
    while left:
        first, *others = left
        moved = [merge3(state, first, other) for other in others]
        left = [one for one in moved if one is not None]
        if len(left) < len(others):
            return False
        state = first
    return state == new
