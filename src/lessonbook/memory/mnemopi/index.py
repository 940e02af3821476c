"""Keeps the index of words in step with the rows: one entry for each lesson that may be recalled.

The words are made in Python (``core.words``), so that identifiers, symbols and scripts without spaces are found by the
index itself. The table holds no text of its own: to remove an entry, FTS5 must be told its words again, and they are
computed from the row. So a row changes only inside ``reindexed``, and other rules of making words are another
``VERSION`` there, at which ``bring_up_to_date`` makes the whole index anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from lessonbook.core import words
from lessonbook.memory.mnemopi.rows import CONTEXTS

TABLE = """
CREATE VIRTUAL TABLE {name} USING fts5 (
    text, side, context, entities, bank, content = '', tokenize = "{tokenize}"
)
"""
_RULES = "words"
_ROW = f"""
SELECT l.text, l.title, l.cue, l.component, l.key, l.tags, {CONTEXTS},
    (SELECT group_concat(e.value, ' ') FROM entities e WHERE e.lesson = l.id), l.bank, l.forgotten
FROM lessons l WHERE l.id = ?
"""

Entry = tuple[str, str, str, str, str]
"""The words of one lesson: of its text, of its title, cue, tags and the like, of its contexts, of what it names; and
one word that stands for its bank."""


@contextmanager
def reindexed(db: sqlite3.Connection, number: int) -> Iterator[None]:
    """Change the row ``number``, and what belongs to it, in here: its entry is removed before and made anew after."""
    remove(db, number)
    yield
    add(db, number)


def add(db: sqlite3.Connection, number: int) -> None:
    """Make the entry of a lesson that has none; a forgotten one gets none."""
    entry = entry_of(db, number)
    if entry is not None:
        db.execute(
            "INSERT INTO words (rowid, text, side, context, entities, bank) VALUES (?, ?, ?, ?, ?, ?)", (number, *entry)
        )


def remove(db: sqlite3.Connection, number: int) -> None:
    """Remove the entry of a lesson whose row is as it was when the entry was made."""
    entry = entry_of(db, number)
    if entry is not None:
        db.execute(
            "INSERT INTO words (words, rowid, text, side, context, entities, bank) VALUES ('delete', ?, ?, ?, ?, ?, ?)",
            (number, *entry),
        )


def entry_of(db: sqlite3.Connection, number: int) -> Entry | None:
    """Return the words a lesson is found by; ``None`` for one that is not there or was forgotten."""
    row = db.execute(_ROW, (number,)).fetchone()
    if row is None or row[9] is not None:
        return None
    text, title, cue, component, key, tags, contexts, entities, bank, _ = row
    side = " ".join(filter(None, (title, cue, component, key, *_tags(tags))))
    made = words.index_words
    return made(text), made(side), made(contexts or ""), made(entities or ""), bank_word(bank)


def bank_word(bank: str) -> str:
    """Return the one word that stands for a bank; no word of a lesson is like it, as it stands in its own column."""
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
    db.execute(TABLE.format(name=name, tokenize=words.TOKENIZE))
    for (number,) in db.execute("SELECT id FROM lessons WHERE forgotten IS NULL ORDER BY id").fetchall():
        entry = entry_of(db, number)
        if entry is not None:
            insert = f"INSERT INTO {name} (rowid, text, side, context, entities, bank) VALUES (?, ?, ?, ?, ?, ?)"
            db.execute(insert, (number, *entry))
    db.execute("INSERT OR REPLACE INTO about (name, value) VALUES (?, ?)", (_RULES, words.VERSION))


def _tags(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return [str(tag) for tag in found] if isinstance(found, list) else []
