"""What is done about a bank's file that does not hold together: nothing is deleted, and it is always said.

Where only the index of words is damaged it is made anew from the rows. Else the file is set aside under a dated name,
with its journal, and a new one is begun; ``lessonbook memory import`` brings back what can be read of the old one.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from lessonbook.memory.mnemopi import index, recalls, schema
from lessonbook.memory.mnemopi.connection import BankFile
from lessonbook.system import files, locks

_BESIDE = ("", "-wal", "-shm", recalls.BESIDE)


def mend(file: BankFile, now: float) -> str:
    """Make the file usable again, and return the sentence that says what was done."""
    file.close()
    with locks.locked(file.path.with_name(f"{file.path.name}.lock"), wait=file.wait):
        found = _fault(file.path)
        if found is None:
            return f"{file.path} was damaged and another process mended it."
        if found == _INDEX:
            with file.writing() as db:
                index.rebuild(db)
            return f"The index of {file.path} was damaged; it was made anew from the lessons, and none is lost."
        aside = _set_aside(file.path, now)
    return (
        f"{file.path} was damaged ({found}) and was set aside as {aside.name}; a new one was begun. "
        f"`lessonbook memory import {aside}` brings back what can still be read."
    )


_INDEX = "index"


def _fault(path: Path) -> str | None:
    """Return what is wrong with the file: ``None`` for nothing, ``_INDEX`` where its rows are whole."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            if not schema.version(db):
                return None
            said = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if said != "ok":
                return str(said).splitlines()[-1].strip()
            db.execute("SELECT max(length(text) + length(metadata)) FROM lessons").fetchone()
            with suppress(sqlite3.DatabaseError):
                db.execute("BEGIN IMMEDIATE")
                db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
                db.execute("ROLLBACK")
                return None
            return _INDEX
    except sqlite3.DatabaseError as error:
        return str(error)


def _set_aside(path: Path, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    name, count = f"{path.name}.damaged-{stamp}", 1
    while path.with_name(name).exists():
        count += 1
        name = f"{path.name}.damaged-{stamp}-{count}"
    for beside in reversed(_BESIDE):  # the journal before the file, which alone would be taken for whole
        if path.with_name(path.name + beside).exists():
            files.move(path.with_name(path.name + beside), path.with_name(name + beside))
    files.sync_folder(path.parent)
    return path.with_name(name)
