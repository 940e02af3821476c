"""Notes what a team's lessons name and state, and which may contradict each other. Inside the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lessonbook.core.contradictions import contradictions, topics
from lessonbook.core.extraction import Extraction
from lessonbook.core.extractor import RuleExtractor
from lessonbook.core.fact import Fact, Relation
from lessonbook.memory.mnemopi.rows import SHARED
from lessonbook.memory.postgres.rows import as_json

CONTRADICTION, TWINS = "contradiction", "twins"
COMPARED = 200
"""Facts about one topic that a new one is compared with, at most: those of the lessons told last."""
AT_ONCE = 500
"""Lessons noted before something is asked of what they name, of those that an older version told."""
_OLDER = """
SELECT f.lesson, f.fact FROM facts f JOIN lessons l ON l.id = f.lesson
WHERE f.topic = %s AND f.lesson <> %s AND l.bank = ANY(%s) AND l.forgotten IS NULL AND l.invalid IS NULL
ORDER BY f.lesson DESC LIMIT %s
"""


def note(db: Any, number: int, text: str, told: Extraction | None = None) -> None:
    """Keep what a lesson's text names and states, in place of what it did before; by rules unless a model ``told``."""
    by_model = told is not None
    told = told or RuleExtractor().extract(text)
    for table in ("entities", "facts"):
        db.execute(f"DELETE FROM {table} WHERE lesson = %s", (number,))
    named = {(str(each.kind), each.key): each.value for each in told.entities}
    stated = [(number, topic, _as_json(fact)) for fact in told.facts for topic in sorted(topics(fact))]
    with db.cursor() as cursor:
        if named:
            rows = [(number, kind, key, value) for (kind, key), value in named.items()]
            cursor.executemany("INSERT INTO entities (lesson, kind, key, value) VALUES (%s, %s, %s, %s)", rows)
        if stated:
            cursor.executemany("INSERT INTO facts (lesson, topic, fact) VALUES (%s, %s, CAST(%s AS jsonb))", stated)
    db.execute("UPDATE lessons SET noted = true, extracted = %s WHERE id = %s", (by_model, number))


def catch_up(db: Any, banks: Sequence[str], most: int = AT_ONCE) -> int:
    """Note lessons that were told without it, and return how many."""
    query = "SELECT id, told->>'text' FROM lessons WHERE NOT noted AND bank = ANY(%s) ORDER BY id LIMIT %s"
    rows = db.execute(query, (list(banks), most)).fetchall()
    for number, text in rows:
        note(db, number, text)
        disagreements(db, number, 0.0)
    return len(rows)


def stated(db: Any, number: int) -> list[Fact]:
    """Return the facts a lesson states, in the order of its text."""
    rows = db.execute("SELECT DISTINCT fact FROM facts WHERE lesson = %s", (number,)).fetchall()
    return sorted((_fact(row[0]) for row in rows), key=lambda fact: fact.start)


def disagreements(db: Any, number: int, now: float) -> list[tuple[int, str]]:
    """Note which lessons of its own bank and the shared one a lesson may contradict; return each with a sentence.

    Nothing is decided: a person or agent says which of them holds, or that both do. ``now`` is in epoch seconds, 0 for
    when the lesson was told.
    """
    bank, told = db.execute("SELECT bank, created FROM lessons WHERE id = %s", (number,)).fetchone()
    new = stated(db, number)
    beside: dict[int, list[Fact]] = defaultdict(list)
    for topic in sorted({topic for fact in new for topic in topics(fact)}):
        for older, fact in db.execute(_OLDER, (topic, number, [bank, SHARED], COMPARED)).fetchall():
            beside[older] += [one for one in [_fact(fact)] if one not in beside[older]]
    found: dict[int, str] = {}
    insert = (
        "INSERT INTO pairs (kind, newer, older, what, said, at) VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
    )
    for other, facts in sorted(beside.items()):
        (newer, says), (older, said) = sorted([(number, new), (other, facts)], key=lambda side: -side[0])
        for clash in contradictions(says, said):
            found.setdefault(other, clash.sentence)
            db.execute(insert, (CONTRADICTION, newer, older, str(clash.kind), clash.sentence, now or told))
    return sorted(found.items())


def _as_json(fact: Fact) -> str:
    return as_json({**fact.as_dict(), "relation": str(fact.relation)})


def _fact(told: Mapping[str, Any]) -> Fact:
    return Fact(**{**told, "relation": Relation(told["relation"])})
