"""Stores and recalls lessons in the bank's file: each project's own bank, and one that every project recalls."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lessonbook.core.clean import clean_line
from lessonbook.core.lesson import EMPTY, Lesson, Outcome, Recalled, Receipt, Scope
from lessonbook.core.tidy import same_text, tidy, tidy_lesson
from lessonbook.memory import scoring
from lessonbook.memory.mnemopi.connection import WAIT, BankFile

BANK_FILE = "bank.db"
SHARED = "global"
"""The bank every project recalls. A project's own bank is its slug, which always ends in a digest."""
TEXT_LIMIT = 20_000
CONTEXT_LIMIT = 2_000
_QUERY_LIMIT = 20_000

_COLUMNS = """
    l.id, l.text, l.same, l.bank, l.source, l.seen, (
        SELECT group_concat(told.context, '; ') FROM (
            SELECT l.context WHERE l.context IS NOT NULL
            UNION ALL SELECT s.context FROM sightings s WHERE s.lesson = l.id
        ) told
    ) AS contexts
"""
_MATCHING = f"""
    SELECT {_COLUMNS}, -bm25(lessons_fts, 1.0, 0.5) AS score
    FROM lessons_fts JOIN lessons l ON l.id = lessons_fts.rowid
    WHERE lessons_fts MATCH ? AND l.bank IN (?, ?) ORDER BY score DESC, l.seen DESC, l.id DESC LIMIT ?
"""
_CONTAINING = f"""
    SELECT {_COLUMNS}, 0.0 AS score FROM lessons l
    WHERE l.bank IN (?, ?) AND (%s) ORDER BY l.seen DESC, l.id DESC LIMIT ?
"""
_NEWEST = f"""
    SELECT {_COLUMNS}, 0.0 AS score FROM lessons l
    WHERE l.bank IN (?, ?) ORDER BY l.seen DESC, l.id DESC LIMIT ?
"""


class MnemopiMemory:
    """One project's view of the bank's file at ``path``. Meets ``core.ports.Memory``; usable from several threads.

    ``project`` is the project's slug, ``now`` the clock in epoch seconds, ``wait`` how many seconds other writers are
    waited for. The file is opened at the first use; an open that failed is tried again at the next.
    """

    name = "mnemopi"
    scopes = frozenset({"project", "global"})

    def __init__(self, path: Path, project: str, now: Callable[[], float], wait: float = WAIT) -> None:
        self._file = BankFile(path, wait)
        self._project = project
        self._now = now

    def store(self, lesson: Lesson) -> Receipt:
        """Keep the lesson in the bank of its scope, durably; told before, it keeps its id and gains the new context."""
        tidied = tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT)
        kept, notes = tidied.lesson, tidied.notes
        if not kept.text:
            return Receipt(Outcome.REFUSED, reason=EMPTY)
        bank = SHARED if kept.scope is Scope.GLOBAL else self._project
        with self._file.writing() as db:
            known = db.execute(
                "SELECT id, context FROM lessons WHERE bank = ? AND same = ?", (bank, same_text(kept.text))
            ).fetchone()
            if known is None:
                receipt = Receipt(Outcome.STORED, id=str(_insert(db, bank, kept, self._now())), notes=notes)
            else:
                _tell_again(db, known[0], known[1], kept, self._now())
                receipt = Receipt(Outcome.DUPLICATE, id=str(known[0]), notes=notes)
        return receipt

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons of both banks that share a word with ``query``, best first; blank finds nothing."""
        terms = scoring.terms(same_text(clean_line(query[:_QUERY_LIMIT])))
        if not terms or limit < 1 or not self._file.exists():
            return []
        with self._file.reading() as db:
            rows = db.execute(_MATCHING, (match_any(terms), *self._banks, 2 * limit)).fetchall()
            if not rows:
                # No whole word matched: symbols, emoji, and parts of scripts that put no space between words.
                anywhere = " OR ".join(["instr(lower(l.text), lower(?))"] * len(terms))
                rows = db.execute(_CONTAINING % anywhere, (*self._banks, *terms, 2 * limit)).fetchall()
        return _distinct(rows)[:limit]

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the lessons of both banks told last, newest first."""
        if limit < 1 or not self._file.exists():
            return []
        with self._file.reading() as db:
            rows = db.execute(_NEWEST, (*self._banks, 2 * limit)).fetchall()
        return _distinct(rows)[:limit]

    def count(self) -> int:
        """Return how many different lessons this project can recall, the shared ones included."""
        if not self._file.exists():
            return 0
        with self._file.reading() as db:
            found = db.execute("SELECT count(DISTINCT same) FROM lessons WHERE bank IN (?, ?)", self._banks).fetchone()
        return int(found[0])

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()

    @property
    def _banks(self) -> tuple[str, str]:
        return self._project, SHARED


def match_any(terms: Sequence[str]) -> str:
    """Return an FTS5 expression that matches any of ``terms``, each quoted so that nothing in it is an operator."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _insert(db: sqlite3.Connection, bank: str, lesson: Lesson, now: float) -> int:
    row = db.execute(
        "INSERT INTO lessons (bank, same, text, context, source, importance, veracity, memory_type, metadata, created,"
        " seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            bank,
            same_text(lesson.text),
            lesson.text,
            lesson.context,
            lesson.source,
            lesson.importance,
            lesson.veracity,
            lesson.memory_type,
            _json(lesson),
            now,
            now,
        ),
    ).fetchone()
    return int(row[0])


def _tell_again(db: sqlite3.Connection, known: int, context: str | None, lesson: Lesson, now: float) -> None:
    """Note that a lesson was told again; a context it did not have yet is kept beside the first."""
    db.execute("UPDATE lessons SET seen = max(seen, ?) WHERE id = ?", (now, known))
    if lesson.context and lesson.context != context:
        db.execute(
            "INSERT OR IGNORE INTO sightings (lesson, context, metadata, at) VALUES (?, ?, ?, ?)",
            (known, lesson.context, _json(lesson), now),
        )


def _json(lesson: Lesson) -> str:
    return json.dumps(dict(lesson.metadata), sort_keys=True)


def _distinct(rows: Sequence[tuple[int, str, str, str, str, float, str | None, float]]) -> list[Recalled]:
    """Return each lesson once, though it may stand in both banks; cleaned, as another program may write this file."""
    found: dict[str, Recalled] = {}
    for number, text, same, bank, source, at, contexts, score in rows:
        found.setdefault(same, Recalled(str(number), text, contexts, score, at, bank, source))
    return [_shown(one) for one in found.values()]


def _shown(found: Recalled) -> Recalled:
    return replace(found, text=tidy(found.text).text, context=tidy(found.context or "").text or None)
