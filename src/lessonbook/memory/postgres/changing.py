"""Changes rows of the team's schema so that every change can be undone. Inside the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Change, Kept, Lesson
from lessonbook.memory.postgres import noting
from lessonbook.memory.postgres.rows import COLUMNS, as_json, columns, kept

_CASTS = {"told": "CAST(%s AS jsonb)", "words": "array_to_tsvector(CAST(%s AS text[]))"}


def insert(db: Any, bank: str, lesson: Lesson, now: float) -> int:
    """Add a row for a lesson and return its number."""
    told = {"bank": bank, **columns(lesson, [lesson.context] if lesson.context else []), "created": now, "seen": now}
    marks = ", ".join(_CASTS.get(name, "%s") for name in told)
    statement = f"INSERT INTO lessons ({', '.join(told)}) VALUES ({marks}) RETURNING id"
    number = int(db.execute(statement, tuple(told.values())).fetchone()[0])
    noting.note(db, number, lesson.text)
    return number


def rewrite(db: Any, number: int, lesson: Lesson, contexts: Sequence[str], bank: str, verb: str, now: float) -> None:
    """Give a row another lesson, and keep what it was under ``verb``."""
    change(db, number, verb, {**columns(lesson, contexts), "bank": bank}, now)


def change(db: Any, number: int, verb: str, wanted: Mapping[str, Any], now: float) -> None:
    """Set columns of a row, and keep what they were under ``verb``."""
    before = _columns_now(db, number, wanted)
    statement = "INSERT INTO changes (lesson, at, verb, before) VALUES (%s, %s, %s, CAST(%s AS jsonb))"
    db.execute(statement, (number, now, verb, as_json(before)))
    _set(db, number, wanted)


def undo(db: Any, number: int) -> None:
    """Take back the last change of a row that still stands. Raises ``InputError`` where there is none."""
    query = "SELECT number, before FROM changes WHERE lesson = %s AND NOT undone ORDER BY number DESC LIMIT 1"
    found = db.execute(query, (number,)).fetchone()
    if found is None:
        raise InputError(f"Lesson {number} has no change to undo.")
    db.execute("UPDATE changes SET undone = true WHERE number = %s", (found[0],))
    before = dict(found[1])
    if "told" in before:
        before["told"] = json.dumps(before["told"], ensure_ascii=False)
    _set(db, number, before)


def history(db: Any, number: int) -> list[Change]:
    """Return a row's changes, newest first."""
    query = "SELECT number, lesson, at, verb, before, undone FROM changes WHERE lesson = %s ORDER BY number DESC"
    rows = db.execute(query, (number,)).fetchall()
    return [Change(one, str(of), at, verb, _told(before), undone) for one, of, at, verb, before, undone in rows]


def contexts(db: Any, number: int) -> list[str]:
    """Return the contexts a row's lesson was told in, the first first."""
    return list(db.execute("SELECT contexts FROM lessons WHERE id = %s", (number,)).fetchone()[0])


def give_contexts(db: Any, number: int, contexts: Sequence[str]) -> None:
    """Let a row's lesson have been told in these contexts."""
    lesson = get(db, number).lesson
    _set(
        db, number, {name: value for name, value in columns(lesson, contexts).items() if name in ("contexts", "words")}
    )


def give_key(db: Any, number: int, lesson: Lesson) -> None:
    """Let a row's lesson be told anew under the key that ``lesson`` has."""
    wanted = columns(lesson, contexts(db, number))
    _set(db, number, {name: wanted[name] for name in ("key", "told", "words")})


def get(db: Any, number: int) -> Kept:
    """Return a row as a value."""
    return kept(db.execute(f"SELECT {COLUMNS} FROM lessons l WHERE l.id = %s", (number,)).fetchone())


def _told(before: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields of the lesson were, by their names."""
    told = before.get("told")
    others = {name: value for name, value in before.items() if name not in ("told", "words", "same", "same_hash")}
    return {**(told if isinstance(told, dict) else {}), **others}


def _columns_now(db: Any, number: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    read = ", ".join("tsvector_to_array(words)" if name == "words" else name for name in wanted)
    row = db.execute(f"SELECT {read} FROM lessons WHERE id = %s", (number,)).fetchone()
    return dict(zip(wanted, row, strict=True))


def _set(db: Any, number: int, wanted: Mapping[str, Any]) -> None:
    _check_free(db, number, wanted)
    names = ", ".join(f"{name} = {_CASTS.get(name, '%s')}" for name in wanted)
    db.execute(f"UPDATE lessons SET {names} WHERE id = %s", (*wanted.values(), number))
    if "told" in wanted:
        noting.note(db, number, str(json.loads(wanted["told"])["text"]))


def _check_free(db: Any, number: int, wanted: Mapping[str, Any]) -> None:
    """Raise ``InputError`` where another lesson of the bank has the text or the key that this one is to have."""
    if not {"same", "key", "bank"}.intersection(wanted):
        return
    told = {**_columns_now(db, number, dict.fromkeys(("bank", "same", "key"))), **wanted}
    for name, what in (("same", "text"), ("key", "key")):
        query = f"SELECT id FROM lessons WHERE bank = %s AND {name} = %s AND id <> %s"
        other = db.execute(query, (told["bank"], told[name], number)).fetchone()
        if other:
            raise InputError(f"Lesson {other[0]} of that bank already has this {what}; nothing was changed.")
