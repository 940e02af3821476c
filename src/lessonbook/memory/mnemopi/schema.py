"""The tables of the bank's file, as numbered steps that only ever go forward.

``PRAGMA user_version`` is the number of steps a file has had; ``application_id`` says that the file is ours.
A step, once released, is never edited: what changes is a new step.
"""

from __future__ import annotations

import sqlite3

APPLICATION_ID = 0x4C42_6B31
"""``LBk1``: no other program's database is ever changed by us."""

_FIRST = """
CREATE TABLE lessons (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    same TEXT NOT NULL,
    text TEXT NOT NULL,
    context TEXT,
    source TEXT NOT NULL,
    importance REAL NOT NULL,
    veracity TEXT NOT NULL,
    memory_type TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created REAL NOT NULL,
    seen REAL NOT NULL,
    UNIQUE (bank, same)
);
CREATE INDEX lessons_by_seen ON lessons (bank, seen);
CREATE TABLE sightings (
    lesson INTEGER NOT NULL REFERENCES lessons (id),
    context TEXT NOT NULL,
    metadata TEXT NOT NULL,
    at REAL NOT NULL,
    UNIQUE (lesson, context)
);
CREATE VIRTUAL TABLE lessons_fts USING fts5 (
    text, context, content = 'lessons', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER lessons_added AFTER INSERT ON lessons BEGIN
    INSERT INTO lessons_fts (rowid, text, context) VALUES (new.id, new.text, new.context);
END;
CREATE TRIGGER lessons_removed AFTER DELETE ON lessons BEGIN
    INSERT INTO lessons_fts (lessons_fts, rowid, text, context) VALUES ('delete', old.id, old.text, old.context);
END;
CREATE TRIGGER lessons_changed AFTER UPDATE OF text, context ON lessons BEGIN
    INSERT INTO lessons_fts (lessons_fts, rowid, text, context) VALUES ('delete', old.id, old.text, old.context);
    INSERT INTO lessons_fts (rowid, text, context) VALUES (new.id, new.text, new.context);
END;
"""

STEPS: tuple[str, ...] = (_FIRST,)
"""One script per version. ``lessons.same`` is what two spellings of a lesson share; ``seen`` when it was last told."""


def version(db: sqlite3.Connection) -> int:
    """Return how many steps the file has had."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(db: sqlite3.Connection) -> bool:
    """Whether the file is another program's database: it has tables, and does not carry our mark."""
    # Tables first: they come in one transaction with the mark, so who sees them made meanwhile sees the mark too.
    if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return False
    return int(db.execute("PRAGMA application_id").fetchone()[0]) != APPLICATION_ID


def migrate(db: sqlite3.Connection) -> None:
    """Run the steps the file has not had, all or none: whom an error reaches closes ``db``, which undoes them."""
    db.execute("BEGIN IMMEDIATE")
    for step in STEPS[version(db) :]:
        for statement in _statements(step):
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {len(STEPS)}")
    db.execute("COMMIT")


def _statements(script: str) -> list[str]:
    """Split a script at the ends of its statements; ``executescript`` would commit the transaction first."""
    found: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
