"""Counts what a bank's file holds, for the person who looks after it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from lessonbook.core.value import Value

OFTEN = 5
"""A lesson recalled so many times is recalled often."""
_HOLDING = "forgotten IS NULL AND invalid IS NULL"
_STATES = (
    f"SELECT count(*), count(*) FILTER (WHERE {_HOLDING} AND NOT (valid_until IS NOT NULL AND valid_until < :now)),"
    f" count(*) FILTER (WHERE {_HOLDING} AND valid_until < :now),"
    " count(*) FILTER (WHERE forgotten IS NULL AND invalid IS NOT NULL AND superseded_by IS NULL),"
    " count(*) FILTER (WHERE forgotten IS NULL AND superseded_by IS NOT NULL),"
    " count(*) FILTER (WHERE forgotten IS NOT NULL),"
    " count(*) FILTER (WHERE pinned AND forgotten IS NULL) FROM lessons"
)
_STATE_NAMES = ("all", "holding", "expired", "no longer holding", "replaced", "forgotten", "pinned")
_WAITING_PAIRS = (
    "SELECT count(*) FROM {table} p JOIN lessons a ON a.id = p.{one} JOIN lessons b ON b.id = p.{other}"
    " WHERE p.{settled} IS NULL AND coalesce(a.forgotten, a.invalid, b.forgotten, b.invalid) IS NULL"
)


class Stats(Value):
    """What a bank's file holds, all its banks together where nothing else is said."""

    banks: Mapping[str, int]
    """Lessons that are not forgotten, by bank."""
    types: Mapping[str, int]
    veracities: Mapping[str, int]
    states: Mapping[str, int]
    """How many there are in ``all``; those that hold, and why the others do not; ``pinned`` ones are among these."""
    never_recalled: int
    often_recalled: int
    """Recalled ``OFTEN`` times or more."""
    changes: int
    contradictions: int
    """Pairs that may contradict each other and that nobody settled."""
    twins: int
    """Pairs that are proposed for merging."""
    vectors: int
    unembedded: int
    """Lessons that wait for a vector."""
    bytes: int
    """Of the file and its journal."""
    unused_bytes: int
    """Of the file, what ``vacuum`` gives back."""

    @property
    def bytes_per_lesson(self) -> int | None:
        """Bytes of the file for each lesson; ``None`` where there is none."""
        return round(self.bytes / self.states["all"]) if self.states["all"] else None


NOTHING = Stats({}, {}, {}, dict.fromkeys(_STATE_NAMES, 0), *[0] * 9)
"""What a file that is not there holds."""


def count(db: sqlite3.Connection, path: Path, now: float) -> Stats:
    """Return what the file at ``path``, open as ``db``, holds at ``now`` (epoch seconds)."""
    states = dict(zip(_STATE_NAMES, db.execute(_STATES, {"now": now}).fetchone(), strict=True))
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
