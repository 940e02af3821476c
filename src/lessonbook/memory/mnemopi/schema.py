"""The tables of the bank's file, as numbered steps that only ever go forward.

``PRAGMA user_version`` is the number of steps a file has had; ``application_id`` says that the file is ours.
A step, once released, is never edited: what changes is a new step. Indexes of words and vectors are made from the rows
by other modules, in the same transactions; ``about`` says with which rules, so that other rules make them anew.
"""

from __future__ import annotations

import sqlite3

from lessonbook.memory.mnemopi import index
from lessonbook.memory.sqlite_file import run_steps, version

__all__ = ["APPLICATION_ID", "STEPS", "migrate", "version"]

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

_SECOND = """
ALTER TABLE lessons ADD COLUMN title TEXT;
ALTER TABLE lessons ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE lessons ADD COLUMN key TEXT;
ALTER TABLE lessons ADD COLUMN cue TEXT;
ALTER TABLE lessons ADD COLUMN component TEXT;
ALTER TABLE lessons ADD COLUMN evidence TEXT;
ALTER TABLE lessons ADD COLUMN confidence REAL;
ALTER TABLE lessons ADD COLUMN valid_until REAL;
ALTER TABLE lessons ADD COLUMN branch TEXT;
ALTER TABLE lessons ADD COLUMN origin TEXT;
ALTER TABLE lessons ADD COLUMN superseded_by INTEGER REFERENCES lessons (id);
ALTER TABLE lessons ADD COLUMN invalid REAL;
ALTER TABLE lessons ADD COLUMN forgotten REAL;
ALTER TABLE lessons ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lessons ADD COLUMN recalled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lessons ADD COLUMN recalled_at REAL;
CREATE UNIQUE INDEX lessons_by_key ON lessons (bank, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX lessons_by_origin ON lessons (bank, origin) WHERE origin IS NOT NULL;
CREATE INDEX lessons_superseding ON lessons (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX sightings_by_lesson ON sightings (lesson);
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    lesson INTEGER NOT NULL REFERENCES lessons (id),
    at REAL NOT NULL,
    verb TEXT NOT NULL,
    before TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX changes_by_lesson ON changes (lesson);
CREATE TABLE entities (
    lesson INTEGER NOT NULL REFERENCES lessons (id),
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, key, lesson)
) WITHOUT ROWID;
CREATE INDEX entities_by_lesson ON entities (lesson);
CREATE TABLE facts (
    lesson INTEGER NOT NULL REFERENCES lessons (id),
    topic TEXT NOT NULL,
    fact TEXT NOT NULL
);
CREATE INDEX facts_by_topic ON facts (topic, lesson);
CREATE INDEX facts_by_lesson ON facts (lesson);
CREATE TABLE contradictions (
    newer INTEGER NOT NULL REFERENCES lessons (id),
    older INTEGER NOT NULL REFERENCES lessons (id),
    kind TEXT NOT NULL,
    said TEXT NOT NULL,
    at REAL NOT NULL,
    dismissed REAL,
    PRIMARY KEY (newer, older, kind)
) WITHOUT ROWID;
CREATE INDEX contradictions_by_older ON contradictions (older);
CREATE TABLE merges (
    kept INTEGER NOT NULL REFERENCES lessons (id),
    other INTEGER NOT NULL REFERENCES lessons (id),
    likeness REAL NOT NULL,
    at REAL NOT NULL,
    decided TEXT,
    PRIMARY KEY (kept, other)
) WITHOUT ROWID;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE unembedded (lesson INTEGER PRIMARY KEY REFERENCES lessons (id));
INSERT INTO unembedded SELECT id FROM lessons;
CREATE TABLE vector_blocks (block INTEGER PRIMARY KEY, revision INTEGER NOT NULL, vectors BLOB NOT NULL);
CREATE INDEX vector_blocks_by_revision ON vector_blocks (revision);
DROP TRIGGER lessons_added;
DROP TRIGGER lessons_removed;
DROP TRIGGER lessons_changed;
DROP TABLE lessons_fts;
"""

_THIRD = "CREATE INDEX lessons_forgotten ON lessons (bank) WHERE forgotten IS NOT NULL;\n"

_FOURTH = "CREATE TABLE extracted (lesson INTEGER PRIMARY KEY REFERENCES lessons (id));\n"

STEPS: tuple[str, ...] = (_FIRST, _SECOND, _THIRD, _FOURTH)
"""One script per version. ``lessons.same`` is what two spellings of a lesson share; ``seen`` when it was last told.

``invalid`` is when a lesson stopped holding and ``superseded_by`` what holds in its place; ``forgotten`` when it was
forgotten. ``origin`` is where an imported lesson came from. ``facts.topic`` is what facts that may contradict share.
``extracted`` has the lessons that a model was asked about.
"""


def migrate(db: sqlite3.Connection) -> None:
    """Run the steps the file has not had, all or none: whom an error reaches closes ``db``, which undoes them."""
    db.execute("BEGIN IMMEDIATE")
    run_steps(db, STEPS, APPLICATION_ID)
    index.bring_up_to_date(db)
    db.execute("COMMIT")
