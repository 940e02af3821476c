"""The text of a ``learned.md``: a person's own lines, and lessons as list items among them.

Everything that is not a lesson keeps its bytes and its place: headings, prose, blank lines, fenced blocks, comments,
a byte order mark, line endings, a missing last newline, even bytes that are not UTF-8. Format: the original's,
``- <lesson>`` or ``- <lesson> _(context: <context>)_``, newest first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lessonbook.core.tidy import as_item, from_item, same_text, tidy

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_ENDING = re.compile(r"\r\n|\n|\r")
_CONTEXT = re.compile(r"(.*) _\(context: (.*?)\)_", re.DOTALL)
_MARK = re.compile(r"_(\\*)\(context:")
_HIDDEN_MARK = re.compile(r"_\\(\\*)\(context:")
_FENCE = re.compile(r" {0,3}(?=(`{3,})[^`]*\Z|(~{3,}))")
_COMMENT = re.compile(r" {0,3}<!--")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Item:
    """One lesson as it stands in the file: its lines with their endings, the continuation lines included."""

    raw: str

    @property
    def line(self) -> str:
        """The item without its last line ending; the same in files of either kind of ending."""
        return _ENDING.sub("\n", self.raw).rstrip("\n")

    @property
    def text(self) -> str:
        """The lesson, cleaned and redacted: a person may have written it."""
        return _read(self.line)[0]

    @property
    def context(self) -> str | None:
        """Where it came from, cleaned and redacted."""
        return _read(self.line)[1]

    @property
    def key(self) -> tuple[str, str]:
        """Equal for two spellings of the same lesson with the same context."""
        return same_text(self.text), same_text(self.context or "")

    @property
    def id(self) -> str:
        """Twelve hex digits that stay the same as long as the lesson does."""
        return hashlib.sha256("\0".join(self.key).encode("utf-8", "replace")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole file: a person's lines as plain text, lessons as ``Item``, in order."""

    parts: tuple[str | Item, ...]
    ending: str = "\n"

    @property
    def items(self) -> tuple[Item, ...]:
        """The lessons, newest first."""
        return tuple(part for part in self.parts if isinstance(part, Item))

    def encode(self) -> bytes:
        """Return the file's bytes."""
        text = "".join(part.raw if isinstance(part, Item) else part for part in self.parts)
        return text.encode("utf-8", "surrogateescape")


def make_item(text: str, context: str | None) -> Item:
    """Return a tidied lesson as the file writes it."""
    lesson = f"- {as_item(_hidden(text))}"
    return Item(f"{lesson} _(context: {_hidden(context)})_" if context else lesson)


def parse(data: bytes | None) -> Page:
    """Return the page of a file's bytes; ``None`` is no file."""
    if data is None:
        return Page(())
    text = data.decode("utf-8", "surrogateescape")
    mark = [_BOM] if text.startswith(_BOM) else []
    lines = _LINES.findall(text.removeprefix(_BOM))
    ending = _ENDING.search(text)
    return Page((*mark, *grouped(lines, quiet(lines))), ending.group() if ending else "\n")


def lines_of(part: str | Item) -> int:
    """Return how many lines of the file a part is."""
    return len(_LINES.findall(part.raw if isinstance(part, Item) else part))


def on_top(page: Page, items: Sequence[Item]) -> Page:
    """Return the page with ``items`` before its first lesson, each there once; where it has none, at its end."""
    moved = {item.line for item in items}
    fresh = [Item(_ENDING.sub(page.ending, item.line) + page.ending) for item in items]
    place = next((n for n, part in enumerate(page.parts) if isinstance(part, Item)), len(page.parts))
    before, after = page.parts[:place], page.parts[place:]
    last = before[-1] if before and not after and before != (_BOM,) else "\n"
    if isinstance(last, str) and not last.endswith(("\n", "\r")):
        before = (*before, page.ending)
    kept = [part for part in after if isinstance(part, str) or part.line not in moved]
    return Page((*before, *fresh, *kept), page.ending)


def capped(page: Page, most: int) -> tuple[Page, tuple[Item, ...]]:
    """Return the page with its first ``most`` lessons, and the older ones that had to leave, newest first."""
    leaving = page.items[most:]
    if not leaving:
        return page, ()
    staying = most
    parts: list[str | Item] = []
    for part in page.parts:
        if isinstance(part, Item):
            staying -= 1
            if staying < 0:
                continue
        parts.append(part)
    return Page(tuple(parts), page.ending), leaving


@lru_cache(maxsize=2048)
def _read(line: str) -> tuple[str, str | None]:
    content = line.removeprefix("- ").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    found = _CONTEXT.fullmatch(content.rstrip())
    if found is None:
        return _shown(from_item(tidy(content).text)), None
    return _shown(from_item(tidy(found[1]).text)), _shown(tidy(found[2]).text) or None


def _hidden(text: str) -> str:
    """Put a backslash into what would be read as the mark of a context; Markdown shows it without."""
    return _MARK.sub(r"_\\\1(context:", text)


def _shown(text: str) -> str:
    return _HIDDEN_MARK.sub(r"_\1(context:", text)


def grouped(lines: Iterable[str], inside: set[int]) -> Iterator[str | Item]:
    """Yield each lesson whole, and every other line, in order; ``inside`` is what ``quiet`` says of the same lines."""
    item = ""
    for number, line in enumerate(lines):
        starts = number not in inside and _is_lesson(line)
        if item and not starts and line[0] in " \t" and line.strip():
            item += line
            continue
        if item:
            yield Item(item)
        item = line if starts else ""
        if not starts:
            yield line
    if item:
        yield Item(item)


def _is_lesson(line: str) -> bool:
    return line.startswith("- ") and bool(line.strip("- \t\r\n"))


def quiet(lines: Iterable[str]) -> set[int]:
    """Return the numbers of the lines inside closed fenced blocks and comments: what stands there is no lesson."""
    inside: set[int] = set()
    opened = 0
    close: re.Pattern[str] | None = None
    for number, line in enumerate(lines):
        if close is not None:
            if close.match(line):
                inside.update(range(opened, number + 1))
                close = None
        elif fence := _FENCE.match(line):
            marks = fence[1] or fence[2]
            opened, close = number, re.compile(rf" {{0,3}}{marks}{marks[0]}*\s*\Z")
        elif _COMMENT.match(line) and "-->" not in line:
            opened, close = number, re.compile(r".*-->", re.DOTALL)
    return inside
