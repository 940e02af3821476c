"""Reads ``learned.md`` and ``learned.archive.md``, the files of the ``local`` backend: ours and the original's.

Lessons are told apart from what a person wrote around them just as the backend itself does it. The file has no times:
the first lesson, which is the newest, gets the file's own, each further one a second less, so that the order survives.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.core.care import Imported
from lessonbook.core.errors import StoreError, reason
from lessonbook.core.lesson import Lesson
from lessonbook.memory import page
from lessonbook.memory.importing.lines import LINE_MAX, numbered
from lessonbook.memory.importing.values import IMPORTED, ReadProblem, digest, imported, named

NAME, ARCHIVE = "learned.md", "learned.archive.md"
_MOST = 100
"""How many lessons ``learned.md`` holds: those in the archive are older than all of them."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def matches(path: Path, head: bytes) -> bool:
    """Whether a file is one of the ``local`` backend, by its name. ``head`` is how it begins."""
    return path.name in (NAME, ARCHIVE)


def read(path: Path) -> Iterator[Imported | ReadProblem]:
    """Yield every lesson of the file, newest first, and a problem for each that cannot be read; one at a time."""
    try:
        yield from _lessons(path)
    except (OSError, StoreError) as error:
        yield ReadProblem(str(path), reason(error).rstrip("."))


def _lessons(path: Path) -> Iterator[Imported | ReadProblem]:
    with path.open("rb") as file:
        if file.read(2) in _UTF_16:
            yield ReadProblem(str(path), "it is UTF-16; save it as UTF-8 first")
            return
    too_long: list[int] = []
    inside = page.quiet(_lines(path, []))
    bank, seen, at = path.absolute().parent.name, _time(path), 1
    for part in page.grouped(_lines(path, too_long), inside):
        if isinstance(part, page.Item):
            found = _lesson(part, bank, seen)
            yield found or ReadProblem(f"{path}, line {at}", "it has no text")
            seen -= 1
        at += page.lines_of(part)
        while too_long:
            yield ReadProblem(f"{path}, line {too_long.pop()}", f"it is longer than {LINE_MAX:,} characters")


def _lines(path: Path, too_long: list[int]) -> Iterator[str]:
    """Yield every line as it stands; a blank one in the place of each that is too long, whose number is noted."""
    for number, line in numbered(path, newline=""):
        if line is None:
            too_long.append(number)
        yield "\n" if line is None else line


def _lesson(item: page.Item, bank: str, seen: float) -> Imported | None:
    lesson = Lesson(item.text, item.context, veracity=IMPORTED)
    found = imported(lesson, f"local:{bank}:{digest(*item.key)}")
    return found.but(bank=named(bank), created=seen, seen=seen) if found else None


def _time(path: Path) -> float:
    """Return when the newest lesson was told, as far as the file can say."""
    own, newer = path.stat().st_mtime, path.with_name(NAME)
    if path.name != ARCHIVE or not newer.exists():
        return own
    return min(own, newer.stat().st_mtime) - _MOST
