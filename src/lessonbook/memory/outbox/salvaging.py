"""Reads what can still be read of a damaged outbox, each row as it was last known, and tells what is whole of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from lessonbook.core.value import Value
from lessonbook.memory.outbox.items import TORN, State
from lessonbook.system import files, sqlite_rows
from lessonbook.system.sqlite_pages import Cell, rows

TABLE = (
    *("seq", "destination", "bank", "document", "operation", "kind", "scope", "payload", "size", "state", "batch"),
    *("round", "attempts", "polls", "remote_retries", "next_at", "lease_owner", "lease_until", "last_status"),
    *("last_error", "created", "seen", "ended"),
)
"""The columns of the table, in the order in which its rows hold them."""
_NAMED = ("destination", "bank", "document", "operation", "kind", "payload")
"""What a row must have to be one."""
_ELSE: Mapping[str, Cell] = {
    **{"scope": "", "batch": None, "round": 0, "attempts": 0, "polls": 0, "remote_retries": 0, "next_at": 0.0},
    **{"lease_owner": None, "lease_until": None, "ended": None, "created": 0.0, "seen": 0.0, "size": 0},
}
"""What stands in a row for what was torn of it."""
_STATE, _STATES = TABLE.index("state"), frozenset(map(str, State))
_ORDER = (State.QUEUED, State.LEASED, State.ACCEPTED, State.DEAD, State.DONE)
"""Of two states of one row, the later one is the newer."""


class Salvaged(Value):
    """What was read: rows of ``TABLE``, by their numbers, and the file's own id where it is known.

    ``is_all`` says that SQLite could read the table from one end to the other.
    """

    rows: Mapping[int, tuple[Cell, ...]]
    id: str | None
    is_all: bool


def salvage(path: Path) -> Salvaged:
    """Return what can be read of the file; where SQLite cannot read all of it, each of its pages is looked at too."""
    found = dict[int, tuple[Cell, ...]]()
    id, is_all = None, False
    try:
        with sqlite_rows.opened(path) as source:
            is_all = _through_sqlite(source, found)
            about = source.rows("about", ("name", "value"))
            id = next((str(one["value"]) for one in about if isinstance(one, dict) and one.get("name") == "id"), None)
    except (*sqlite_rows.BROKEN, OSError):
        is_all = False
    if not is_all:
        _through_pages(path, found)
    return Salvaged(found, id, is_all)


def _through_sqlite(source: sqlite_rows.Source, found: dict[int, tuple[Cell, ...]]) -> bool:
    if "outbox" not in source.tables():
        return False
    is_all = True
    for row in source.rows("outbox", TABLE):
        if isinstance(row, sqlite_rows.Damaged):
            is_all = False
        else:
            _keep(found, int(str(row["rowid"])), tuple(row[name] for name in TABLE))  # type: ignore[misc]
    return is_all


def _through_pages(path: Path, found: dict[int, tuple[Cell, ...]]) -> None:
    log = files.read_bytes(path.with_name(f"{path.name}-wal")) or b""
    own = dict[int, tuple[Cell, ...]]()
    for number, values in rows(files.read_bytes(path) or b"", log, len(TABLE)):
        _keep(own, number, (number, *values[1:]))
    for number, values in own.items():
        found.setdefault(number, values)


def _keep(found: dict[int, tuple[Cell, ...]], number: int, values: tuple[Cell, ...]) -> None:
    """Keep a row that is one; of two states of it, the newer."""
    told = dict(zip(TABLE, values, strict=True))
    if number < 1 or not all(isinstance(told[name], str) and told[name] != "" for name in _NAMED[:-1]):
        return
    told = _mended(told)
    known = found.get(number)
    if known is None or _ORDER.index(State(str(told["state"]))) >= _ORDER.index(State(str(known[_STATE]))):
        found[number] = tuple(told[name] for name in TABLE)


def _mended(told: dict[str, Cell]) -> dict[str, Cell]:
    """Return a row fit to go on with: where its words are not those that were put in, it is set aside and says so."""
    for name, otherwise in _ELSE.items():
        wanted = int | float if isinstance(otherwise, int | float) else str | int | float | None
        if not isinstance(told[name], wanted):
            told[name] = otherwise
    payload = told["payload"] if isinstance(told["payload"], str) else ""
    is_gone = not payload and told["state"] == State.DONE  # it has arrived, and is kept no longer
    is_whole = len(payload.encode("utf-8", "replace")) == told["size"] and _is_document(payload)
    if told["state"] in _STATES and (is_gone or is_whole or told["state"] == State.DONE):
        return told
    kept = payload if _is_document(payload) else json.dumps({"content": payload}, ensure_ascii=False)
    return {**told, "state": State.DEAD.value, "payload": kept, "last_status": "damaged", "last_error": TORN}


def _is_document(payload: str) -> bool:
    try:
        return isinstance(json.loads(payload), dict)
    except (ValueError, RecursionError):
        return False


def put_into(db: sqlite3.Connection, salvaged: Salvaged) -> int:
    """Put the rows into an empty outbox that is open as ``db``, and return how many."""
    marks = ", ".join("?" * len(TABLE))
    before = db.total_changes
    db.executemany(f"INSERT OR IGNORE INTO outbox ({', '.join(TABLE)}) VALUES ({marks})", _ordered(salvaged))
    count = db.total_changes - before
    if salvaged.id:
        db.execute("UPDATE about SET value = ? WHERE name = 'id'", (salvaged.id,))
    return count


def _ordered(salvaged: Salvaged) -> Iterator[tuple[Cell, ...]]:
    yield from (salvaged.rows[number] for number in sorted(salvaged.rows))
