"""Reads a SQLite file that belongs to another program, without a trace: no lock, no file beside it, no byte changed.

What its writer has not yet moved into the file (a write-ahead log, a rollback journal) is read as well: SQLite would
have to write for that, so it is given a copy. Damage costs the rows it lies on and no other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from lessonbook.core.errors import StoreError
from lessonbook.core.value import Value
from lessonbook.system import snapshots

MAGIC = b"SQLite format 3\0"
BROKEN = (sqlite3.Error, UnicodeError, OverflowError)
"""What a damaged file raises: SQLite repeats bytes of it in its messages, which then are not always text."""
_BATCH = 200
_WAIT = 10.0
_LOWEST = -(2**63)
_WAL_VERSION = 2
_FROM = "FROM {} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT ?"


class Damaged(Value):
    """Rows of a table that cannot be read: the first and the last number they can have, and what SQLite says."""

    first: int
    last: int | None
    said: str

    @property
    def where(self) -> str:
        """Which rows."""
        if self.last is None:
            return f"row {self.first} and all behind it"
        return f"row {self.first}" if self.last == self.first else f"rows {self.first} to {self.last}"


class Source:
    """An open file, and whether what was read from it can be trusted."""

    def __init__(self, db: sqlite3.Connection, unlocked: Sequence[Path] = ()) -> None:
        self._db = db
        self._before = {path: snapshots.mark(path) for path in unlocked}

    @property
    def changed(self) -> bool:
        """Whether its own program wrote meanwhile without our noticing."""
        return any(snapshots.mark(path) != before for path, before in self._before.items())

    def tables(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of each table by its name. Raises one of ``BROKEN`` where it is no database."""
        found = self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: self._columns(name) for (name,) in found if isinstance(name, str)}

    def has(self, table: str, id: object) -> bool:
        """Whether a table has a row of that id; no where that cannot be told."""
        try:
            found = self._db.execute(f"SELECT 1 FROM {_quoted(table)} WHERE id = ?", (id,)).fetchone()
        except BROKEN:
            return False
        return found is not None

    def rows(self, table: str, columns: Sequence[str]) -> Iterator[dict[str, object] | Damaged]:
        """Yield every row in the order of its number, which it has as ``rowid``; a few hundred are held at a time."""
        start, batch = _LOWEST, _BATCH
        query = f"SELECT {', '.join(map(_quoted, ('rowid', *columns)))} {_FROM.format(_quoted(table))}"
        while True:
            try:
                found = self._db.execute(query, (start, batch)).fetchall()
            except BROKEN as error:
                if batch > 1:
                    batch = 1
                    continue
                damaged = self._damaged(table, start, error)
                yield damaged
                if damaged.last is None:
                    return
                start, batch = damaged.last + 1, _BATCH
                continue
            for row in found:
                yield dict(zip(("rowid", *columns), row, strict=True))
            if not found or not isinstance(found[-1][0], int):
                return
            start = found[-1][0] + 1

    def numbers(self, table: str, column: str, value: object, order: Sequence[str] = ()) -> list[int]:
        """Return the numbers of the rows with this value, in this order; none where that cannot be told."""
        ordered = f" ORDER BY {', '.join(map(_quoted, order))}" if order else ""
        query = f"SELECT rowid FROM {_quoted(table)} WHERE {_quoted(column)} = ?{ordered}"
        for tried in (query, query.removesuffix(ordered)):
            try:
                return [row[0] for row in self._db.execute(tried, (value,)).fetchall()]
            except BROKEN:
                continue
        return []

    def row(self, table: str, number: int, columns: Sequence[str]) -> dict[str, object] | None:
        """Return one row by its number; ``None`` where it cannot be read."""
        query = f"SELECT {', '.join(map(_quoted, columns))} FROM {_quoted(table)} WHERE rowid = ?"
        try:
            found = self._db.execute(query, (number,)).fetchone()
        except BROKEN:
            return None
        return dict(zip(columns, found, strict=True)) if found else None

    def _damaged(self, table: str, start: int, error: Exception) -> Damaged:
        """Find the first number behind the damage from which rows can be read again."""
        number = self._next(table, start)
        if number is not None:  # the row is there and only its content is gone
            return Damaged(number, number, str(error))
        first = max(start, 1)
        good = next((first + step for step in _steps() if self._next(table, first + step) is not None), None)
        return Damaged(first, None if good is None else good - 1, str(error))

    def _next(self, table: str, start: int) -> int | None:
        """Return the number of the first row from ``start`` on; ``None`` where there is none or it cannot be told."""
        try:
            found = self._db.execute(f"SELECT rowid {_FROM.format(_quoted(table))}", (start, 1)).fetchone()
        except BROKEN:
            return None
        return found[0] if found and isinstance(found[0], int) else None

    def _columns(self, table: str) -> tuple[str, ...]:
        return tuple(str(row[1]) for row in self._db.execute(f"PRAGMA table_info({_quoted(table)})"))


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a SQLite file for reading. Raises ``StoreError``, and ``BROKEN`` for what is no database."""
    logs = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    if not any((found := snapshots.mark(log)) and found[1] for log in logs):
        unlocked = _is_wal(path)
        with _connected(path, "mode=ro&immutable=1" if unlocked else "mode=ro") as db:
            yield Source(db, (path, *logs) if unlocked else ())
        return
    with (
        snapshots.copied((path, *logs)) as place,
        # Its program is at work and never rests: then SQLite's own locks are the only way to a whole picture.
        _connected(place / path.name, "mode=rw") if place else _connected(path, "mode=ro") as db,
    ):
        yield Source(db)


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    uri = f"{path.absolute().as_uri()}?{mode}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)) as db:
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("BEGIN")  # one picture of the file from the first row to the last
        yield db


def _is_wal(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    return head.startswith(MAGIC) and len(head) == 20 and _WAL_VERSION in head[18:20]


def _steps() -> Iterator[int]:
    """Yield how far behind damage to look: every number at first, as a page holds few rows, then ever further."""
    yield from range(1, 4_097)
    yield from (2**step for step in range(13, 62))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
