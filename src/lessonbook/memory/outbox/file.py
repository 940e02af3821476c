"""The outbox's file: an SQLite file of ours (``memory.sqlite_file``) that is mended where it is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from time import time
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from lessonbook.memory.outbox import traces
from lessonbook.memory.outbox.schema import APPLICATION_ID, STEPS
from lessonbook.memory.sqlite_file import WAIT, DamagedError, SqliteFile, check_ours, run_steps, version

_P = ParamSpec("_P")
_T = TypeVar("_T")


class OutboxFile(SqliteFile):
    """The outbox's SQLite file, opened at its first use and again after a failure; usable from several threads.

    ``said`` is the sentence on what was done about a damaged file, until who reads it has told it and clears it.
    """

    said = ""
    mends = True
    """Whether a damaged file is mended; where not, using it raises ``DamagedError``."""

    def __init__(self, path: Path, wait: float = WAIT, now: Callable[[], float] = time) -> None:
        super().__init__(path, wait)
        self._now = now

    @contextmanager
    def writing(self, wait: float | None = None, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """Give a connection as ``SqliteFile`` does; ``DamagedError`` also where the file was replaced meanwhile."""
        with super().writing(wait, durable=durable) as db:
            yield db
        if self.is_elsewhere():
            raise DamagedError(f"{self.path} was replaced while it was written to.")

    def exists(self) -> bool:
        """Whether there is a file to read, also where only what was salvaged of it is there yet."""
        return super().exists() or traces.is_unfinished(self.path)

    def mend(self) -> None:
        """Set a damaged file aside and go on in a new one, with all that could be read. Raises ``StoreError``."""
        from lessonbook.memory.outbox import mending

        self.said = mending.mend(self.path, self._now()) or self.said

    def bring_up_to_date(self, db: sqlite3.Connection) -> None:
        """Check that the file is an outbox of ours, and make its tables. Raises ``StoreError``."""
        db.text_factory = lambda data: data.decode("utf-8", "replace")  # where it is damaged, a text may be anything
        check_ours(db, self.path, APPLICATION_ID, len(STEPS))
        if version(db) < len(STEPS):
            db.execute("BEGIN IMMEDIATE")
            run_steps(db, STEPS, APPLICATION_ID)
            db.execute("COMMIT")
        elif not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'outbox'").fetchone():
            raise DamagedError(f"{self.path} is damaged: its table is gone.")

    def _open(self) -> sqlite3.Connection:
        if traces.is_unfinished(self.path) or traces.is_emptied(self.path):
            if not self.mends:
                raise DamagedError(f"{self.path} is damaged.")
            self.mend()
        return super()._open()


class _Keeping(Protocol):
    _file: OutboxFile


_K = TypeVar("_K", bound=_Keeping)


def mended(method: Callable[Concatenate[_K, _P], _T]) -> Callable[Concatenate[_K, _P], _T]:
    """Have a method done once more where the outbox's file was damaged and could be mended."""

    @wraps(method)
    def done(self: _K, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return method(self, *args, **kwargs)
        except DamagedError:
            if not self._file.mends:
                raise
            self._file.mend()
        return method(self, *args, **kwargs)

    return done
