"""Vectors of lessons in the team's schema, where the server has pgvector and this machine an embedder; else nothing.

Exact search over a project's lessons: an approximate index filters only after it has searched, and finds too few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lessonbook.memory.postgres.schema import LOCK
from lessonbook.memory.vectors.embedder import Embedder

_TABLE = """
CREATE TABLE vectors (
    lesson bigint NOT NULL REFERENCES lessons (id) ON DELETE CASCADE,
    team text NOT NULL DEFAULT current_setting('lessonbook.team'),
    model text NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (lesson, model)
);
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_team ON vectors USING (team = current_setting('lessonbook.team', true));
"""
_AT_ONCE = 200
"""Lessons embedded before a recall, of those that another machine told without an embedder."""


class Vectors:
    """Makes, keeps and compares vectors; every call does nothing where that cannot be."""

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._is_there: bool | None = None

    def is_on(self, db: Any) -> bool:
        """Whether the server has pgvector and we an embedder; the table is made where it may be."""
        if self.embedder is None:
            return False
        if self._is_there is None:
            self._is_there = self._make(db)
        return self._is_there

    def keep(self, db: Any, number: int, text: str) -> None:
        """Keep the vector of a lesson."""
        if self.is_on(db) and self.embedder is not None:
            self._write(db, [(number, text)])

    def near(self, db: Any, banks: Sequence[str], query: str, limit: int) -> dict[int, float]:
        """Return the lessons nearest to ``query``, each with how alike they are, up to 1."""
        if not self.is_on(db) or self.embedder is None:
            return {}
        self.catch_up(db, banks)
        asked = self.embedder.embed([query])[0]
        if not asked.any():
            return {}
        found = db.execute(
            "SELECT l.id, 1 - (v.embedding <=> CAST(%s AS vector)) FROM lessons l JOIN vectors v ON v.lesson = l.id"
            " WHERE v.model = %s AND l.bank = ANY(%s) AND l.forgotten IS NULL"
            " ORDER BY v.embedding <=> CAST(%s AS vector) LIMIT %s",
            (_text(asked), self.embedder.id, list(banks), _text(asked), limit),
        ).fetchall()
        # What says nothing to the model is at no distance from anything.
        return {int(number): float(likeness) for number, likeness in found if not math.isnan(likeness)}

    def catch_up(self, db: Any, banks: Sequence[str]) -> int:
        """Make vectors of some lessons that have none, and return of how many."""
        if not self.is_on(db) or self.embedder is None:
            return 0
        rows = db.execute(
            "SELECT l.id, l.told->>'text' FROM lessons l WHERE l.bank = ANY(%s) AND l.forgotten IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.lesson = l.id AND v.model = %s) LIMIT %s",
            (list(banks), self.embedder.id, _AT_ONCE),
        ).fetchall()
        if rows:
            self._write(db, rows)
        return len(rows)

    def count(self, db: Any) -> int:
        """Return how many lessons have a vector of this machine's embedder."""
        if not self.is_on(db) or self.embedder is None:
            return 0
        query = "SELECT count(*) FROM vectors WHERE model = %s"
        return int(db.execute(query, (self.embedder.id,)).fetchone()[0])

    def waiting(self, db: Any) -> int:
        """Return how many lessons wait for one."""
        if not self.is_on(db) or self.embedder is None:
            return 0
        query = (
            "SELECT count(*) FROM lessons l WHERE l.forgotten IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.lesson = l.id AND v.model = %s)"
        )
        return int(db.execute(query, (self.embedder.id,)).fetchone()[0])

    def _write(self, db: Any, rows: Sequence[tuple[int, str]]) -> None:
        assert self.embedder is not None
        made = self.embedder.embed([text for _, text in rows])
        insert = (
            "INSERT INTO vectors (lesson, model, embedding) VALUES (%s, %s, CAST(%s AS vector))"
            " ON CONFLICT (lesson, model) DO UPDATE SET embedding = excluded.embedding"
        )
        with db.cursor() as cursor:
            told = [(number, self.embedder.id, _text(one)) for (number, _), one in zip(rows, made, strict=True)]
            cursor.executemany(insert, told)

    def _make(self, db: Any) -> bool:
        import psycopg

        try:
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                if not db.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
                    db.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
                own = "SELECT to_regclass(quote_ident(current_schema()) || '.vectors')"
                if db.execute(own).fetchone()[0] is None:
                    db.execute(_TABLE)
        except psycopg.Error:  # the server has no pgvector, or we may not have it made: words are enough
            return False
        return True


def _text(vector: Any) -> str:
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"
