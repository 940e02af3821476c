"""Copies a bank's file while others use it: SQLite's own backup, one state of the whole file, checked before it counts.

The copy is one file without a journal beside it, readable by its owner alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lessonbook.core.errors import StoreError
from lessonbook.memory.mnemopi.connection import BankFile
from lessonbook.system import locks, newfile
from lessonbook.system.faults import point


def back_up(file: BankFile, target: Path) -> int:
    """Copy the file to ``target``, durably, and return its bytes. Writers go on meanwhile, where WAL is possible.

    Raises ``InputError`` where ``target`` is there already: a backup never takes another one's place. Raises
    ``StoreError`` where the copy cannot be written or is not whole, and ``BusyError``; no part of it stays then.
    """
    newfile.check_new(target)
    # One backup of a bank at a time, so that what a killed one left beside the target can be told from one at work.
    with locks.locked(file.path.with_name(f"{file.path.name}.lock"), wait=file.wait), newfile.new_file(target) as copy:
        copied(file, copy, target)
        with closing(sqlite3.connect(copy)) as made:
            said = made.execute("PRAGMA quick_check(1)").fetchone()[0]
        if said != "ok":
            raise StoreError(f"{file.path} could not be backed up, the copy is not whole: {said}.")
    return target.stat().st_size


def copied(file: BankFile, copy: Path, called: Path | None = None) -> Path:
    """Copy the file, as it is, over the empty or new file ``copy``, which errors name ``called``; return ``copy``."""
    with file.reading() as db, _written(called or copy), closing(sqlite3.connect(copy, isolation_level=None)) as into:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()  # waits for a writer as long as others do, and no longer
        into.execute("PRAGMA journal_mode = MEMORY").fetchone()
        into.execute("PRAGMA synchronous = OFF")  # whoever wants it durable sees to that when it is whole
        db.backup(into)
        point("backup.copied")
        into.execute("PRAGMA journal_mode = DELETE").fetchone()
    return copy


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Say of the copy, not of the bank, what SQLite cannot do to it."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise StoreError(f"{target} cannot be written: {error}.") from error
        raise
