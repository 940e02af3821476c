"""What is done about a bank's file that does not hold together: nothing is deleted, and it is always said.

Where only the index of words is damaged it is made anew from the rows. Else the file is set aside under a dated name,
with its journal, and a new one is begun; ``lessonbook memory import`` brings back what can be read of the old one.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from lessonbook.memory import aside
from lessonbook.memory.mnemopi import index, recalls, schema
from lessonbook.memory.mnemopi.connection import BankFile
from lessonbook.system import locks


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
        kept = aside.set_aside(file.path, now, recalls.BESIDE)
    return (
        f"{file.path} was damaged ({found}) and was set aside as {kept.name}; a new one was begun. "
        f"`lessonbook memory import {kept}` brings back what can still be read."
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
