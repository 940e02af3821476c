"""Opens an SQLite file and keeps it open: durable, patient with other writers, and never past what it cannot read.

Every write is an immediate transaction: one that reads first and writes later fails at once when another writer comes
between, whatever the timeout. WAL and ``synchronous = FULL``: what was acknowledged survives a power cut, and readers
never stop a writer. Where WAL is impossible (some network file systems) SQLite's older journal is as safe, but there a
reader and a writer wait for each other; ``doctor`` says so.

One connection reads and another writes, so that in a server a recall does not wait behind a lesson that waits for
another process.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lessonbook.core.errors import BusyError, LessonbookError, StoreError
from lessonbook.system import files

WAIT = 10.0
"""Seconds to wait for another process's write before ``BusyError``."""
_WAL_WAIT = 1.0
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class DamagedError(StoreError):
    """The file, or an index in it, does not hold together: ``mending`` knows what to do."""


class SqliteFile:
    """One SQLite file, opened at its first use and again after a failure; usable from several threads.

    What the file is to hold is its subclass's to say: ``bring_up_to_date`` checks and migrates each new connection.
    """

    def __init__(self, path: Path, wait: float = WAIT) -> None:
        self.path = path
        self.wait = wait
        self._reader = _Line(path, wait, self._open_to_read)
        self._writer = _Line(path, wait, self._open)

    @contextmanager
    def writing(self, wait: float | None = None, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Give a connection inside an immediate transaction: committed at the end, undone when anything is raised.

        ``wait`` is how many seconds another writer is waited for, the file's own by default; what is not ``durable``
        may be lost in a power cut. Raises ``BusyError`` when another writes for longer, ``DamagedError`` for a file
        that does not hold together, ``StoreError`` for all else.
        """
        with self._writer.used() as db:
            db.execute(f"PRAGMA busy_timeout = {int((self.wait if wait is None else wait) * 1000)}")
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction that reads: all of it sees one state. Raises as ``writing`` does."""
        with self._reader.used() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """Give the writing connection outside any transaction, for what SQLite does only there."""
        with self._writer.used() as db:
            yield db

    def exists(self) -> bool:
        """Whether there is a file to read; reading alone never makes one."""
        return self.path.exists()

    def is_elsewhere(self) -> bool:
        """Whether the file that is open for writing was moved away or replaced since."""
        return self._writer.is_elsewhere()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._reader.close()
        self._writer.close()

    def bring_up_to_date(self, db: sqlite3.Connection) -> None:
        """Check that the file is ours and make its tables. Raises ``StoreError`` for one that is not."""
        raise TypeError(f"{type(self).__name__} must say what its file holds.")

    def ready_to_read(self, db: sqlite3.Connection) -> None:
        """Do what only a connection that reads needs; nothing by default."""

    def _open_to_read(self) -> sqlite3.Connection:
        try:
            db = self._open()
        except (sqlite3.OperationalError, StoreError):
            db = self._open_unchanging()
        self.ready_to_read(db)
        db.execute("PRAGMA query_only = ON")
        return db

    def _open(self) -> sqlite3.Connection:
        files.make_private_file(self.path)
        return self._prepared(self._connect(str(self.path)))

    def _open_unchanging(self) -> sqlite3.Connection:
        """Open a file that this process cannot write, such as one on a read-only medium: nothing changes it either."""
        if not self.path.is_file() or _is_writable(self.path):
            return self._open()
        return self._connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)

    def _connect(self, name: str, *, uri: bool = False) -> sqlite3.Connection:
        return sqlite3.connect(name, timeout=self.wait, isolation_level=None, check_same_thread=False, uri=uri)

    def _prepared(self, db: sqlite3.Connection) -> sqlite3.Connection:
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            self.bring_up_to_date(db)
            self._prefer_wal(db)
        except BaseException:  # also an interrupt: closing undoes a step half done
            db.close()
            raise
        return db

    def _prefer_wal(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            return
        db.execute(f"PRAGMA busy_timeout = {int(min(_WAL_WAIT, self.wait) * 1000)}")
        with suppress(sqlite3.OperationalError):  # in use or impossible here: the journal it has is as durable
            db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute(f"PRAGMA busy_timeout = {int(self.wait * 1000)}")


class _Line:
    """One connection to the file, for one thread at a time."""

    def __init__(self, path: Path, wait: float, opener: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._wait = wait
        self._opener = opener
        self._db: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        self._lock = threading.RLock()

    @contextmanager
    def used(self) -> Iterator[sqlite3.Connection]:
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

    def close(self) -> None:
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                db.close()

    def is_elsewhere(self) -> bool:
        return self._db is not None and self._inode != _inode(self._path)

    def _opened(self) -> sqlite3.Connection:
        if self.is_elsewhere():
            # The file was moved away or replaced: what is written to the old one, nobody would ever read.
            self.close()
        if self._db is None:
            self._db = self._opener()
            self._inode = _inode(self._path)
        return self._db

    def _explained(self, error: sqlite3.Error) -> LessonbookError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return BusyError(
                f"Another process kept {self._path} locked for {self._wait:g} seconds; nothing was changed, try again."
            )
        self.close()
        if code in _DAMAGED:
            return DamagedError(f"{self._path} is damaged: {error}.")
        return StoreError(f"{self._path} cannot be used: {error}.")


def check_ours(db: sqlite3.Connection, path: Path, mark: int, steps: int) -> None:
    """Raise ``StoreError`` for a database without our ``mark``, or of a newer version: it is left as it is.

    ``mark`` is its ``application_id``, ``steps`` how many versions of it this program knows.
    """
    if is_foreign(db, mark):
        raise StoreError(f"{path} is another program's database; it was left as it is.")
    if version(db) > steps:
        raise StoreError(f"{path} was made by a newer lessonbook: update this one; it was left as it is.")


def version(db: sqlite3.Connection) -> int:
    """Return how many steps the file has had."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(db: sqlite3.Connection, mark: int) -> bool:
    """Whether the file is another program's database: it has tables, and does not carry our mark."""
    # Tables first: they come in one transaction with the mark, so who sees them made meanwhile sees the mark too.
    if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return False
    return int(db.execute("PRAGMA application_id").fetchone()[0]) != mark


def run_steps(db: sqlite3.Connection, steps: tuple[str, ...], mark: int) -> None:
    """Run the steps the file has not had, inside the caller's immediate transaction, and mark it as ours."""
    for step in steps[version(db) :]:
        for statement in statements(step):
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {mark}")
    db.execute(f"PRAGMA user_version = {len(steps)}")


def statements(script: str) -> list[str]:
    """Split a script at the ends of its statements; ``executescript`` would commit the transaction first."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_writable(path: Path) -> bool:
    import os

    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
