"""The tables of the outbox's file, as numbered steps that only ever go forward."""

from __future__ import annotations

APPLICATION_ID = 0x4C42_6F31
"""``LBo1``: no other program's database is ever changed by us."""

_FIRST = """
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    destination TEXT NOT NULL,
    bank TEXT NOT NULL,
    document TEXT NOT NULL,
    operation TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    payload TEXT NOT NULL,
    size INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    batch TEXT,
    round INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    polls INTEGER NOT NULL DEFAULT 0,
    remote_retries INTEGER NOT NULL DEFAULT 0,
    next_at REAL NOT NULL,
    lease_owner TEXT,
    lease_until REAL,
    last_status TEXT,
    last_error TEXT,
    created REAL NOT NULL,
    seen REAL NOT NULL,
    ended REAL
);
CREATE INDEX outbox_due ON outbox (destination, state, next_at);
CREATE INDEX outbox_by_document ON outbox (destination, bank, document, seq);
CREATE INDEX outbox_by_batch ON outbox (batch) WHERE batch IS NOT NULL;
CREATE INDEX outbox_waiting ON outbox (size) WHERE state <> 'done';
CREATE INDEX outbox_newest ON outbox (destination, bank, kind, scope, seen);
CREATE TABLE destinations (
    address TEXT PRIMARY KEY,
    failures INTEGER NOT NULL DEFAULT 0,
    open_until REAL NOT NULL DEFAULT 0,
    paused INTEGER NOT NULL DEFAULT 0,
    said TEXT,
    at REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO about VALUES ('id', lower(hex(randomblob(16))));
"""

STEPS: tuple[str, ...] = (_FIRST,)
"""One script per version. ``operation`` is a row's own id, ``batch`` the one it is sent under, with others or alone.

``round`` counts the ids a row was sent under that the server will not take again. ``scope`` says which project's lesson
it is; ``seen`` when it was last told; ``about.id`` names this file, so that two machines never share an operation.
"""
