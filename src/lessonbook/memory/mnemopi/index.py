"""Keeps the index of words in step with the rows: one entry for each lesson that may be recalled.

The words are made in Python (``core.words``), so that identifiers, symbols and scripts without spaces are found by the
index itself. The table holds no text of its own: to remove an entry, FTS5 must be told its words again, and they are
computed from the row. So a row changes only inside ``reindexed``, and other rules of making words are another
``VERSION`` there, at which ``bring_up_to_date`` makes the whole index anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from lessonbook.core import words
from lessonbook.memory.mnemopi.rows import CONTEXTS, SIDE

COLUMNS = "text, side, context, bank"
_TABLE = f"CREATE VIRTUAL TABLE {{}} USING fts5 ({COLUMNS}, content = '', tokenize = \"{words.TOKENIZE}\")"
_RULES = "words"
_ROW = f"""
SELECT l.text, {SIDE}, coalesce({CONTEXTS}, ''), l.bank FROM lessons l WHERE l.id = ? AND l.forgotten IS NULL
"""

Entry = tuple[str, str, str, str]
"""The words of one lesson: of its text, of its title, cue, tags and the like, of its contexts; and one for its bank."""


@contextmanager
def reindexed(db: sqlite3.Connection, number: int) -> Iterator[None]:
    """Change the row ``number``, and what belongs to it, in here: its entry is removed before and made anew after."""
    remove(db, number)
    yield
    add(db, number)


def add(db: sqlite3.Connection, number: int, name: str = "words") -> None:
    """Make the entry of a lesson that has none; a forgotten one gets none."""
    entry = entry_of(db, number)
    if entry is not None:
        insert = f"INSERT INTO {name} (rowid, {COLUMNS}) VALUES (?, ?, ?, ?, ?)"
        db.execute(insert, (number, *entry))


def remove(db: sqlite3.Connection, number: int) -> None:
    """Remove the entry of a lesson whose row is as it was when the entry was made."""
    entry = entry_of(db, number)
    if entry is not None:
        delete = f"INSERT INTO words (words, rowid, {COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?)"
        db.execute(delete, (number, *entry))


def entry_of(db: sqlite3.Connection, number: int) -> Entry | None:
    """Return the words a lesson is found by; ``None`` for one that is not there or was forgotten."""
    row = db.execute(_ROW, (number,)).fetchone()
    if row is None:
        return None
    text, side, contexts = (words.index_words(part) for part in row[:3])
    return text, side, contexts, bank_word(row[3])


def bank_word(bank: str) -> str:
    """Return the one word that stands for a bank; it stands in a column of its own."""
    return "b" + bank.encode("utf-8", "replace").hex()


def is_current(db: sqlite3.Connection) -> bool:
    """Whether the index was made by the rules of this version."""
    found = db.execute("SELECT value FROM about WHERE name = ?", (_RULES,)).fetchone()
    return found is not None and found[0] == words.VERSION


def bring_up_to_date(db: sqlite3.Connection) -> None:
    """Make the index anew where other rules made it, or none did, inside the transaction that is open."""
    if not is_current(db):
        rebuild(db)


def rebuild(db: sqlite3.Connection, name: str = "words") -> None:
    """Make the index anew from the rows, inside the transaction that is open."""
    db.execute(f"DROP TABLE IF EXISTS {name}")
    db.execute(_TABLE.format(name))
    for (number,) in db.execute("SELECT id FROM lessons WHERE forgotten IS NULL ORDER BY id").fetchall():
        add(db, number, name)
    db.execute("INSERT OR REPLACE INTO about (name, value) VALUES (?, ?)", (_RULES, words.VERSION))
