"""The pairs of a team's lessons that wait for a decision: those that may contradict each other, and near twins.

Every function runs inside the caller's transaction. Nothing is decided here but what a person or agent says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lessonbook.core.care import Contradiction, Pair
from lessonbook.core.errors import InputError
from lessonbook.core.tidy import tidy
from lessonbook.core.twins import Index, Print, print_of, similarity
from lessonbook.memory.postgres import changing
from lessonbook.memory.postgres.noting import CONTRADICTION, TWINS

APART, MERGED = "apart", "merged"
_DISMISSED = "dismissed"
_HOLDING = "coalesce(n.forgotten, n.invalid, o.forgotten, o.invalid) IS NULL"
_BETWEEN = 50
"""Lessons compared between two looks at whether it is enough."""


def contradictions(db: Any, banks: Sequence[str], number: int | None = None) -> list[Contradiction]:
    """Return those that nobody settled, newest first; with ``number`` those of one lesson, the settled ones too."""
    which = f"p.settled IS NULL AND {_HOLDING}" if number is None else "%s IN (p.newer, p.older)"
    query = (
        "SELECT p.newer, p.older, p.what, p.said, p.at, p.settled_at, n.told->>'text', o.told->>'text' FROM pairs p"
        " JOIN lessons n ON n.id = p.newer JOIN lessons o ON o.id = p.older"
        f" WHERE p.kind = '{CONTRADICTION}' AND n.bank = ANY(%s) AND o.bank = ANY(%s) AND {which}"
        " ORDER BY p.at DESC, p.newer DESC, p.older"
    )
    values = [list(banks), list(banks), *([] if number is None else [number])]
    return [_contradiction(row) for row in db.execute(query, values).fetchall()]


def dismiss(db: Any, one: int, other: int, now: float) -> None:
    """Note that both lessons may stand. Raises ``InputError`` where none is known between them, or it was noted."""
    pair = sorted((one, other), reverse=True)
    where = f"kind = '{CONTRADICTION}' AND newer = %s AND older = %s"
    known = db.execute(f"SELECT bool_and(settled IS NOT NULL) FROM pairs WHERE {where}", pair).fetchone()[0]
    if known is None:
        raise InputError(f"Lessons {one} and {other} are not known to contradict each other.")
    if known:
        raise InputError(f"That lessons {one} and {other} both stand was noted already.")
    done = f"UPDATE pairs SET settled = '{_DISMISSED}', settled_at = %s WHERE {where} AND settled IS NULL"
    db.execute(done, (now, *pair))


def twins(db: Any, banks: Sequence[str]) -> list[Pair]:
    """Return the pairs nobody decided on yet, likest first; without those one of which was changed away since."""
    query = (
        "SELECT p.newer, p.older, p.likeness FROM pairs p JOIN lessons n ON n.id = p.newer"
        f" JOIN lessons o ON o.id = p.older WHERE p.kind = '{TWINS}' AND p.settled IS NULL AND n.bank = ANY(%s)"
        f" AND n.bank = o.bank AND {_HOLDING} AND NOT (n.pinned AND o.pinned)"
        " ORDER BY p.likeness DESC, p.newer, p.older"
    )
    found = db.execute(query, (list(banks),)).fetchall()
    return [Pair(str(newer), str(older), likeness) for newer, older, likeness in found]


def merge(db: Any, kept: int, other: int, now: float) -> None:
    """Let ``kept`` take the place of ``other`` and have its contexts too; undoing ``other`` parts them again."""
    for number in (kept, other):
        found = changing.get(db, number)
        if found.forgotten is not None or found.invalid is not None:
            raise InputError(f"Lesson {number} was forgotten or no longer holds; there is nothing to merge.")
    contexts = list(dict.fromkeys((*changing.contexts(db, kept), *changing.contexts(db, other))))
    changing.give_contexts(db, kept, contexts)
    changing.change(db, other, MERGED, {"invalid": now, "superseded_by": kept}, now)
    decide(db, kept, other, MERGED, now)


def decide(db: Any, kept: int, other: int, decided: str, now: float) -> None:
    """Note what was decided on two lessons, so that it is not proposed again."""
    pair = "((newer = %s AND older = %s) OR (newer = %s AND older = %s))"
    done = f"UPDATE pairs SET settled = %s, settled_at = %s WHERE kind = '{TWINS}' AND {pair}"
    if not db.execute(done, (decided, now, kept, other, other, kept)).rowcount:
        insert = "INSERT INTO pairs (kind, newer, older, at, settled, settled_at) VALUES (%s, %s, %s, %s, %s, %s)"
        db.execute(insert, (TWINS, kept, other, now, decided, now))


def compared(db: Any, bank: str) -> list[tuple[int, Print]]:
    """Return what the lessons of a bank come to, in the order in which they were told."""
    query = (
        "SELECT id, told->>'text' FROM lessons WHERE bank = %s AND forgotten IS NULL AND invalid IS NULL"
        " AND NOT pinned ORDER BY seen, id"
    )
    return [(number, print_of(text)) for number, text in db.execute(query, (bank,)).fetchall()]


def find(rows: Sequence[tuple[int, Print]], enough: Callable[[], bool]) -> tuple[list[Pair], int]:
    """Return each lesson with its newest near twin, the one told last first, and how many were not compared.

    It stops when ``enough`` says so.
    """
    index = Index([one for _, one in rows])
    found: dict[tuple[str, str], Pair] = {}
    for place, (_, one) in enumerate(rows):
        if place % _BETWEEN == 0 and place and enough():
            return list(found.values()), len(rows) - place
        others = [other for other in index.near(one) if other != place]
        if others:
            newer, older = sorted((others[-1], place), reverse=True)
            likeness = round(similarity(one, rows[others[-1]][1]), 3)
            pair = Pair(str(rows[newer][0]), str(rows[older][0]), likeness)
            found[pair.kept, pair.other] = pair
    return list(found.values()), 0


def note(db: Any, pairs: Sequence[Pair], now: float) -> int:
    """Note the pairs that are not known yet, either way round, and return how many."""
    insert = (
        f"INSERT INTO pairs (kind, newer, older, likeness, at) SELECT '{TWINS}', n.id, o.id, %s, %s"
        " FROM lessons n, lessons o WHERE n.id = %s AND o.id = %s AND NOT EXISTS (SELECT 1 FROM pairs p"
        f" WHERE p.kind = '{TWINS}' AND (p.newer, p.older) IN ((n.id, o.id), (o.id, n.id)))"
    )
    told = [(pair.likeness, now, int(pair.kept), int(pair.other)) for pair in pairs]
    return sum(db.execute(insert, one).rowcount for one in told)


def _contradiction(row: Sequence[Any]) -> Contradiction:
    newer, older, kind, said, at, dismissed, newer_text, older_text = row
    texts = (tidy(said).text, at, dismissed, tidy(newer_text).text, tidy(older_text).text)
    return Contradiction(str(newer), str(older), kind, *texts)
