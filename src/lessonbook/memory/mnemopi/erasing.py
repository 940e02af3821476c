"""Removes a lesson with every trace in the file: for what should never have been kept, such as a secret we missed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from lessonbook.memory.mnemopi import index
from lessonbook.memory.mnemopi.connection import BankFile
from lessonbook.memory.mnemopi.vectors import Vectors

_BELONGING = (
    *(
        f"DELETE FROM {table} WHERE lesson = ?1"
        for table in ("sightings", "changes", "entities", "facts", "unembedded", "extracted")
    ),
    "DELETE FROM contradictions WHERE newer = ?1 OR older = ?1",
    "DELETE FROM merges WHERE kept = ?1 OR other = ?1",
    "UPDATE lessons SET superseded_by = NULL WHERE superseded_by = ?1",
    "DELETE FROM lessons WHERE id = ?1",
)


def erase(file: BankFile, vectors: Vectors, find: Callable[[sqlite3.Connection], int]) -> None:
    """Remove the row that ``find`` returns and all that belongs to it, then the pages and the journal it stood in.

    The whole file is written anew for that, which takes about a second for each 100,000 lessons.
    """
    with file.writing() as db:
        number = find(db)
        index.remove(db, number)
        vectors.clear(db, number)
        for statement in _BELONGING:
            db.execute(statement, (number,))
        # Removed words stay in the index's older parts until these are merged into one.
        db.execute("INSERT INTO words (words) VALUES ('optimize')")
    shrink(file)


def shrink(file: BankFile) -> None:
    """Write the file anew without what was removed from it, and empty the journal."""
    with file.alone() as db:
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
