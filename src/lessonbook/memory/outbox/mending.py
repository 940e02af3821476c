"""What is done about an outbox's file that does not hold together: every row that can be read goes into a new one.

The damaged file is set aside under a dated name, with what SQLite kept beside it, and never deleted. The new one is
whole on the disk before it takes the old one's name, so that a crash at any moment leaves one of them, and who comes
next goes on from there.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from lessonbook.memory import aside
from lessonbook.memory.outbox import salvaging, schema, traces
from lessonbook.memory.outbox.items import TORN, State
from lessonbook.memory.sqlite_file import run_steps
from lessonbook.system import files, locks, snapshots
from lessonbook.system.faults import point

SAID = (
    "{path} was damaged ({fault}) and was set aside as {name}; a new one was begun with {count} that could be read of "
    "it{torn}{rest}."
)
_WAIT = 10.0
_TRIES = 3
_MAKING = "{}.salvaging"


def mend(path: Path, now: float) -> str:
    """Make the file usable again, and return the sentence that says what was done.

    Raises ``BusyError`` where others are at it for long, ``StoreError`` where the new file cannot be written.
    """
    with locks.locked(path.with_name(f"{path.name}.lock"), wait=_WAIT):
        if traces.is_unfinished(path):
            return _finish(path, now, "another process did not come to the end of it", "all")
        fault = _fault(path)
        if fault is None:
            return ""
        for _ in range(_TRIES):
            before = _marks(path)
            salvaged = salvaging.salvage(path)
            count, torn = _make(path, salvaged)
            if _marks(path) == before:  # nobody wrote to it meanwhile
                break
        told = f"; {torn} of them are torn, and stand in `lessonbook outbox`" if torn else ""
        rest = "" if salvaged.is_all else "; what could not be read of it is in there alone"
        return _finish(path, now, fault, f"{count:,} items", told, rest)


def _fault(path: Path) -> str | None:
    """Return what is wrong with the file, ``None`` for nothing."""
    if traces.is_emptied(path):
        return "it is empty, and its journal is not"
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT, isolation_level=None)) as db:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            states = ", ".join(f"'{state}'" for state in State)
            wrong = db.execute(f"SELECT count(*) FROM outbox WHERE state NOT IN ({states})").fetchone()[0]
            said = f"{wrong} of its rows are torn" if said == "ok" and wrong else said
        return None if said == "ok" else said.splitlines()[-1].strip()
    except sqlite3.OperationalError as error:
        return "its table is gone" if "no such table" in str(error) and path.stat().st_size else None
    except sqlite3.DatabaseError as error:
        return str(error)


def _marks(path: Path) -> list[snapshots.Mark | None]:
    return [snapshots.mark(one) for one in (path, path.with_name(f"{path.name}-wal"))]


def _make(path: Path, salvaged: salvaging.Salvaged) -> tuple[int, int]:
    """Write a new file of what was read beside the old one; return how many rows it has, and how many are torn."""
    making, ready = path.with_name(_MAKING.format(path.name)), traces.ready(path)
    for end in ("", *aside.BESIDE):
        files.remove(making.with_name(making.name + end))
    files.make_private_file(making)
    with closing(sqlite3.connect(making, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        run_steps(db, schema.STEPS, schema.APPLICATION_ID)
        count = salvaging.put_into(db, salvaged)
        query = "SELECT count(*) FROM outbox WHERE state = ? AND last_error = ?"
        torn = db.execute(query, (State.DEAD, TORN)).fetchone()[0]
        db.execute("COMMIT")
    files.sync_files([making])
    point("outbox.salvaged")
    files.move(making, ready)
    point("outbox.ready")
    return count, torn


def _finish(path: Path, now: float, fault: str, count: str, torn: str = "", rest: str = "") -> str:
    """Give the old file another name and the new one its own."""
    target = aside.name_for(path, now)
    aside.move_beside(path, target)
    point("outbox.beside-moved")
    with suppress(OSError):  # a file system without links: there is a moment without either
        target.hardlink_to(path)
    if path.exists() and not target.exists():
        files.move(path, target)
    point("outbox.set-aside")
    files.move(traces.ready(path), path)
    return SAID.format(path=path, fault=fault, name=target.name, count=count, torn=torn, rest=rest)
