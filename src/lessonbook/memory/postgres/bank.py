"""The bank of a team on a PostgreSQL server: each project's own lessons, and those that every project recalls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.lesson import EMPTY, Change, Kept, Lesson, Outcome, Recalled, Receipt, Scope
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory import replacing
from lessonbook.memory.mnemopi.bank import banks_of
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT, checked
from lessonbook.memory.mnemopi.rows import SHARED
from lessonbook.memory.postgres import changing
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.rows import COLUMNS, kept, shown
from lessonbook.memory.postgres.searching import search
from lessonbook.memory.postgres.telling import Teller
from lessonbook.memory.postgres.vectors import Vectors
from lessonbook.memory.vectors.embedder import Embedder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.memory.postgres.care import PostgresCare


_AT_END = 2.0
"""Seconds that noting what was recalled may take at the end."""


class PostgresMemory:
    """One project's view of a team's bank. Meets ``core.ports.Bank``; usable from several threads and machines.

    ``project`` is the project's slug, ``now`` the clock in epoch seconds. The server is first asked at the first use.
    """

    name = "postgres"

    def __init__(
        self,
        connection: Connection,
        project: str,
        now: Callable[[], float],
        *,
        embedder: Embedder | None = None,
        scoping: str = "per-project-tagged",
        branch: str | None = None,
    ) -> None:
        self._banks = banks_of(project, scoping)
        self.scopes = frozenset[str]({Scope.PROJECT, Scope.GLOBAL} if SHARED in self._banks else {Scope.PROJECT})
        self._connection, self._now, self._branch = connection, now, branch
        self._vectors = Vectors(embedder)
        self._recalled: dict[int, int] = {}

    def store(self, lesson: Lesson) -> Receipt:
        """Keep the lesson in the bank of its scope, durably; told before, it keeps its id and gains the new context."""
        tidied = tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT)
        told = tidied.lesson
        if not told.text:
            return Receipt(Outcome.REFUSED, reason=EMPTY)
        bank = self.bank_for(told.scope)
        told = told if told.branch or not self._branch else told.but(branch=self._branch)
        with self._writing(bank) as db:
            self._count_recalls(db)
            receipt = Teller(db, self._vectors, self._now()).tell(bank, told)
        return receipt.but(notes=(*tidied.notes, *receipt.notes))

    def bank_for(self, scope: Scope) -> str:
        """Return the bank that a lesson of a scope goes into."""
        return SHARED if scope is Scope.GLOBAL and SHARED in self._banks else self._banks[0]

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons of its banks that fit ``query``, best first, each with the parts of its score."""
        found = self.search(query, limit)
        for one in found:
            if one.id.isdecimal():
                self._recalled[int(one.id)] = self._recalled.get(int(one.id), 0) + 1
        return found

    def search(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return what ``recall`` does, for a person who looks: no lesson counts as used by that."""
        if limit < 1 or not query.strip():
            return []
        with self._connection.used() as db:
            return search(db, self._vectors, self._banks, query, limit, self._now())

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the lessons of its banks told last, newest first."""
        now = self._now()
        return [shown(one, 0.0, now) for one in self.lessons(limit)] if limit > 0 else []

    def count(self) -> int:
        """Return how many different lessons this project can recall, the shared ones included."""
        query = "SELECT count(DISTINCT same_hash) FROM lessons WHERE bank = ANY(%s) AND forgotten IS NULL"
        with self._connection.used() as db:
            return int(db.execute(query, (list(self._banks),)).fetchone()[0])

    def get(self, lesson: str) -> Kept:
        """Return one lesson, forgotten or not. Raises ``InputError`` where its banks have none of that id."""
        with self._connection.used() as db:
            return changing.get(db, self._number(db, lesson))

    def lessons(self, limit: int = 100, after: str | None = None, *, forgotten: bool = False) -> list[Kept]:
        """Return the lessons of its banks, newest first; with ``forgotten`` only those that were forgotten."""
        with self._connection.used() as db:
            where, values = "l.bank = ANY(%s)", [list[Any](self._banks)]
            if after is not None:
                where += " AND (l.seen, l.id) < (SELECT seen, id FROM lessons WHERE id = %s)"
                values.append(self._number(db, after))  # type: ignore[arg-type]
            where += f" AND l.forgotten IS {'NOT ' if forgotten else ''}NULL"
            query = f"SELECT {COLUMNS} FROM lessons l WHERE {where} ORDER BY l.seen DESC, l.id DESC LIMIT %s"
            return [kept(row) for row in db.execute(query, (*values, limit)).fetchall()]

    def update(self, lesson: str, changes: Mapping[str, object]) -> Kept:
        """Change fields of ``core.lesson.Lesson`` by name. Raises ``InputError``; nothing is changed then."""
        if not changes:
            raise InputError("There is nothing to change: name at least one field.")
        wanted: dict[str, Any] = checked(changes)
        with self._changing(lesson) as (db, number):
            before = changing.get(db, number)
            told = tidy_lesson(before.lesson.but(**wanted), TEXT_LIMIT, CONTEXT_LIMIT).lesson
            if not told.text:
                raise InputError("The text would be empty after cleaning; nothing was changed.")
            contexts = changing.contexts(db, number)
            if "context" in wanted:
                contexts = [told.context] if told.context else []
            bank = (SHARED if told.scope is Scope.GLOBAL else self._banks[0]) if "scope" in wanted else before.bank
            changing.rewrite(db, number, told, contexts, bank, "updated", self._now())
            self._vectors.keep(db, number, told.text)
            return changing.get(db, number)

    def forget(self, lesson: str) -> Kept:
        """Never recall it again; ``undo`` brings it back."""
        return self._mark(lesson, "forgotten", "forgotten", self._now(), "was forgotten already")

    def invalidate(self, lesson: str, replacement: str | None = None) -> Kept:
        """Say that it no longer holds, and which lesson holds in its place; it is recalled last, and marked."""
        with self._changing(lesson) as (db, number):
            wanted: dict[str, Any] = {"invalid": self._now()}
            if replacement is not None:
                wanted["superseded_by"] = self._replacing(db, number, replacement)
            elif changing.get(db, number).invalid is not None:
                raise InputError(f"Lesson {number} is marked as no longer holding already.")
            changing.change(db, number, "invalidated", wanted, self._now())
            return changing.get(db, number)

    def pin(self, lesson: str, pinned: bool = True) -> Kept:
        """Mark it as one to keep as it is."""
        verb, already = ("pinned", "is pinned already") if pinned else ("unpinned", "is not pinned")
        return self._mark(lesson, verb, "pinned", pinned, already)

    def undo(self, lesson: str) -> Kept:
        """Take back its last change that still stands. Raises ``InputError`` where there is none."""
        with self._changing(lesson) as (db, number):
            changing.undo(db, number)
            found = changing.get(db, number)
            self._vectors.keep(db, number, found.lesson.text)
            return found

    def history(self, lesson: str) -> list[Change]:
        """Return its changes, newest first."""
        with self._connection.used() as db:
            return changing.history(db, self._number(db, lesson))

    def erase(self, lesson: str) -> None:
        """Remove it with its history and its vector; the server's own backups and log are its keeper's."""
        with self._changing(lesson) as (db, number):
            db.execute("DELETE FROM lessons WHERE id = %s", (number,))

    @property
    def care(self) -> PostgresCare:
        """What a person does with the bank as a whole."""
        from lessonbook.memory.postgres.care import PostgresCare  # brings much that telling and recalling do without

        return PostgresCare(
            self._connection, self._vectors, self._banks, self._now, number=self._number, bank_for=self.bank_for
        )

    def close(self) -> None:
        """Close the connection; safe to call twice. How often lessons were recalled is noted first."""
        if self._recalled:
            with suppress(LessonbookError), self._connection.used(_AT_END) as db:
                self._count_recalls(db)
        self._connection.close()

    def _count_recalls(self, db: Any) -> None:
        counts, self._recalled = self._recalled, {}
        with db.cursor() as cursor:
            rows = [(count, self._now(), number) for number, count in counts.items()]
            cursor.executemany("UPDATE lessons SET recalled = recalled + %s, recalled_at = %s WHERE id = %s", rows)

    @contextmanager
    def _writing(self, bank: str) -> Iterator[Any]:
        """Give the connection inside a transaction that no other one writes the bank beside."""
        with self._connection.used() as db:
            self._connection.lock(db, bank)
            yield db

    @contextmanager
    def _changing(self, lesson: str) -> Iterator[tuple[Any, int]]:
        """Give the connection inside a transaction that writes the bank of ``lesson`` alone, and its row."""
        with self._connection.used() as db:
            bank = changing.get(db, self._number(db, lesson)).bank
        with self._writing(bank) as db:
            yield db, self._number(db, lesson)

    def _mark(self, lesson: str, verb: str, name: str, value: object, already: str) -> Kept:
        with self._changing(lesson) as (db, number):
            if bool(getattr(changing.get(db, number), name)) == bool(value):
                raise InputError(f"Lesson {number} {already}.")
            changing.change(db, number, verb, {name: value}, self._now())
            return changing.get(db, number)

    def _replacing(self, db: Any, number: int, replacement: str) -> int:
        """Return the row that takes the place of ``number``, which it must not, by any way, be replaced by itself."""
        other = self._number(db, replacement)

        def next_of(lesson: int) -> int | None:
            row = db.execute("SELECT superseded_by FROM lessons WHERE id = %s", (lesson,)).fetchone()
            return row[0] if row else None

        replacing.check(number, other, next_of)
        return other

    def _number(self, db: Any, lesson: str) -> int:
        if lesson.isascii() and lesson.isdigit() and len(lesson) < 19:
            query = "SELECT id FROM lessons WHERE id = %s AND bank = ANY(%s)"
            if db.execute(query, (int(lesson), list(self._banks))).fetchone():
                return int(lesson)
        raise InputError(f"There is no lesson {lesson[:40]!r} here; `lessonbook memory list` shows them.")
