"""Notes what a lesson names and states, and which lessons it may contradict. Inside the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict

from lessonbook.core.contradictions import contradictions, topics
from lessonbook.core.extraction import Extraction
from lessonbook.core.extractor import RuleExtractor
from lessonbook.core.fact import Fact, Relation
from lessonbook.memory.mnemopi.rows import SHARED

COMPARED = 200
"""Facts about one topic that a new one is compared with, at most: those of the lessons told last."""
_OTHERS = """
SELECT f.lesson, f.fact FROM facts f JOIN lessons l ON l.id = f.lesson
WHERE f.topic = ?1 AND f.lesson <> ?2 AND l.bank IN (?3, ?4) AND l.forgotten IS NULL AND l.invalid IS NULL
ORDER BY f.lesson DESC LIMIT ?5
"""


def note(db: sqlite3.Connection, number: int, told: Extraction | None = None) -> None:
    """Keep what a lesson's text names and states, in place of what it did before; by rules unless a model ``told``."""
    if told is None:
        text = db.execute("SELECT text FROM lessons WHERE id = ?", (number,)).fetchone()[0]
        told = RuleExtractor().extract(text)
        db.execute("DELETE FROM extracted WHERE lesson = ?", (number,))
    else:
        db.execute("INSERT OR IGNORE INTO extracted (lesson) VALUES (?)", (number,))
    for table in ("entities", "facts"):
        db.execute(f"DELETE FROM {table} WHERE lesson = ?", (number,))
    db.executemany(
        "INSERT OR IGNORE INTO entities (lesson, kind, key, value) VALUES (?, ?, ?, ?)",
        [(number, str(each.kind), each.key, each.value) for each in told.entities],
    )
    db.executemany(
        "INSERT INTO facts (lesson, topic, fact) VALUES (?, ?, ?)",
        [(number, topic, _as_text(fact)) for fact in told.facts for topic in sorted(topics(fact))],
    )


def stated(db: sqlite3.Connection, number: int) -> list[Fact]:
    """Return the facts a lesson states, in the order of its text."""
    rows = db.execute("SELECT DISTINCT fact FROM facts WHERE lesson = ?", (number,))
    return sorted((_fact(row[0]) for row in rows), key=lambda fact: fact.start)


def disagreements(db: sqlite3.Connection, number: int, now: float, *, told_now: bool = True) -> list[tuple[int, str]]:
    """Note which lessons of its own bank and the shared one a lesson may contradict; return each with a sentence.

    The lesson is the newer of each pair where it is ``told_now``, else the one with the higher number is. Nothing is
    decided: a person or agent says which of them holds, or that both do.
    """
    (bank,) = db.execute("SELECT bank FROM lessons WHERE id = ?", (number,)).fetchone()
    found: dict[int, str] = {}
    new = stated(db, number)
    about = sorted({topic for fact in new for topic in topics(fact)})
    beside: dict[int, dict[str, Fact]] = defaultdict(dict)
    for topic in about:
        for other, fact in db.execute(_OTHERS, (topic, number, bank, SHARED, COMPARED)).fetchall():
            beside[other][fact] = _fact(fact)
    for other, facts in sorted(beside.items()):
        sides = [(number, new), (other, list(facts.values()))]
        if not told_now and other > number:
            sides.reverse()
        (newer, says), (older, said) = sides
        for clash in contradictions(says, said):
            found.setdefault(other, clash.sentence)
            db.execute(
                "INSERT OR IGNORE INTO contradictions (newer, older, kind, said, at) VALUES (?, ?, ?, ?, ?)",
                (newer, older, str(clash.kind), clash.sentence, now),
            )
    return sorted(found.items())


def _as_text(fact: Fact) -> str:
    return json.dumps({**fact.as_dict(), "relation": str(fact.relation)}, ensure_ascii=False)


def _fact(text: str) -> Fact:
    told = json.loads(text)
    return Fact(**{**told, "relation": Relation(told["relation"])})
