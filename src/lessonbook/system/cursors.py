"""Keeps how far each transcript was read, and which turns were told, between two readings.

A file is known by its content: the digest of its first bytes and of those before the place to go on from. So it may
grow, be cut, be replaced or be renamed (rotation keeps its inode), and what was told is not told again. Nothing is kept
before ``commit``: a reading that was cut off is done again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lessonbook.core.cursor import Change, Resume
from lessonbook.core.errors import BusyError, StoreError, reason
from lessonbook.system import files

_BLOCK = 4_096
_CHUNK = 1024 * 1024
_WAIT = 60.0
"""Seconds to wait for another reading."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, device INTEGER, inode INTEGER, size INTEGER, changed INTEGER,
    head BLOB, before BLOB, content BLOB, resume TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_inode ON file (device, inode);
CREATE TABLE IF NOT EXISTS told (turn BLOB PRIMARY KEY, look BLOB) WITHOUT ROWID;
"""
_COLUMNS = "device, inode, size, changed, head, before, content, resume"


class Cursors:
    """What is kept between two readings. Made by ``cursors``."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def look(self, path: Path) -> tuple[Change, Resume | None]:
        """Return what became of a file, and where to go on in it where it has only grown.

        Raises ``StoreError`` where the file cannot be read.
        """
        try:
            with path.open("rb") as file:
                status = path.stat()
                row = self._row(path, status.st_dev, status.st_ino)
                if row is None:
                    return Change.NEW, None
                device, inode, size, changed, head, before, content, kept = row
                if (device, inode, size, changed) == _mark(path):
                    return Change.SAME, None
                resume = _resume(kept)
                if resume is None:
                    return (Change.SAME, None) if content == _content(path) else (Change.OTHER, None)
                same_start = status.st_size >= resume.offset and _digest(file.read(min(_BLOCK, resume.offset))) == head
                if same_start and _before(path, resume.offset) == before:
                    return Change.GROWN, resume
                return Change.OTHER, None
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {reason(error)}.") from error

    def note(self, path: Path, resume: Resume | None, mark: tuple[int, int, int, int]) -> None:
        """Remember that a file was read; ``mark`` is what ``mark_of`` said before that, ``resume`` where to go on.

        Without ``resume`` the file is known by its whole content. Raises ``StoreError`` where it cannot be read.
        """
        kept = None
        head = before = content = b""
        try:
            if resume is None:
                content = _content(path)
            else:
                with path.open("rb") as file:
                    head = _digest(file.read(min(_BLOCK, resume.offset)))
                before = _before(path, resume.offset)
                kept = json.dumps({"offset": resume.offset, "turns": dict(resume.turns), "note": resume.note})
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {reason(error)}.") from error
        self._db.execute("DELETE FROM file WHERE device = ? AND inode = ?", mark[:2])  # its name before a rename
        values = (str(path), *mark, head, before, content, kept)
        self._db.execute(f"INSERT OR REPLACE INTO file (path, {_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)", values)

    def mark_of(self, path: Path) -> tuple[int, int, int, int]:
        """Return what tells at a glance that a file was not touched. Raises ``StoreError`` where it is gone."""
        try:
            return _mark(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {reason(error)}.") from error

    def tell(self, turn: str, look: str) -> bool:
        """Return whether a turn is new, or looks other than when it was told, and remember it as told."""
        key, seen = _digest(turn.encode("utf-8", "replace")), _digest(look.encode("utf-8", "replace"))
        found = self._db.execute("SELECT look FROM told WHERE turn = ?", (key,)).fetchone()
        if found is not None and found[0] == seen:
            return False
        self._db.execute("INSERT OR REPLACE INTO told (turn, look) VALUES (?, ?)", (key, seen))
        return True

    def run(self, statement: str, values: Iterable[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement on tables of the caller's own: what was made of a reading is kept with it, or not at all.

        Raises ``StoreError`` where that fails.
        """
        try:
            return self._db.execute(statement, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"What was read cannot be kept: {error}.") from error

    def commit(self) -> None:
        """Keep what was noted and told since the last time. Raises ``StoreError`` where that fails."""
        try:
            self._db.execute("COMMIT")
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise StoreError(f"The cursors cannot be written: {error}.") from error

    def _row(self, path: Path, device: int, inode: int) -> tuple[int, int, int, int, bytes, bytes, bytes, str] | None:
        query = f"SELECT {_COLUMNS} FROM file WHERE "
        for where, values in (("path = ?", (str(path),)), ("device = ? AND inode = ?", (device, inode))):
            found: tuple[int, int, int, int, bytes, bytes, bytes, str] | None
            found = self._db.execute(query + where, values).fetchone()
            if found is not None:
                return found
        return None


@contextmanager
def cursors(path: Path | None, tables: str = "") -> Iterator[Cursors]:
    """Open what is kept in ``path``, alone; another reading waits. What is not committed is dropped at the end.

    Without a path it is kept nowhere. ``tables`` creates those of the caller that are missing. Raises ``StoreError``
    where it cannot be opened, and ``BusyError`` where another reading takes too long. A file that is no database of
    ours is put aside and begun anew.
    """
    if path is None:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            db.executescript(_SCHEMA + tables)
            db.execute("BEGIN IMMEDIATE")
            yield Cursors(db)
        return
    files.make_private_file(path)
    with closing(_opened(path, _SCHEMA + tables)) as db:
        try:
            yield Cursors(db)
            db.execute("ROLLBACK")
        except sqlite3.Error as error:  # a full disk, a damaged page
            raise StoreError(f"{path} cannot be used: {error}.") from error


def _opened(path: Path, tables: str) -> sqlite3.Connection:
    for again in (False, True):
        try:
            db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(f"{path} cannot be opened: {error}.") from error
        try:
            db.executescript(tables)
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            db.close()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise BusyError(f"Another reading holds {path}; try again a little later.") from error
            if again or isinstance(error, sqlite3.OperationalError):
                raise StoreError(f"{path} cannot be opened: {error}.") from error
            files.move(path, path.with_name(f"{path.name}.damaged"))
            files.make_private_file(path)
        else:
            return db
    raise StoreError(f"{path} cannot be opened.")


def _mark(path: Path) -> tuple[int, int, int, int]:
    status = path.stat()
    size, changed = status.st_size, status.st_mtime_ns
    try:  # what a database has not yet moved into its file
        log = path.with_name(f"{path.name}-wal").stat()
    except OSError:
        return status.st_dev, status.st_ino, size, changed
    return status.st_dev, status.st_ino, size + log.st_size, max(changed, log.st_mtime_ns)


def _content(path: Path) -> bytes:
    found = blake2b(digest_size=16)
    for part in (path, path.with_name(f"{path.name}-wal")):
        if part is path or part.exists():
            with part.open("rb") as file:
                while data := file.read(_CHUNK):
                    found.update(data)
    return found.digest()


def _before(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, offset - _BLOCK))
        return _digest(file.read(min(_BLOCK, offset)))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _resume(kept: str | None) -> Resume | None:
    if not kept:
        return None
    found = json.loads(kept)
    return Resume(found["offset"], found["turns"], found["note"])
