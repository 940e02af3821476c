"""Has a model say what a team's lessons name and state, beside what the rules find; in a sleep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from lessonbook.core.care import Extracted
from lessonbook.core.ports import Chat
from lessonbook.memory.mnemopi.extracting import AT_ONCE, ask
from lessonbook.memory.postgres import changing, noting

_UNASKED = "FROM lessons WHERE bank = ANY(%s) AND forgotten IS NULL AND invalid IS NULL AND NOT extracted"
_PAIRS = "SELECT count(*) FROM pairs WHERE kind = %s AND %s IN (newer, older)"


def extract(
    used: Callable[[], AbstractContextManager[Any]], banks: Sequence[str], chat: Chat, now: Callable[[], float]
) -> Extracted:
    """Ask about the lessons of ``banks`` that no model was asked about yet; a model that does not answer ends it."""
    query = f"SELECT id, told->>'text' {_UNASKED} ORDER BY seen DESC, id DESC LIMIT %s"
    with used() as db:
        waiting = db.execute(query, (list(banks), AT_ONCE)).fetchall()
    done = refused = found = 0
    problem = ""
    for number, text in waiting:
        told, said, answered = ask(chat, text)
        if said and not answered:
            problem = said
            break
        with used() as db:
            kept = changing.get(db, number)
            if kept.lesson.text != text or kept.forgotten is not None:
                continue  # changed while the model answered
            before = db.execute(_PAIRS, (noting.CONTRADICTION, number)).fetchone()[0]
            noting.note(db, number, text, told)
            noting.disagreements(db, number, now())
            found += db.execute(_PAIRS, (noting.CONTRADICTION, number)).fetchone()[0] - before
            done, refused = done + (not said), refused + bool(said)
    with used() as db:
        left = int(db.execute(f"SELECT count(*) {_UNASKED}", (list(banks),)).fetchone()[0])
    return Extracted(done, refused, found, left, problem)
