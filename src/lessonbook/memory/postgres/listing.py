"""Reads what a person asks for of a team's bank: lists that are narrowed down, and one lesson with all that is its.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lessonbook.core.care import Named, Shown, Told, Wanted
from lessonbook.core.lesson import Kept
from lessonbook.core.tidy import tidy
from lessonbook.memory.postgres import changing, noting, pairing
from lessonbook.memory.postgres.rows import COLUMNS, kept

_TAGGED = (
    "EXISTS (SELECT 1 FROM jsonb_array_elements_text(coalesce(l.told->'tags', '[]')) t WHERE lower(t) = lower(%s))"
)
_NAMING = (
    "l.id IN (SELECT e.lesson FROM entities e WHERE e.key = %s OR lower(e.value) = lower(%s)"
    " OR (e.kind = 'file' AND right(e.key, length(%s)) = %s))"
)


def lessons(db: Any, banks: Sequence[str], wanted: Wanted, limit: int, after: int | None = None) -> list[Kept]:
    """Return the lessons of ``banks`` that are wanted, newest first; ``after`` is the last row of the page before."""
    if wanted.about is not None:
        noting.catch_up(db, banks)
    conditions, values = ["l.bank = ANY(%s)"], list[Any]([list(banks)])
    for condition, more in _where(wanted):
        conditions.append(condition)
        values += more
    if after is not None:
        conditions.append("(l.seen, l.id) < (SELECT seen, id FROM lessons WHERE id = %s)")
        values.append(after)
    query = f"SELECT {COLUMNS} FROM lessons l WHERE {' AND '.join(conditions)} ORDER BY l.seen DESC, l.id DESC LIMIT %s"
    return [kept(row) for row in db.execute(query, (*values, limit)).fetchall()]


def show(db: Any, banks: Sequence[str], number: int) -> Shown:
    """Return a lesson that is there, with all that belongs to it."""
    noting.catch_up(db, banks)
    found = changing.get(db, number)
    replaces = db.execute("SELECT id FROM lessons WHERE superseded_by = %s ORDER BY id", (number,)).fetchall()
    named = db.execute("SELECT kind, value FROM entities WHERE lesson = %s ORDER BY kind, key", (number,)).fetchall()
    return Shown(
        kept=found,
        contexts=tuple(Told(tidy(one).text, {}, found.created) for one in changing.contexts(db, number)),
        entities=tuple(Named(kind, tidy(value).text) for kind, value in named),
        facts=tuple(dict.fromkeys(tidy(fact.said).text for fact in noting.stated(db, number))),
        contradictions=tuple(pairing.contradictions(db, banks, number)),
        twins=tuple(pair for pair in pairing.twins(db, banks) if found.id in (pair.kept, pair.other)),
        replaces=tuple(str(one) for (one,) in replaces),
        history=tuple(changing.history(db, number)),
    )


def _where(wanted: Wanted) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield each condition on a lesson ``l``, with its values."""
    yield f"l.forgotten IS {'NOT ' if wanted.forgotten else ''}NULL", ()
    if wanted.memory_type is not None:
        yield "l.told->>'memory_type' = %s", (wanted.memory_type,)
    if wanted.source is not None:
        yield "l.told->>'source' = %s", (wanted.source,)
    if wanted.tag is not None:
        yield _TAGGED, (wanted.tag,)
    if wanted.about is not None:
        name = wanted.about.strip().casefold()
        yield _NAMING, (name, name, f"/{name}", f"/{name}")
