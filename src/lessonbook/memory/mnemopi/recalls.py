"""Counts how often lessons were recalled, without anybody who recalls waiting for the disk.

A program that only recalled adds a line to a small file beside the bank. Who writes to the bank next, or looks after
it, takes the lines into the rows. The last few are not counted where the machine goes down; nothing counts twice.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from lessonbook.system import files

BESIDE = "-recalled"
"""What its name has after the bank's."""
_LINE = re.compile(r"(\d{1,12})((?: \d{1,15})+)", re.ASCII)


def note(bank: Path, counts: Mapping[int, int], now: float) -> None:
    """Add how often lessons were recalled to the file beside the ``bank``. Raises ``StoreError``."""
    numbers = (str(number) for number, times in counts.items() for _ in range(times))
    files.append_line(_file(bank), f"{now:.0f} {' '.join(numbers)}".encode())


def are_noted(bank: Path) -> bool:
    """Whether there is anything to take."""
    return _file(bank).exists()


def take(db: sqlite3.Connection, bank: Path) -> None:
    """Count what was noted beside the ``bank``, inside a transaction that writes to it. Raises ``StoreError``."""
    if not are_noted(bank):
        return
    told = (files.read_bytes(_file(bank)) or b"").decode("utf-8", "replace")
    files.remove(_file(bank))
    for line in filter(None, map(_LINE.fullmatch, told.splitlines())):
        count(db, Counter(map(int, line[2].split())), float(line[1]))


def count(db: sqlite3.Connection, counts: Mapping[int, int], now: float) -> None:
    """Count the lessons as recalled so often, at ``now``."""
    db.executemany(
        "UPDATE lessons SET recalled = recalled + ?, recalled_at = max(coalesce(recalled_at, 0), ?) WHERE id = ?",
        [(times, now, number) for number, times in counts.items()],
    )


def _file(bank: Path) -> Path:
    return bank.with_name(bank.name + BESIDE)
