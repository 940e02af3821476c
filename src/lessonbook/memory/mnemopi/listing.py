"""Reads what a person asks for of a bank: lists that are narrowed down, and one lesson with all that belongs to it.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from lessonbook.core.care import Named, Shown, Told, Wanted
from lessonbook.core.lesson import Kept
from lessonbook.core.tidy import tidy
from lessonbook.memory.mnemopi import caring, changing, contradicting, noting
from lessonbook.memory.mnemopi.rows import COLUMNS, kept

_TAGGED = (
    "CASE WHEN json_valid(l.tags) THEN EXISTS"
    " (SELECT 1 FROM json_each(l.tags) t WHERE t.value = ? COLLATE NOCASE) ELSE 0 END"
)
_NAMING = (
    "l.id IN (SELECT e.lesson FROM entities e WHERE e.key = ? OR e.value = ? COLLATE NOCASE"
    r" OR (e.kind = 'file' AND e.key LIKE ? ESCAPE '\'))"
)


def lessons(
    db: sqlite3.Connection, banks: Sequence[str], wanted: Wanted, limit: int, after: int | None = None
) -> list[Kept]:
    """Return the lessons of ``banks`` that are wanted, newest first; ``after`` is the last row of the page before."""
    conditions = [f"l.bank IN ({', '.join('?' * len(banks))})"]
    values: list[object] = [*banks]
    for condition, more in _where(wanted):
        conditions.append(condition)
        values += more
    if after is not None:
        conditions.append("(l.seen, l.id) < (SELECT seen, id FROM lessons WHERE id = ?)")
        values.append(after)
    query = f"SELECT {COLUMNS} FROM lessons l WHERE {' AND '.join(conditions)} ORDER BY l.seen DESC, l.id DESC LIMIT ?"
    return [kept(row) for row in db.execute(query, (*values, limit)).fetchall()]


def show(db: sqlite3.Connection, banks: Sequence[str], number: int) -> Shown:
    """Return a lesson that is there, with all that belongs to it."""
    found = kept(db.execute(f"SELECT {COLUMNS} FROM lessons l WHERE l.id = ?", (number,)).fetchone())
    replaces = db.execute("SELECT id FROM lessons WHERE superseded_by = ? ORDER BY id", (number,))
    named = db.execute("SELECT kind, value FROM entities WHERE lesson = ? ORDER BY kind, key", (number,))
    return Shown(
        kept=found,
        contexts=tuple(_contexts(db, number)),
        entities=tuple(Named(str(kind), tidy(str(value)).text) for kind, value in named.fetchall()),
        facts=tuple(dict.fromkeys(tidy(fact.said).text for fact in noting.stated(db, number))),
        contradictions=tuple(contradicting.of(db, number, banks)),
        twins=tuple(pair for pair in caring.proposed(db, banks) if found.id in (pair.kept, pair.other)),
        replaces=tuple(str(one) for (one,) in replaces.fetchall()),
        history=tuple(changing.history(db, number)),
    )


def _contexts(db: sqlite3.Connection, number: int) -> Iterator[Told]:
    rows = db.execute(
        "SELECT context, metadata, created FROM lessons WHERE id = ?1 AND context IS NOT NULL"
        " UNION ALL SELECT * FROM (SELECT context, metadata, at FROM sightings WHERE lesson = ?1 ORDER BY at)",
        (number,),
    )
    for context, metadata, at in rows.fetchall():
        yield Told(tidy(str(context)).text, _metadata(metadata), at)


def _metadata(text: object) -> dict[str, str]:
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    told = found.items() if isinstance(found, dict) else ()
    return {tidy(str(key)).text: tidy(str(value)).text for key, value in told}


def _where(wanted: Wanted) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield each condition on a lesson ``l``, with its values."""
    yield f"l.forgotten IS {'NOT ' if wanted.forgotten else ''}NULL", ()
    if wanted.memory_type is not None:
        yield "l.memory_type = ?", (wanted.memory_type,)
    if wanted.source is not None:
        yield "l.source = ?", (wanted.source,)
    if wanted.tag is not None:
        yield _TAGGED, (wanted.tag,)
    if wanted.about is not None:
        name = wanted.about.strip().casefold()
        last = name.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        yield _NAMING, (name, name, f"%/{last}")
