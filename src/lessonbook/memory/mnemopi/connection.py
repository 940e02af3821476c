"""The bank's file: an SQLite file of ours (``memory.sqlite_file``) with the bank's tables and its index of words."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lessonbook.memory.mnemopi import index, schema
from lessonbook.memory.sqlite_file import WAIT, DamagedError, SqliteFile, check_ours

__all__ = ["WAIT", "BankFile", "DamagedError", "check"]


class BankFile(SqliteFile):
    """The bank's SQLite file, opened at its first use and again after a failure; usable from several threads."""

    def bring_up_to_date(self, db: sqlite3.Connection) -> None:
        """Check that the file is a bank of ours, and make its tables and its index. Raises ``StoreError``."""
        check(db, self.path)
        if schema.version(db) < len(schema.STEPS) or not index.is_current(db):
            schema.migrate(db)

    def ready_to_read(self, db: sqlite3.Connection) -> None:
        """Count how many lessons have a word: a table of this connection alone, over the index."""
        db.execute("CREATE VIRTUAL TABLE temp.words_rows USING fts5vocab (main, words, row)")


def check(db: sqlite3.Connection, path: Path) -> None:
    """Raise ``StoreError`` for a database that is not ours, or that a newer version made: it is left as it is."""
    check_ours(db, path, schema.APPLICATION_ID, len(schema.STEPS))
