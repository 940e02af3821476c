"""Has groups of a team's old episodes summed up by a model; they are kept, marked as replaced by what sums them up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from lessonbook.core import summary
from lessonbook.core.care import Summary
from lessonbook.core.errors import LessonbookError
from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.core.ports import Chat
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.core.value import Value
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT
from lessonbook.memory.mnemopi.sleep import AGE, FEWEST, GROUPS, NO_SESSION, SOURCE, SUMMARISED, asked
from lessonbook.memory.postgres import changing
from lessonbook.memory.postgres.telling import Teller
from lessonbook.memory.postgres.vectors import Vectors

Used = Callable[[], AbstractContextManager[Any]]
_CHANGED = "they were changed while the model answered; nothing was stored"


class Group(Value):
    """Episodes of one bank that belong together, oldest first, with their texts."""

    bank: str
    component: str | None
    session: str
    numbers: tuple[int, ...]
    texts: tuple[str, ...]

    def keep(self, db: Any, vectors: Vectors, text: str, now: float) -> str | None:
        """Keep what sums them up, and mark them as replaced by it; ``None`` where one of them was changed meanwhile."""
        found = [changing.get(db, number) for number in self.numbers]
        holding = [one for one in found if one.forgotten is None and one.invalid is None]
        if tuple(tidy(one.lesson.text).text for one in holding) != self.texts:
            return None
        told = {"sources": ", ".join(map(str, self.numbers)), "tool": SOURCE}
        told |= {"session_id": self.session} if self.session else {}
        lesson = Lesson(
            text,
            source=SOURCE,
            importance=max(one.lesson.importance for one in found),
            veracity="inferred",
            memory_type="episode",
            metadata=told,
            component=self.component,
        )
        receipt = Teller(db, vectors, now).tell(self.bank, tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT).lesson)
        if receipt.outcome is not Outcome.STORED or receipt.id is None:
            return None
        for number in self.numbers:
            changing.change(db, number, SUMMARISED, {"invalid": now, "superseded_by": int(receipt.id)}, now)
        return receipt.id


def summarise(
    used: Used, lock: Callable[[Any, str], None], vectors: Vectors, banks: Sequence[str], now: float, chat: Chat
) -> tuple[list[Summary], int]:
    """Have groups of old episodes of ``banks`` summed up; return what came of each, and how many groups are left.

    A model that does not answer ends it.
    """
    with used() as db:
        groups = episodes(db, banks, now - AGE)
    done: list[Summary] = []
    for group in groups[:GROUPS]:
        sources = tuple(map(str, group.numbers))
        try:
            text = summary.checked(asked(chat, summary.prompt(group.texts)), group.texts)
        except LessonbookError as error:
            done.append(Summary(sources, problem=str(error)))
            break
        with used() as db:
            lock(db, group.bank)
            number = group.keep(db, vectors, text, now)
        done.append(Summary(sources, number, text, "" if number else _CHANGED))
    return done, len(groups) - len(done)


def episodes(db: Any, banks: Sequence[str], before: float) -> list[Group]:
    """Return the groups of episodes told last before ``before``: of one component, else of one session, oldest first.

    A group has as many as go into one question to a model. What a sleep summed up itself is not summed up again.
    """
    rows = db.execute(
        "SELECT id, bank, told->>'text', told->>'component', coalesce(told->'metadata'->>'session_id', '')"
        " FROM lessons WHERE bank = ANY(%s) AND told->>'memory_type' = 'episode' AND seen < %s"
        " AND told->>'source' <> %s AND NOT pinned AND forgotten IS NULL AND invalid IS NULL ORDER BY seen, id",
        (list(banks), before, SOURCE),
    ).fetchall()
    found: dict[tuple[str, str | None, str], list[tuple[int, str]]] = {}
    for number, bank, text, component, session in rows:
        if component or session not in NO_SESSION:
            key = (bank, component or None, "" if component else str(session))
            found.setdefault(key, []).append((number, tidy(text).text))
    groups = (
        Group(*key, *zip(*summary.fitting(held), strict=True)) for key, held in found.items() if len(held) >= FEWEST
    )
    return [group for group in groups if len(group.numbers) >= FEWEST]
