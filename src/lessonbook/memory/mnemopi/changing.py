"""Changes rows so that every change can be undone: what the fields were before is kept with it.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Change
from lessonbook.memory.mnemopi import index, noting
from lessonbook.memory.mnemopi.rows import as_json
from lessonbook.memory.mnemopi.vectors import Vectors

EMBEDDED = ("title", "cue", "text")
"""What a lesson's vector is made of."""
_FOUND_BY = frozenset((*EMBEDDED, "context", "tags", "key", "component", "bank", "forgotten"))


def change(
    db: sqlite3.Connection, vectors: Vectors, number: int, verb: str, columns: Mapping[str, object], now: float
) -> bool:
    """Set ``columns`` of a lesson and keep what they were under ``verb``; return whether any was another."""
    before = _values(db, number, columns)
    changed = {name: value for name, value in columns.items() if before[name] != value}
    if not changed:
        return False
    db.execute(
        "INSERT INTO changes (lesson, at, verb, before) VALUES (?, ?, ?, ?)",
        (number, now, verb, as_json({name: before[name] for name in changed})),
    )
    set_columns(db, vectors, number, changed)
    return True


def undo(db: sqlite3.Connection, vectors: Vectors, number: int) -> None:
    """Take back the last change of a lesson that still stands. Raises ``InputError`` where there is none to take back.

    What a restored text or key would collide with is named and nothing is changed.
    """
    found = db.execute(
        "SELECT number, before FROM changes WHERE lesson = ? AND NOT undone ORDER BY number DESC LIMIT 1", (number,)
    ).fetchone()
    if found is None:
        raise InputError(f"Lesson {number} has no change to undo.")
    db.execute("UPDATE changes SET undone = 1 WHERE number = ?", (found[0],))
    set_columns(db, vectors, number, json.loads(found[1]))


def history(db: sqlite3.Connection, number: int) -> list[Change]:
    """Return a lesson's changes, newest first."""
    rows = db.execute(
        "SELECT number, lesson, at, verb, before, undone FROM changes WHERE lesson = ? ORDER BY number DESC", (number,)
    )
    return [Change(one, str(of), at, verb, json.loads(before), bool(un)) for one, of, at, verb, before, un in rows]


def set_columns(db: sqlite3.Connection, vectors: Vectors, number: int, columns: Mapping[str, object]) -> None:
    """Set columns and bring what is made of them up to date: words, vector, entities and facts."""
    _check_free(db, number, columns)
    names = ", ".join(f"{name} = ?" for name in columns)
    statement = f"UPDATE lessons SET {names} WHERE id = ?"
    if not _FOUND_BY.intersection(columns):
        db.execute(statement, (*columns.values(), number))
        return
    with index.reindexed(db, number):
        db.execute(statement, (*columns.values(), number))
        if "text" in columns:
            noting.note(db, number)
    embed(db, vectors, number)


def embed(db: sqlite3.Connection, vectors: Vectors, number: int) -> None:
    """Keep the vector of a lesson, or none for a forgotten one."""
    *parts, forgotten = db.execute(
        f"SELECT {', '.join(EMBEDDED)}, forgotten FROM lessons WHERE id = ?",
        (number,),
    ).fetchone()
    if forgotten is None:
        vectors.keep(db, number, embedded(*parts))
    else:
        vectors.clear(db, number)


def embedded(*parts: str | None) -> str:
    """Return the text a lesson's vector is made of, from the columns of ``EMBEDDED``."""
    return "\n".join(filter(None, parts))


def _values(db: sqlite3.Connection, number: int, columns: Mapping[str, object]) -> dict[str, object]:
    row = db.execute(f"SELECT {', '.join(columns)} FROM lessons WHERE id = ?", (number,)).fetchone()
    return dict(zip(columns, row, strict=True))


def _check_free(db: sqlite3.Connection, number: int, columns: Mapping[str, object]) -> None:
    """Raise ``InputError`` where another lesson of the bank has the text or the key that this one is to have."""
    if not {"same", "key", "bank"}.intersection(columns):
        return
    wanted = {**_values(db, number, dict.fromkeys(("bank", "same", "key"))), **columns}
    for name, what in (("same", "text"), ("key", "key")):
        other = db.execute(
            f"SELECT id FROM lessons WHERE bank = ? AND {name} = ? AND id <> ?",
            (wanted["bank"], wanted[name], number),
        ).fetchone()
        if other:
            raise InputError(f"Lesson {other[0]} of that bank already has this {what}; nothing was changed.")
