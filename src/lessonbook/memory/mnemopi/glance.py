"""Looks at a bank's file from outside and changes nothing: no lock, no file beside it, no new version of its tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from lessonbook.core.value import Value
from lessonbook.memory.mnemopi import connection, index, schema

_WAIT = 2.0
_WAL_AT, _WAL = 18, b"\x02"


class Glance(Value):
    """What can be seen of a bank's file without using it."""

    damage: str = ""
    """What SQLite finds wrong with it; nothing else is known then."""
    journal: str = ""
    is_older: bool = False
    """Another version made it; the next use brings it up to date."""
    is_indexed: bool = True
    """Its index of words is made by the rules of this version."""
    lessons: int = 0
    """How many different lessons a project can recall."""
    unembedded: int = 0
    """Lessons that wait for a vector."""

    @property
    def is_settled(self) -> bool:
        """Whether who opens it for reading leaves it as it is."""
        return not self.damage and self.journal == "wal" and self.is_indexed and not self.is_older


def look(path: Path, banks: Sequence[str]) -> Glance:
    """Return what is seen of the file at ``path``, for a project that sees ``banks``.

    Raises ``StoreError`` for a file that is not a bank, or of a newer version.
    """
    seen = _look(path, banks, unchanging=not _is_in_use(path))
    # Who began to write meanwhile may have made a whole file look damaged.
    return _look(path, banks, unchanging=False) if seen.damage and _is_in_use(path) else seen


def _is_in_use(path: Path) -> bool:
    journals = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    return any(journal.exists() and journal.stat().st_size for journal in journals)


def _look(path: Path, banks: Sequence[str], *, unchanging: bool) -> Glance:
    name = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if unchanging else ''}"
    try:
        with closing(sqlite3.connect(name, uri=True, timeout=_WAIT, isolation_level=None)) as db:
            connection.check(db, path)
            said = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            return _seen(db, banks, _journal(path, db)) if said == "ok" else Glance(str(said).splitlines()[-1].strip())
    except sqlite3.DatabaseError as error:
        return Glance(str(error))


def _journal(path: Path, db: sqlite3.Connection) -> str:
    """Return the mode of its journal: by the file's header, as who opens it unchanging is told of none."""
    with path.open("rb") as file:
        head = file.read(_WAL_AT + 1)
    return "wal" if head[_WAL_AT:] == _WAL else str(db.execute("PRAGMA journal_mode").fetchone()[0])


def _seen(db: sqlite3.Connection, banks: Sequence[str], journal: str) -> Glance:
    version = schema.version(db)
    if not version:
        return Glance()
    current = version == len(schema.STEPS)
    where = f"bank IN ({', '.join('?' * len(banks))}){' AND forgotten IS NULL' if current else ''}"
    lessons = db.execute(f"SELECT count(DISTINCT same) FROM lessons WHERE {where}", tuple(banks)).fetchone()[0]
    return Glance(
        journal=journal,
        is_older=not current,
        is_indexed=current and index.is_current(db),
        lessons=lessons,
        unembedded=db.execute("SELECT count(*) FROM unembedded").fetchone()[0] if current else 0,
    )
