"""The care of a memory whose lessons have words and little else: lists, one lesson, and an export."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from lessonbook.core.care import Shown, Told, Wanted
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Kept, Lesson, Recalled
from lessonbook.memory.importing import json_lines

ALL = 100_000
"""More lessons than such a memory keeps."""


class PlainCare:
    """Meets ``core.care_ports.Looking`` and ``Exporting``. ``newest`` gives so many of the newest lessons."""

    def __init__(self, newest: Callable[[int], Sequence[Recalled]], name: str) -> None:
        self._newest = newest
        self._name = name

    def lessons(self, wanted: Wanted, limit: int = 100, after: str | None = None) -> list[Kept]:
        """Return the newest lessons. Raises ``InputError`` for what cannot be narrowed down here."""
        if wanted != Wanted():
            raise InputError(f"The {self._name} memory lists all its lessons: leave out what narrows the list down.")
        found = [kept(one) for one in self._newest(limit if after is None else ALL)]
        if after is None:
            return found[:limit]
        places = [place for place, one in enumerate(found) if one.id == after]
        if not places:
            raise _unknown(after)
        return found[places[0] + 1 :][:limit]

    def show(self, lesson: str) -> Shown:
        """Return one lesson with what is known of it."""
        found = next((kept(one) for one in self._newest(ALL) if one.id == lesson), None)
        if found is None:
            raise _unknown(lesson)
        context = found.lesson.context
        told = (Told(context, {}, found.created),) if context else ()
        return Shown(found, told, (), (), (), (), (), ())

    @contextmanager
    def exported(self, *, forgotten: bool = False, every_bank: bool = False) -> Iterator[Iterator[str]]:
        """Give the lines of an export, oldest first."""
        if every_bank:
            raise InputError(f"The {self._name} memory exports the lessons of one project: leave out --everywhere.")
        yield self._lines()

    def _lines(self) -> Iterator[str]:
        yield json_lines.header()
        for one in reversed(self._newest(ALL)):
            found = kept(one)
            yield json_lines.line(found.but(id=""), f"{json_lines.MARK}:{self._name}:{one.bank}:{one.id}")


def kept(found: Recalled) -> Kept:
    """Return a lesson as lists show it; a time that is not kept is no number."""
    at = math.nan if found.at is None else found.at
    lesson = Lesson(found.text, found.context, source=found.source or Lesson("").source, title=found.title)
    return Kept(found.id, lesson, found.bank, at, at)


def _unknown(lesson: str) -> InputError:
    return InputError(f"There is no lesson {lesson[:40]!r} here; `lessonbook memory list` shows them.")
