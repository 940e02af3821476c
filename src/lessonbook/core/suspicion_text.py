"""What a text says once disguise is taken off, and where each word of that stands in the text itself.

For ``suspicion``: hidden characters go, look-alike letters become the letters they look like, smuggled text is decoded,
letters are lower case. Lines are as git counts them: a line feed ends one, nothing else does.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

from lessonbook.core import unicode_ranges as ranges

_CYRILLIC = "аевкмнорстухіјѕԁһԛԝӏАВЕКМНОРСТУХІЈЅԀԚԜЁё"
_CYRILLIC_AS = "aebkmhopctyxijsdhqwlabekmhopctyxijsdqwee"
_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονικ"
_GREEK_AS = "abezhikmnoptyxovik"
LOOKALIKE_CYRILLIC = _CYRILLIC
LOOKALIKE_GREEK = _GREEK
_TAG = "\U000e0020-\U000e007e"
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern; compiled when first needed, since most texts need few."""
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class Plain:
    """``text`` without disguise.

    Character ``i`` stands in the text it was made from at ``i`` plus the shift of the last break at or before ``i``.
    """

    text: str
    breaks: tuple[int, ...]
    shifts: tuple[int, ...]

    def origin(self, at: int) -> int:
        """Return where character ``at`` stands in the text this was made from."""
        return at + self.shifts[bisect_right(self.breaks, at) - 1]


def plain(text: str) -> Plain:
    """Return what ``text`` says to a reader who looks at letters' shapes, and what it hides. Never raises."""
    view = unhidden(text, say=True)
    return Plain(view.text.translate(_shapes()), view.breaks, view.shifts)


def unhidden(text: str, say: bool = False) -> Plain:
    """Return ``text`` without hidden characters; with ``say``, what they spell stands in their place."""
    parts, breaks, shifts, at, length = [], [0], [0], 0, 0
    if not text.isascii() or compiled(f"[{ranges.CONTROL}]").search(text):
        for run in compiled(f"[{ranges.HIDDEN}{ranges.SURROGATE}\u0300-\u036f]+").finditer(text):
            said = decoded(run[0]) if say else ""
            said = f" {said} " if said else ""
            parts += [text[at : run.start()], said]
            length += run.start() - at + len(said)
            at = run.end()
            breaks.append(length)
            shifts.append(at - length)
    parts.append(text[at:])
    return Plain("".join(parts), tuple(breaks), tuple(shifts))


def decoded(run: str) -> str:
    """Return the text a run of tag characters or variation selectors carries, as one line; ``""`` where there is none.

    Tag characters mirror ASCII; selectors are known to carry one byte each (1 to 16, then 17 to 256).
    """
    if max(run) < "\ufe00":
        return ""
    tags = "".join(chr(ord(char) - 0xE0000) for char in compiled(f"[{_TAG}]").findall(run))
    selectors = compiled(f"[{_SELECTOR}]").findall(run)
    if len(selectors) < 4:
        return tags
    octets = bytes(ord(char) - (0xFE00 if char < "\U000e0100" else 0xE00F0) for char in selectors)
    said = octets.decode("utf-8", "replace")
    return " ".join(f"{tags} {said}".split()) if said.isprintable() and "\ufffd" not in said else tags


@cache
def _shapes() -> dict[int, str]:
    """Return the letter each look-alike stands for; one character for one, so that places stay."""
    table = dict(zip(map(ord, _CYRILLIC + _GREEK), _CYRILLIC_AS + _GREEK_AS, strict=True))
    table |= {code: chr(code - 0xFEE0).lower() for code in range(0xFF01, 0xFF5F)}
    table |= {ord("’"): "'", ord("\u00a0"): " ", ord("ſ"): "s", ord("ı"): "i", ord("‑"): "-"}
    for code in range(0x1D400, 0x1D800):
        letter = unicodedata.normalize("NFKC", chr(code)).lower()
        if letter.isascii() and len(letter) == 1:
            table[code] = letter
    return table | {code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the lines of a text start, and which of them the text brings."""

    starts: tuple[int, ...]
    brought: frozenset[int]

    def at(self, place: int) -> int:
        """Return the line (0-based) a place lies in."""
        return bisect_right(self.starts, place) - 1

    def first_brought(self, start: int, end: int) -> int | None:
        """Return the first brought line that ``start`` to ``end`` touches; ``None`` where it touches none."""
        lines = range(self.at(start), self.at(max(start, end - 1)) + 1)
        return next((line for line in lines if line in self.brought), None)


def lines_of(before: str, after: str) -> Lines:
    """Return the lines of ``after`` and which of them ``before`` does not hold as often. Linear time."""
    new = after.split("\n")
    starts = [0]
    for line in new[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    left: dict[str, int] = {}
    for line in before.split("\n") if before else []:
        left[line.rstrip("\r")] = left.get(line.rstrip("\r"), 0) + 1
    brought = set()
    for number, line in enumerate(each.rstrip("\r") for each in new):
        if left.get(line, 0):
            left[line] -= 1
        elif line.strip(" \t"):
            brought.add(number)
    return Lines(tuple(starts), frozenset(brought))


@dataclass(frozen=True, slots=True)
class Code:
    """The stretches of a Markdown text that are code: what stands there is shown as it is."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def holds(self, place: int) -> bool:
        """Whether ``place`` is inside a fence or between backticks."""
        index = bisect_right(self.starts, place) - 1
        return index >= 0 and place < self.ends[index]


def code_of(text: str) -> Code:
    """Return the fences and inline code of a Markdown text (CommonMark 4.5 and 6.1, spans within one line)."""
    starts, ends, at, fence, opened = [], [], 0, "", 0
    for line in text.split("\n"):
        mark = compiled(r"[ \t>*+\-]{0,12}(?:\d{1,3}[.)][ \t]+)?(`{3,}(?=[^`]*$)|~{3,})(.*)").match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = ""
                starts.append(opened)
                ends.append(at + len(line))
        elif mark:
            fence, opened = mark[1], at
        elif "`" in line:
            for span in compiled(r"(?<!`)(`{1,2})(?!`)[^`]{1,400}\1(?!`)").finditer(line):
                starts.append(at + span.start())
                ends.append(at + span.end())
        at += len(line) + 1
    if fence:
        starts.append(opened)
        ends.append(at)
    return Code(tuple(starts), tuple(ends))
