"""Looks a bank's file over: that SQLite finds it whole, and that its words and vectors say what its rows say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from lessonbook.core.care import Finding
from lessonbook.memory.mnemopi import changing, index
from lessonbook.memory.mnemopi.vectors import SLOTS, Vectors

CLOSE = 2e-3
"""How far a component of a kept vector, a 16-bit float, may be from the one computed now."""
_VOCAB = "CREATE VIRTUAL TABLE temp.{name}_instances USING fts5vocab ({of}, 'instance')"
_TERMS = "SELECT term, doc, col, offset FROM temp.{0}_instances"


def look(db: sqlite3.Connection, vectors: Vectors, *, deep: bool = False) -> list[Finding]:
    """Return what was found, inside a transaction that is undone afterwards; ``deep`` compares words and vectors."""
    found = [*_whole(db), *_references(db), *_counted(db, vectors)]
    return found + compare(db, vectors) if deep else found


def compare(db: sqlite3.Connection, vectors: Vectors) -> list[Finding]:
    """Compare every word and vector with what would be made of the rows now, inside such a transaction too."""
    return [*_words(db), *_vectors(db, vectors)]


def _whole(db: sqlite3.Connection) -> Iterator[Finding]:
    said = [str(row[0]) for row in db.execute("PRAGMA integrity_check(10)").fetchall()]
    yield Finding("file", "whole" if said == ["ok"] else "; ".join(said), said != ["ok"])
    mode = str(db.execute("PRAGMA journal_mode").fetchone()[0])
    yield Finding("journal", "readers never wait (WAL)" if mode == "wal" else f"{mode}: readers and writers wait")
    try:
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        yield Finding("index", "whole")
    except sqlite3.DatabaseError as error:
        yield Finding("index", str(error), True)
    if not index.is_current(db):
        yield Finding("index", "made by another version's rules; the next write makes it anew")


def _references(db: sqlite3.Connection) -> Iterator[Finding]:
    wrong = db.execute("PRAGMA foreign_key_check").fetchall()
    tables = sorted({str(row[0]) for row in wrong})
    said = f"{len(wrong):,} rows of {', '.join(tables)} belong to no lesson" if wrong else "every row has its lesson"
    yield Finding("rows", said, bool(wrong))


def _counted(db: sqlite3.Connection, vectors: Vectors) -> Iterator[Finding]:
    lessons = "SELECT id FROM lessons WHERE forgotten IS NULL"
    missing, extra = (
        db.execute(f"SELECT count(*) FROM ({one} EXCEPT {other})").fetchone()[0]
        for one, other in ((lessons, "SELECT rowid FROM words"), ("SELECT rowid FROM words", lessons))
    )
    said = f"{missing:,} lessons missing, {extra:,} too many" if missing or extra else "every lesson is in it"
    yield Finding("index", said, bool(missing or extra))
    waiting = db.execute("SELECT count(*) FROM unembedded").fetchone()[0]
    if vectors.embedder is not None and waiting:
        yield Finding("vectors", f"{waiting:,} lessons wait for one; `lessonbook memory sleep` makes them")


def _words(db: sqlite3.Connection) -> Iterator[Finding]:
    """Make the index a second time from the rows, and compare every word, place by place."""
    index.rebuild(db, "again")
    for name, of in (("again", "main, again"), ("words", "main, words")):
        db.execute(_VOCAB.format(name=name, of=of))
    kept, made = _TERMS.format("words"), _TERMS.format("again")
    missing, extra = (
        db.execute(f"SELECT count(*) FROM ({one} EXCEPT {other})").fetchone()[0]
        for one, other in ((made, kept), (kept, made))
    )
    total = db.execute(f"SELECT count(*) FROM ({made})").fetchone()[0]
    said = f"{total:,} words, {missing:,} missing, {extra:,} too many"
    yield Finding("words", said, bool(missing or extra))


def _vectors(db: sqlite3.Connection, vectors: Vectors) -> Iterator[Finding]:
    if vectors.embedder is None:
        yield Finding("vectors", "not compared: the extra `vectors` is not installed")
        return
    if not vectors.is_ours(db):
        yield Finding("vectors", "made by another embedder; they are made anew")
        return
    import numpy as np

    embedder, size, last = vectors.embedder, vectors.embedder.dimensions, -1
    checked = wrong = 0
    waiting = {row[0] for row in db.execute("SELECT lesson FROM unembedded")}
    for block, packed in db.execute("SELECT block, vectors FROM vector_blocks ORDER BY block").fetchall():
        kept = np.frombuffer(packed, np.float16).reshape(SLOTS, size).astype(np.float32)
        wanted = np.zeros((SLOTS, size), np.float32)
        rows = [row for row in _texts(db, block) if row[0] not in waiting]
        if rows:
            wanted[[number % SLOTS for number, _ in rows]] = embedder.embed([text for _, text in rows])
        checked, wrong, last = checked + len(rows), wrong + int((abs(kept - wanted) > CLOSE).any(1).sum()), block
    missing = db.execute(
        "SELECT count(*) FROM lessons"
        " WHERE forgotten IS NULL AND id >= ? AND id NOT IN (SELECT lesson FROM unembedded)",
        ((last + 1) * SLOTS,),
    ).fetchone()[0]
    yield Finding("vectors", f"{checked:,} compared, {wrong:,} differ, {missing:,} missing", bool(wrong or missing))


def _texts(db: sqlite3.Connection, block: int) -> list[tuple[int, str]]:
    rows = db.execute(
        f"SELECT id, {', '.join(changing.EMBEDDED)} FROM lessons WHERE id >= ? AND id < ? AND forgotten IS NULL",
        (block * SLOTS, (block + 1) * SLOTS),
    )
    return [(row[0], changing.embedded(*row[1:])) for row in rows.fetchall()]
