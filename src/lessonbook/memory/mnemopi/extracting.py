"""Has a model say what lessons name and state, beside what the rules find; in a sleep, so that nobody waits for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from lessonbook.core.care import Extracted
from lessonbook.core.extraction import Extraction
from lessonbook.core.extractor import ModelExtractor
from lessonbook.core.ports import Chat, Reply
from lessonbook.memory.mnemopi import noting
from lessonbook.memory.mnemopi.editing import Transaction

AT_ONCE = 50
"""Lessons a model is asked about in one sleep, at most, the newest first: one question each."""
_UNASKED = (
    "FROM lessons l WHERE l.bank IN ({}) AND l.forgotten IS NULL AND l.invalid IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM extracted e WHERE e.lesson = l.id)"
)


def extract(
    reading: Transaction, writing: Transaction, banks: Sequence[str], chat: Chat, now: Callable[[], float]
) -> Extracted:
    """Ask about the lessons of ``banks`` that no model was asked about yet; a model that does not answer ends it.

    What a lesson names and states by the rules stays, and where its text changes the rules alone hold again.
    """
    with reading() as db:
        marks = _UNASKED.format(", ".join("?" * len(banks)))
        query = f"SELECT l.id, l.text {marks} ORDER BY l.seen DESC, l.id DESC LIMIT ?"
        waiting = db.execute(query, (*banks, AT_ONCE)).fetchall()
    done = refused = found = 0
    problem = ""
    for number, text in waiting:
        told, said, answered = ask(chat, text)
        if said and not answered:
            problem = said
            break
        with writing() as db:
            if _is_as_it_was(db, number, text):
                found += _note(db, number, told, now())
                done, refused = done + (not said), refused + bool(said)
    with reading() as db:
        left = int(db.execute(f"SELECT count(*) {marks}", tuple(banks)).fetchone()[0])
    return Extracted(done, refused, found, left, problem)


def ask(chat: Chat, text: str) -> tuple[Extraction, str, bool]:
    """Return what a text names and states, what is to be said of the model's answer, and whether there was one."""
    said: list[str] = []
    answers: list[object] = []

    def asked(prompt: str, /) -> Reply | str:
        reply = chat(prompt)
        answers.append(reply)
        return reply

    told = ModelExtractor(asked, said.append).extract(text)
    return told, "".join(said), bool(answers)


def _is_as_it_was(db: sqlite3.Connection, number: int, text: str) -> bool:
    query = "SELECT 1 FROM lessons WHERE id = ? AND text = ? AND forgotten IS NULL"
    return db.execute(query, (number, text)).fetchone() is not None


def _note(db: sqlite3.Connection, number: int, told: Extraction, now: float) -> int:
    count = "SELECT count(*) FROM contradictions WHERE newer = ?1 OR older = ?1"
    (before,) = db.execute(count, (number,)).fetchone()
    noting.note(db, number, told)
    noting.disagreements(db, number, now, told_now=False)
    return int(db.execute(count, (number,)).fetchone()[0]) - int(before)
