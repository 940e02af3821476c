"""Counts what a team's schema holds, and looks it over, for the person who looks after it.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lessonbook.core.care import OFTEN, STATES, Finding, Stats
from lessonbook.memory.postgres import changing, noting, schema
from lessonbook.memory.postgres.rows import words
from lessonbook.memory.postgres.vectors import Vectors

_HOLDING = "forgotten IS NULL AND invalid IS NULL"
_UNTIL = "CAST(told->>'valid_until' AS double precision)"
_STATES = (
    f"SELECT count(*), count(*) FILTER (WHERE {_HOLDING} AND NOT coalesce({_UNTIL} < %s, false)),"
    f" count(*) FILTER (WHERE {_HOLDING} AND {_UNTIL} < %s),"
    " count(*) FILTER (WHERE forgotten IS NULL AND invalid IS NOT NULL AND superseded_by IS NULL),"
    " count(*) FILTER (WHERE forgotten IS NULL AND superseded_by IS NOT NULL),"
    " count(*) FILTER (WHERE forgotten IS NOT NULL),"
    " count(*) FILTER (WHERE pinned AND forgotten IS NULL) FROM lessons"
)
_TABLES = ("lessons", "changes", "taken", "entities", "facts", "pairs")
_BYTES = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE c.relkind = 'r' AND {}"
_OURS = "c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
_AT_ONCE = 500


def expired(db: Any, now: float) -> int:
    """Return how many lessons were to hold until a time that has passed."""
    return _one(db, f"SELECT count(*) FROM lessons WHERE {_HOLDING} AND {_UNTIL} < %s", now)


def stats(db: Any, vectors: Vectors, now: float) -> Stats:
    """Return what the schema holds, all its banks together where nothing else is said."""
    states = dict(zip(STATES, db.execute(_STATES, (now, now)).fetchone(), strict=True))
    recalled = "SELECT count(*) FROM lessons WHERE forgotten IS NULL AND recalled"
    waiting = vectors.waiting(db)
    pairs = (
        "SELECT count(*) FROM pairs p JOIN lessons n ON n.id = p.newer JOIN lessons o ON o.id = p.older WHERE p.kind = "
        "%s AND p.settled IS NULL AND coalesce(n.forgotten, n.invalid, o.forgotten, o.invalid) IS NULL"
    )
    return Stats(
        banks=_by(db, "bank"),
        types=_by(db, "told->>'memory_type'"),
        veracities=_by(db, "told->>'veracity'"),
        states=states,
        never_recalled=_one(db, f"{recalled} = 0"),
        often_recalled=_one(db, f"{recalled} >= %s", OFTEN),
        changes=_one(db, "SELECT count(*) FROM changes"),
        contradictions=_one(db, pairs, noting.CONTRADICTION),
        twins=_one(db, pairs, noting.TWINS),
        vectors=vectors.count(db),
        unembedded=waiting,
        bytes=_one(db, _BYTES.format(_OURS)),
        unused_bytes=0,
    )


def look(db: Any, vectors: Vectors, *, deep: bool) -> Iterator[Finding]:
    """Yield what is found; ``deep`` compares every word with what would be made of the lessons now."""
    yield Finding("server", f"PostgreSQL {_text(db, 'SHOW server_version')}")
    yield Finding("tables", f"version {_text(db, schema.VERSION)} of {len(schema.STEPS)}")
    query = f"SELECT c.relname FROM pg_class c WHERE {_OURS} AND c.relname = ANY(%s) AND NOT c.relforcerowsecurity"
    bare = [row[0] for row in db.execute(query, (list(_TABLES),)).fetchall()]
    said = f"{', '.join(sorted(bare))} show every team's rows" if bare else "every table shows a team its own alone"
    yield Finding("rows", said, bool(bare))
    unnoted = _one(db, "SELECT count(*) FROM lessons WHERE NOT noted")
    if unnoted:
        yield Finding("names", f"of {unnoted:,} lessons are not noted yet; `lessonbook memory sleep` does it")
    yield from _vectors(db, vectors)
    if deep:
        yield _words(db)


def _vectors(db: Any, vectors: Vectors) -> Iterator[Finding]:
    if vectors.embedder is None:
        yield Finding("vectors", "the extra `vectors` is not installed here: lessons are found by their words alone")
    elif not vectors.is_on(db):
        yield Finding("vectors", "the server has no pgvector, or it may not be used: words alone find lessons")
    elif waiting := vectors.waiting(db):
        yield Finding("vectors", f"{waiting:,} lessons wait for one; `lessonbook memory sleep` makes them")
    else:
        yield Finding("vectors", "every lesson has one")


def _words(db: Any) -> Finding:
    """Make the words of every lesson anew and compare them with those it is found by."""
    checked, wrong, after = 0, list[str](), 0
    query = "SELECT id, tsvector_to_array(words) FROM lessons WHERE id > %s ORDER BY id LIMIT %s"
    while rows := db.execute(query, (after, _AT_ONCE)).fetchall():
        for number, found in rows:
            kept = changing.get(db, number)
            if set(words(kept.lesson, changing.contexts(db, number))) != set(found):
                wrong.append(str(number))
        checked, after = checked + len(rows), rows[-1][0]
    said = f"{checked:,} lessons compared, {len(wrong):,} are found by other words than theirs"
    return Finding("words", f"{said}{': ' if wrong else ''}{', '.join(wrong[:10])}", bool(wrong))


def _by(db: Any, what: str) -> dict[str, int]:
    query = f"SELECT {what}, count(*) FROM lessons WHERE forgotten IS NULL GROUP BY 1 ORDER BY 2 DESC, 1"
    return {str(name): number for name, number in db.execute(query).fetchall()}


def _one(db: Any, query: str, *values: object) -> int:
    return int(db.execute(query, values).fetchone()[0])


def _text(db: Any, query: str) -> str:
    return str(db.execute(query).fetchone()[0])
