"""Markdown as paragraphs: blocks separated by blank lines, with every fenced block whole.

Only ``\\n`` ends a line, as in git. Rules for fences are CommonMark's (section 4.5): three or more backticks or tildes
open one, the same character at least as often closes it, and one that is never closed runs to the end of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t\r\n]|\Z)")
_OPENING = re.compile(r"([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})([^\n]*)")
# A fence this much deeper than what holds it is indented code that only shows one.
_SLACK = 3


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One block of Markdown and the blank lines after it; ``text + after`` of all of them is the whole text.

    ``text`` is empty only where the whole text starts with blank lines. ``line`` is the index of its first line.
    """

    text: str
    after: str
    line: int
    fenced: bool = False
    """Whether it holds a fenced block."""


def split(text: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs of ``text`` in order; ``join`` gives back the very same text."""
    lines = lines_of(text)
    inside = fences(lines)
    found: list[Paragraph] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and (inside[end] or not is_blank(lines[end])):
            end += 1
        stop = end
        while stop < len(lines) and is_blank(lines[stop]):
            stop += 1
        found.append(
            Paragraph(
                text="".join(lines[start:end]),
                after="".join(lines[end:stop]),
                line=start,
                fenced=any(inside[start + 1 : end + 1]),
            )
        )
        start = stop
    return tuple(found)


def join(paragraphs: Iterable[Paragraph]) -> str:
    """Return the text the paragraphs came from."""
    return "".join(paragraph.text + paragraph.after for paragraph in paragraphs)


def lines_of(text: str) -> list[str]:
    """Return the lines with their ends; the last one has none where the text does not end with a newline."""
    parts = text.split("\n")
    last = parts.pop()
    lines = [part + "\n" for part in parts]
    return [*lines, last] if last else lines


def is_blank(line: str) -> bool:
    """Whether a line separates paragraphs: nothing but spaces, tabs and its end."""
    return not line.strip(" \t\r\n")


def is_item(line: str) -> bool:
    """Whether a list item starts on this line."""
    return _ITEM.match(line) is not None


def is_heading(line: str) -> bool:
    """Whether the line is a ``#`` heading."""
    return _HEADING.match(line) is not None


def fences(lines: Sequence[str]) -> list[bool]:
    """Return, for each place before a line and for the end (so one more than lines), whether it is inside a fence."""
    inside = [False] * (len(lines) + 1)
    holders = _Holders(lines)
    fence: tuple[str, int] | None = None
    for index, line in enumerate(lines):
        if fence is None:
            fence = _opens(line, index, holders) if "```" in line or "~~~" in line else None
        elif _closes(line, *fence):
            fence = None
        inside[index + 1] = fence is not None
    return inside


class _Holders:
    """Knows how deep the text of the list item stands that holds a line. Asked in order, it reads each line once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._read = 0
        self._depths: list[int] = []

    def around(self, index: int, depth: int) -> int:
        """Return it for line ``index``, whose own text stands ``depth`` deep; 0 outside a list."""
        for line in self._lines[self._read : index]:
            match = _ITEM.match(line)
            if match:
                width = _width(match.group())
                del self._depths[bisect_left(self._depths, width) :]
                self._depths.append(width)
            elif not is_blank(line) and line[0] not in " \t":
                self._depths.clear()
        self._read = index
        at = bisect_right(self._depths, depth)
        return self._depths[at - 1] if at else 0


def _opens(line: str, index: int, holders: _Holders) -> tuple[str, int] | None:
    """The fence that starts on this line, as its characters and how deep its closing line may stand."""
    match = _OPENING.match(line)
    if match is None:
        return None
    lead, run, info = match.groups()
    # "```x``` is code" is inline code, not a fence.
    if run[0] == "`" and "`" in info:
        return None
    depth = _width(lead)
    if lead.strip():
        return run, depth + _SLACK
    holder = 0 if depth <= _SLACK else holders.around(index, depth)
    return (run, holder + _SLACK) if depth <= holder + _SLACK else None


def _closes(line: str, run: str, deepest: int) -> bool:
    stripped = line.strip(" \t\r\n")
    if len(stripped) < len(run) or stripped.strip(run[0]):
        return False
    return _width(line[: line.index(run[0])]) <= deepest


def _width(lead: str) -> int:
    return len(lead.expandtabs(4))
