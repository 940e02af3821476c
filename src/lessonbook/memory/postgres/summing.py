"""Has groups of a team's old episodes summed up by a model; they are kept, marked as replaced by what sums them up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from lessonbook.core.care import Summary
from lessonbook.core.lesson import Outcome
from lessonbook.core.ports import Chat
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.memory import summing
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT
from lessonbook.memory.postgres import changing
from lessonbook.memory.postgres.telling import Teller
from lessonbook.memory.postgres.vectors import Vectors

Used = Callable[[], AbstractContextManager[Any]]


def summarise(
    used: Used, lock: Callable[[Any, str], None], vectors: Vectors, banks: Sequence[str], now: float, chat: Chat
) -> tuple[list[Summary], int]:
    """Have groups of old episodes of ``banks`` summed up; return what came of each, and how many groups are left."""

    def keep(group: summing.Group, text: str) -> str | None:
        with used() as db:
            lock(db, group.bank)
            return _keep(db, vectors, group, text, now)

    with used() as db:
        groups = _episodes(db, banks, now - summing.AGE)
    return summing.summarise(groups, chat, keep)


def _keep(db: Any, vectors: Vectors, group: summing.Group, text: str, now: float) -> str | None:
    """Keep what sums episodes up, and mark them as replaced by it; ``None`` where one of them was changed meanwhile."""
    found = [changing.get(db, number) for number in group.numbers]
    holding = [one for one in found if one.forgotten is None and one.invalid is None]
    if tuple(tidy(one.lesson.text).text for one in holding) != group.texts:
        return None
    lesson = group.lesson(text, max(one.lesson.importance for one in found))
    receipt = Teller(db, vectors, now).tell(group.bank, tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT).lesson)
    if receipt.outcome is not Outcome.STORED or receipt.id is None:
        return None
    for number in group.numbers:
        changing.change(db, number, summing.SUMMARISED, {"invalid": now, "superseded_by": int(receipt.id)}, now)
    return receipt.id


def _episodes(db: Any, banks: Sequence[str], before: float) -> list[summing.Group]:
    """Return the groups of episodes told last before ``before``; what a sleep summed up itself is in none."""
    rows = db.execute(
        "SELECT id, bank, told->>'text', told->>'component', coalesce(told->'metadata'->>'session_id', '')"
        " FROM lessons WHERE bank = ANY(%s) AND told->>'memory_type' = 'episode' AND seen < %s"
        " AND told->>'source' <> %s AND NOT pinned AND forgotten IS NULL AND invalid IS NULL ORDER BY seen, id",
        (list(banks), before, summing.SOURCE),
    )
    return summing.grouped(rows.fetchall())
