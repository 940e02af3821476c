"""Opens the bank's file and keeps it open: durable, patient with other writers, and never past what it cannot read.

Every write is an immediate transaction: one that reads first and writes later fails at once when another writer comes
between, whatever the timeout. WAL and ``synchronous = FULL``: what was answered "stored" survives a power cut, and
readers never stop a writer. Where WAL is impossible (some network file systems) SQLite's older journal is as safe.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lessonbook.core.errors import BusyError, LessonbookError, StoreError
from lessonbook.memory.mnemopi import schema
from lessonbook.system import files

WAIT = 10.0
"""Seconds to wait for another process's write before ``BusyError``."""
_WAL_WAIT = 1.0
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


class BankFile:
    """One SQLite file, opened at its first use and again after a failure; one thread at a time."""

    def __init__(self, path: Path, wait: float = WAIT) -> None:
        self.path = path
        self._wait = wait
        self._db: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        self._lock = threading.RLock()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside an immediate transaction: committed at the end, undone when anything is raised.

        Raises ``BusyError`` when another process writes for longer than the wait, ``StoreError`` for all else.
        """
        with self.reading() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection, opening the file where needed. Raises ``BusyError`` and ``StoreError``."""
        with self._lock:
            try:
                db = self._opened()
                try:
                    yield db
                finally:
                    if db.in_transaction:
                        with suppress(sqlite3.Error):  # the error that brought us here says more
                            db.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise self._explained(error) from error

    def exists(self) -> bool:
        """Whether there is a file to read; reading alone never makes one."""
        return self.path.exists()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()

    def _opened(self) -> sqlite3.Connection:
        if self._db is not None and self._inode != self._found():
            # The file was moved away or replaced: what is written to the old one, nobody would ever read.
            self.close()
        if self._db is None:
            self._db = self._open()
            self._inode = self._found()
        return self._db

    def _open(self) -> sqlite3.Connection:
        files.make_private_file(self.path)
        db = sqlite3.connect(self.path, timeout=self._wait, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(db)
        except BaseException:  # also an interrupt: closing undoes a step half done
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        found = schema.version(db)
        if schema.is_foreign(db):
            raise StoreError(f"{self.path} is another program's database; it was left as it is.")
        if found > len(schema.STEPS):
            raise StoreError(f"{self.path} was made by a newer lessonbook: update this one; it was left as it is.")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        if found < len(schema.STEPS):
            schema.migrate(db)
        self._prefer_wal(db)

    def _prefer_wal(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            return
        db.execute(f"PRAGMA busy_timeout = {int(min(_WAL_WAIT, self._wait) * 1000)}")
        with suppress(sqlite3.OperationalError):  # in use or impossible here: the journal it has is as durable
            db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute(f"PRAGMA busy_timeout = {int(self._wait * 1000)}")

    def _found(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _explained(self, error: sqlite3.Error) -> LessonbookError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return BusyError(
                f"Another process kept {self.path} locked for {self._wait:g} seconds; nothing was changed, try again."
            )
        self.close()
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StoreError(
                f"{self.path} is damaged ({error}); it was left as it is: restore a copy, or move it away."
            )
        return StoreError(f"{self.path} cannot be used: {error}.")
