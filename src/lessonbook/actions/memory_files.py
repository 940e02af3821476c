"""Carries lessons in and out of a bank: an export as JSON Lines, and whatever files lessons can be read from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lessonbook.actions.memory import Answer
from lessonbook.core.care import Imported, Taken
from lessonbook.core.care_ports import Exporting, Receiving
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Scope
from lessonbook.core.value import Value
from lessonbook.memory.importing.registry import KINDS, reader, sources
from lessonbook.memory.importing.values import ReadProblem
from lessonbook.memory.mnemopi.rows import SHARED

Identify = Callable[[Path], str]
"""The bank of a folder's project."""
_OURS = ("lessonbook", "bank")
"""The kinds of files whose banks are ours, so that each lesson goes back where it was."""
_BANK = re.compile(rf"{SHARED}|[a-z0-9][a-z0-9-]*-[0-9a-f]{{8}}")
_SHOWN = 20


class Into(Value):
    """Where lessons that are read go, and which of them."""

    scope: Scope | None = None
    """All of them into this bank; ``None`` lets each go where it belongs."""
    bank: str | None = None
    """Only those of this bank, as the file calls it."""
    derived: bool = False
    """Also what the file's own store took out of other lessons of it, or summed up of them."""


def export(care: Exporting, target: Path, *, forgotten: bool = False, every_bank: bool = False) -> Answer:
    """Write the lessons to a new file. Raises ``InputError`` where ``target`` is there already."""
    from lessonbook.system.newfile import write_lines

    with care.exported(forgotten=forgotten, every_bank=every_bank) as lines:
        count = write_lines(target, lines) - 1
    return {"ok": True, "file": str(target), "lessons": count}, f"exported {count:,} to {target}"


def exported(care: Exporting, *, forgotten: bool = False, every_bank: bool = False) -> tuple[list[str], dict[str, Any]]:
    """Return the lines of an export, and the same as one document."""
    import json

    with care.exported(forgotten=forgotten, every_bank=every_bank) as found:
        lines = list(found)
    return lines, {"ok": True, "lessons": [json.loads(line) for line in lines[1:]]}


def import_from(care: Receiving, paths: Sequence[Path], into: Into, identify: Identify) -> Answer:
    """Take in what can be read from files, and from all that lies in folders; what is there already is not added.

    ``identify`` tells the bank of a folder that a lesson was told in. ``ok`` is false where something could not be
    read; the rest was taken in then. Raises ``InputError``, with nothing done, where a path holds nothing to import.
    """
    for path in paths:
        if care.is_kept_in(path):
            raise InputError(f"{path} is this bank itself; name another file.")
    found = [(kind, file) for path in paths for kind, file in sources(path) if not care.is_kept_in(file)]
    rows, problems = [], list[str]()
    for kind, path in found:
        source = _Source(care, kind, into, identify)
        taken = care.receive(source.lessons(path))
        rows.append(_row(path, kind, taken, source))
        problems += source.problems
    document = {"ok": not problems, "files": rows, "problems": problems}
    return document, "\n".join([*(_text(row) for row in rows), *_problem_lines(problems)])


class _Source:
    """One file that is read: where each of its lessons goes, and what was not taken of it."""

    def __init__(self, care: Receiving, kind: str, into: Into, identify: Identify) -> None:
        self._care = care
        self._kind = kind
        self._into = into
        self._identify = identify
        self._known: dict[str, str | None] = {}
        self.problems: list[str] = []
        self.derived = 0
        self.others = Counter[str]()

    def lessons(self, path: Path) -> Iterator[tuple[str, Imported]]:
        for one in reader(self._kind).read(path):
            if isinstance(one, ReadProblem):
                self.problems.append(one.sentence)
            elif self._into.bank is not None and one.bank != self._into.bank:
                self.others[one.bank] += 1
            elif one.derived_from and not self._into.derived:
                self.derived += 1
            else:
                yield self._bank(one), one

    def _bank(self, one: Imported) -> str:
        """Return the bank of the scope that was asked for; else its own where it is ours, or its folder's project's."""
        if self._into.scope is not None:
            return self._care.bank_for(self._into.scope)
        if self._kind in _OURS and _BANK.fullmatch(one.bank):
            return one.bank
        if one.lesson.scope is Scope.GLOBAL:
            return self._care.bank_for(Scope.GLOBAL)
        return self._folder_bank(one.lesson.metadata.get("cwd", "")) or self._care.bank_for(Scope.PROJECT)

    def _folder_bank(self, cwd: str) -> str | None:
        if cwd not in self._known:
            folder = Path(cwd)
            # A folder that is gone cannot say which project it was of.
            there = self._kind not in _OURS and folder.is_absolute() and folder.is_dir()
            self._known[cwd] = self._identify(folder) if there else None
        return self._known[cwd]


def _row(path: Path, kind: str, taken: Taken, source: _Source) -> dict[str, Any]:
    return {
        "file": str(path),
        "kind": kind,
        "stored": sum(taken.stored.values()),
        "banks": dict(taken.stored),
        "known": taken.known,
        "replaced": taken.replaced,
        "contradicting": taken.contradicting,
        "derived": source.derived,
        "other_banks": dict(source.others),
        "notes": dict(taken.notes),
        "problems": len(source.problems),
    }


def _text(row: dict[str, Any]) -> str:
    banks = ", ".join(f"{count:,} in {bank}" for bank, count in row["banks"].items())
    head = f"{row['file']}: {KINDS[row['kind']].label}"
    lines = [
        f"{row['stored']:,} stored{f' ({banks})' if banks else ''}, {row['known']:,} were there already",
        f"{row['replaced']:,} have a key that another one has: the one told last holds" if row["replaced"] else "",
        f"{row['contradicting']:,} may contradict others: `lessonbook memory contradictions`"
        if row["contradicting"]
        else "",
        f"{row['derived']:,} left out that the file's own store made of others; --derived takes them too"
        if row["derived"]
        else "",
        f"left out of other banks: {_counted(row['other_banks'])}" if row["other_banks"] else "",
        *(f"{count:,} ×  {note}" for note, count in row["notes"].items()),
        f"{row['problems']:,} could not be read" if row["problems"] else "",
    ]
    return "\n".join([head, *(f"  {line}" for line in lines if line)])


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} of {bank or 'none'}" for bank, count in counts.items())


def _problem_lines(problems: Sequence[str]) -> Iterator[str]:
    yield from (f"not read: {problem}" for problem in problems[:_SHOWN])
    if len(problems) > _SHOWN:
        yield f"and {len(problems) - _SHOWN:,} more that could not be read; --json names each"
