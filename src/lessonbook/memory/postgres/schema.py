"""The tables of a team's schema, as numbered steps that only ever go forward.

Teams are told apart by their schemas and the rights on them. Row-level security is a second net below that: a row is
seen and written only by a connection that says it works for the row's team, the owner's own included.
"""

from __future__ import annotations

from typing import Any

from lessonbook.core.errors import StoreError

LOCK = 0x4C42_7067
"""Names our lock among the advisory locks of a database: two that migrate at once take turns."""

_FIRST = """
CREATE TABLE lessons (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    bank text NOT NULL,
    same text NOT NULL,
    same_hash text NOT NULL,
    key text,
    told jsonb NOT NULL,
    contexts text[] NOT NULL DEFAULT '{}',
    words tsvector NOT NULL,
    created double precision NOT NULL,
    seen double precision NOT NULL,
    recalled integer NOT NULL DEFAULT 0,
    recalled_at double precision,
    superseded_by bigint REFERENCES lessons (id) ON DELETE SET NULL,
    invalid double precision,
    forgotten double precision,
    pinned boolean NOT NULL DEFAULT false,
    UNIQUE (team, bank, same_hash),
    UNIQUE (team, bank, key)
);
CREATE INDEX lessons_by_seen ON lessons (bank, seen DESC, id DESC);
CREATE INDEX lessons_by_word ON lessons USING gin (words);
CREATE TABLE changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    lesson bigint NOT NULL REFERENCES lessons (id) ON DELETE CASCADE,
    at double precision NOT NULL,
    verb text NOT NULL,
    before jsonb NOT NULL,
    undone boolean NOT NULL DEFAULT false
);
CREATE INDEX changes_by_lesson ON changes (lesson);
ALTER TABLE lessons ENABLE ROW LEVEL SECURITY;
ALTER TABLE lessons FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON lessons USING (team = current_setting('lessonbook.team', true));
ALTER TABLE changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE changes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON changes USING (team = current_setting('lessonbook.team', true));
"""

_OWN = """
ALTER TABLE {0} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {0} FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON {0} USING (team = current_setting('lessonbook.team', true));
"""
_SECOND = f"""
ALTER TABLE lessons ADD COLUMN origin text, ADD COLUMN noted boolean NOT NULL DEFAULT false,
    ADD COLUMN extracted boolean NOT NULL DEFAULT false;
CREATE INDEX lessons_by_origin ON lessons (bank, origin) WHERE origin IS NOT NULL;
CREATE INDEX lessons_unnoted ON lessons (bank) WHERE NOT noted;
CREATE TABLE taken (
    operation text PRIMARY KEY,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    at double precision NOT NULL
);
{_OWN.format("taken")}
CREATE TABLE entities (
    lesson bigint NOT NULL REFERENCES lessons (id) ON DELETE CASCADE,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    kind text NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (lesson, kind, key)
);
CREATE INDEX entities_by_key ON entities (key);
{_OWN.format("entities")}
CREATE TABLE facts (
    lesson bigint NOT NULL REFERENCES lessons (id) ON DELETE CASCADE,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    topic text NOT NULL,
    fact jsonb NOT NULL
);
CREATE INDEX facts_by_topic ON facts (topic);
CREATE INDEX facts_by_lesson ON facts (lesson);
{_OWN.format("facts")}
CREATE TABLE pairs (
    kind text NOT NULL,
    newer bigint NOT NULL REFERENCES lessons (id) ON DELETE CASCADE,
    older bigint NOT NULL REFERENCES lessons (id) ON DELETE CASCADE,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    what text NOT NULL DEFAULT '',
    said text NOT NULL DEFAULT '',
    likeness double precision NOT NULL DEFAULT 0,
    at double precision NOT NULL,
    settled text,
    settled_at double precision,
    PRIMARY KEY (kind, newer, older, what)
);
CREATE INDEX pairs_by_older ON pairs (older);
{_OWN.format("pairs")}
"""
"""``taken`` names what was delivered from outboxes; ``noted`` are lessons of which entities and facts are kept,
``extracted`` those that a model was asked about; ``pairs`` are to be decided on: of kind ``contradiction`` (``what``
and ``said`` tell why) or ``twins`` (``likeness``).
"""

STEPS: tuple[str, ...] = (_FIRST, _SECOND)


VERSION = "SELECT value FROM about WHERE name = 'version'"


def bring_up_to_date(db: Any, schema: str) -> None:
    """Make the team's schema and tables, or bring them up to date, all or nothing; many may do it at once.

    Raises ``StoreError`` for tables that a newer version made.
    """
    if _version(db, schema) == len(STEPS):
        return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if not db.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone():
            db.execute(f'CREATE SCHEMA "{schema}"')
        db.execute("CREATE TABLE IF NOT EXISTS about (name text PRIMARY KEY, value text NOT NULL)")
        version = _version(db, schema)
        if version > len(STEPS):
            raise StoreError(f"The schema {schema} was made by a newer lessonbook: update this one.")
        for step in STEPS[version:]:
            db.execute(step)
        told = "INSERT INTO about VALUES ('version', %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        db.execute(told, (str(len(STEPS)),))


def _version(db: Any, schema: str) -> int:
    if not db.execute("SELECT to_regclass(%s)", (f'"{schema}".about',)).fetchone()[0]:
        return 0
    row = db.execute(VERSION).fetchone()
    return int(row[0]) if row else 0
