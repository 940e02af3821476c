"""Counts what a bank's file holds, for the person who looks after it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lessonbook.core.care import OFTEN, STATES, Stats

_HOLDING = "forgotten IS NULL AND invalid IS NULL"
_STATES = (
    f"SELECT count(*), count(*) FILTER (WHERE {_HOLDING} AND NOT (valid_until IS NOT NULL AND valid_until < :now)),"
    f" count(*) FILTER (WHERE {_HOLDING} AND valid_until < :now),"
    " count(*) FILTER (WHERE forgotten IS NULL AND invalid IS NOT NULL AND superseded_by IS NULL),"
    " count(*) FILTER (WHERE forgotten IS NULL AND superseded_by IS NOT NULL),"
    " count(*) FILTER (WHERE forgotten IS NOT NULL),"
    " count(*) FILTER (WHERE pinned AND forgotten IS NULL) FROM lessons"
)
_WAITING_PAIRS = (
    "SELECT count(*) FROM {table} p JOIN lessons a ON a.id = p.{one} JOIN lessons b ON b.id = p.{other}"
    " WHERE p.{settled} IS NULL AND coalesce(a.forgotten, a.invalid, b.forgotten, b.invalid) IS NULL"
)


NOTHING = Stats({}, {}, {}, dict.fromkeys(STATES, 0), *[0] * 9)
"""What a file that is not there holds."""


def count(db: sqlite3.Connection, path: Path, now: float) -> Stats:
    """Return what the file at ``path``, open as ``db``, holds at ``now`` (epoch seconds)."""
    states = dict(zip(STATES, db.execute(_STATES, {"now": now}).fetchone(), strict=True))
    recalled = "SELECT count(*) FROM lessons WHERE forgotten IS NULL AND recalled"
    waiting = _one(db, "SELECT count(*) FROM unembedded")
    kept = states["all"] - states["forgotten"]
    embedded = kept - waiting if _one(db, "SELECT count(*) FROM vector_blocks") else 0
    return Stats(
        banks=_by(db, "bank"),
        types=_by(db, "memory_type"),
        veracities=_by(db, "veracity"),
        states=states,
        never_recalled=_one(db, f"{recalled} = 0"),
        often_recalled=_one(db, f"{recalled} >= {OFTEN}"),
        changes=_one(db, "SELECT count(*) FROM changes"),
        contradictions=_pairs(db, "contradictions", "newer", "older", "dismissed"),
        twins=_pairs(db, "merges", "kept", "other", "decided"),
        vectors=embedded,
        unembedded=waiting,
        bytes=size(path),
        unused_bytes=_one(db, "PRAGMA freelist_count") * _one(db, "PRAGMA page_size"),
    )


def size(path: Path) -> int:
    """Return the bytes of the file and of its journal."""
    found = (path.with_name(path.name + end) for end in ("", "-wal"))
    return sum(one.stat().st_size for one in found if one.exists())


def _by(db: sqlite3.Connection, column: str) -> dict[str, int]:
    query = (
        f"SELECT {column}, count(*) FROM lessons WHERE forgotten IS NULL GROUP BY {column} ORDER BY count(*) DESC, 1"
    )
    return {str(name): number for name, number in db.execute(query).fetchall()}


def _pairs(db: sqlite3.Connection, table: str, one: str, other: str, settled: str) -> int:
    return _one(db, _WAITING_PAIRS.format(table=table, one=one, other=other, settled=settled))


def _one(db: sqlite3.Connection, query: str) -> int:
    return int(db.execute(query).fetchone()[0])
