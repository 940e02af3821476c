"""What a bank does while nobody waits for it: it makes vectors, compares lessons, and has old episodes summed up.

Nothing is merged, removed or believed by itself. Long work is done between transactions, and every transaction is
short, so that agents can write all the while.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from lessonbook.core import summary
from lessonbook.core.care import Slept, Summary
from lessonbook.core.errors import LessonbookError, ModelError, reason
from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.core.ports import Chat, Reply
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.core.value import Value
from lessonbook.memory.mnemopi import caring, changing, index
from lessonbook.memory.mnemopi.editing import Transaction
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT
from lessonbook.memory.mnemopi.telling import Teller
from lessonbook.memory.mnemopi.vectors import Vectors

SUMMARISED = "summarised"
SOURCE = "sleep"
AGE = 30 * 86_400.0
"""Seconds since an episode was last told, after which it may be summed up."""
FEWEST = 3
"""Episodes that belong together, at least."""
GROUPS = 20
"""Groups that are summed up in one sleep, at most: each asks the model once."""
SECONDS = 120.0
"""How long lessons are compared in one sleep; the rest is compared in the next."""
_EMBEDDED_AT_ONCE = 1_000
NO_SESSION = ("", "cli")
"""Lessons a person typed carry the second one, whenever that was."""


class Sleeping:
    """One sleep of an open file: ``banks`` are compared, and for what has to do with time ``now`` is asked."""

    def __init__(self, reading: Transaction, writing: Transaction, vectors: Vectors, now: Callable[[], float]) -> None:
        self._reading = reading
        self._writing = writing
        self._vectors = vectors
        self._now = now

    def sleep(self, step: Callable[[str], None] = lambda what: None) -> Slept:
        """Bring what is made of the lessons up to date, and propose near twins; ``step`` hears what is next."""
        step("words")
        reindexed = self._index()
        step("vectors")
        embedded = self._embed()
        step("twins")
        twins = self._compare()
        with self._reading() as db:
            expired = "SELECT count(*) FROM lessons WHERE valid_until < ? AND forgotten IS NULL AND invalid IS NULL"
            return Slept(
                reindexed=reindexed,
                embedded=embedded,
                unembedded=_one(db, "SELECT count(*) FROM unembedded"),
                twins=twins,
                uncompared=len(caring.Looked.kept(db).fresh(db)),
                expired=_one(db, expired, self._now()),
            )

    def summarise(self, banks: Sequence[str], chat: Chat) -> tuple[list[Summary], int]:
        """Have groups of old episodes of ``banks`` summed up; return what came of each, and how many groups are left.

        The episodes are kept, and ``undo`` of one takes it out of its summary. A model that does not answer ends it.
        """
        with self._reading() as db:
            groups = episodes(db, banks, self._now() - AGE)
        done: list[Summary] = []
        for group in groups[:GROUPS]:
            done.append(self._summed_up(group, chat))
            if done[-1].problem and not done[-1].text:
                break
        return done, len(groups) - len(done)

    def _index(self) -> bool:
        with self._reading() as db:
            if index.is_current(db):
                return False
        with self._writing() as db:
            index.bring_up_to_date(db)
        return True

    def _embed(self) -> int:
        total = 0
        while True:
            with self._reading() as db:
                if not self._vectors.is_waiting(db):
                    return total
            with self._writing() as db:
                made = self._vectors.catch_up(db, _EMBEDDED_AT_ONCE)
            if not made:
                return total
            total += made

    def _compare(self) -> int:
        end = self._now() + SECONDS
        with self._reading() as db:
            banks = [str(row[0]) for row in db.execute("SELECT DISTINCT bank FROM lessons ORDER BY bank").fetchall()]
            pairs, looked = caring.find(db, banks, caring.Looked.kept(db), lambda: self._now() >= end)
        with self._writing() as db:
            return caring.note(db, pairs, looked, self._now())

    def _summed_up(self, group: Group, chat: Chat) -> Summary:
        sources = tuple(str(number) for number in group.numbers)
        try:
            text = summary.checked(asked(chat, summary.prompt(group.texts)), group.texts)
        except LessonbookError as error:
            return Summary(sources, problem=str(error))
        with self._writing() as db:
            number = group.keep(db, self._vectors, text, self._now())
        if number is None:
            return Summary(sources, text=text, problem="they were changed while the model answered; nothing was stored")
        return Summary(sources, number, text)


class Group(Value):
    """Episodes of one bank that belong together, oldest first, with their texts."""

    bank: str
    component: str | None
    session: str
    numbers: tuple[int, ...]
    texts: tuple[str, ...]

    def keep(self, db: sqlite3.Connection, vectors: Vectors, text: str, now: float) -> str | None:
        """Keep what sums them up, and mark them as replaced by it; ``None`` where one of them was changed meanwhile."""
        if self._texts(db) != self.texts:
            return None
        told = {"sources": ", ".join(map(str, self.numbers)), "tool": SOURCE}
        told |= {"session_id": self.session} if self.session else {}
        importance = max(float(row[0]) for row in self._rows(db, "importance"))
        lesson = Lesson(
            text,
            source=SOURCE,
            importance=importance,
            veracity="inferred",
            memory_type="episode",
            metadata=told,
            component=self.component,
        )
        receipt = Teller(db, vectors, now).tell(self.bank, tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT).lesson)
        if receipt.outcome is not Outcome.STORED or receipt.id is None:
            return None
        replaced = {"invalid": now, "superseded_by": int(receipt.id)}
        for number in self.numbers:
            changing.change(db, vectors, number, SUMMARISED, replaced, now)
        return receipt.id

    def _texts(self, db: sqlite3.Connection) -> tuple[str, ...]:
        return tuple(
            tidy(text).text for text, gone in self._rows(db, "text, coalesce(forgotten, invalid)") if gone is None
        )

    def _rows(self, db: sqlite3.Connection, columns: str) -> list[tuple[Any, ...]]:
        marks = ", ".join("?" * len(self.numbers))
        query = f"SELECT {columns} FROM lessons WHERE id IN ({marks}) ORDER BY seen, id"
        return db.execute(query, self.numbers).fetchall()


def episodes(db: sqlite3.Connection, banks: Sequence[str], before: float) -> list[Group]:
    """Return the groups of episodes told last before ``before``: of one component, else of one session, oldest first.

    A group has as many as go into one question to a model; what is more waits for the next sleep. What a sleep summed
    up itself is not summed up again.
    """
    marks = ", ".join("?" * len(banks))
    rows = db.execute(
        "SELECT id, bank, text, component,"
        " CASE WHEN json_valid(metadata) THEN coalesce(json_extract(metadata, '$.session_id'), '') ELSE '' END"
        f" FROM lessons WHERE bank IN ({marks}) AND memory_type = 'episode' AND seen < ? AND source <> ?"
        " AND NOT pinned AND forgotten IS NULL AND invalid IS NULL ORDER BY seen, id",
        (*banks, before, SOURCE),
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


def asked(chat: Chat, prompt: str) -> str:
    """Return what the model answers. Raises ``ModelError`` where that is no text, and what it raises of ours."""
    try:
        said = chat(prompt)
    except LessonbookError:
        raise
    except Exception as error:  # a caller's own function may raise anything, and a group has to say what became of it
        raise ModelError(f"the editor model could not be asked: {reason(error)}") from error
    text = said.text if isinstance(said, Reply) else said
    if not isinstance(text, str):
        raise ModelError(f"the editor model answered with {type(text).__name__}, not with text")
    return text


def _one(db: sqlite3.Connection, query: str, *values: object) -> int:
    return int(db.execute(query, values).fetchone()[0])
