"""Reads and changes the lessons of a bank one by one: every change is kept and can be undone, but for ``erase``."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Change, Kept, Scope
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory import replacing
from lessonbook.memory.mnemopi import changing, fields
from lessonbook.memory.mnemopi.rows import COLUMNS, SHARED, columns, kept
from lessonbook.memory.mnemopi.vectors import Vectors

Transaction = Callable[[], AbstractContextManager[sqlite3.Connection]]


class Editing:
    """What ``core.ports.Bank`` adds to a memory, for the banks one project sees."""

    def __init__(
        self,
        reading: Transaction,
        writing: Transaction,
        vectors: Vectors,
        banks: Sequence[str],
        now: Callable[[], float],
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._vectors = vectors
        self._banks = tuple(banks)
        self._now = now

    def get(self, lesson: str) -> Kept:
        """Return one lesson, forgotten or not. Raises ``InputError`` where these banks have none of that id."""
        with self._reading() as db:
            return self._get(db, self._number(db, lesson))

    def lessons(self, limit: int = 100, after: str | None = None, *, forgotten: bool = False) -> list[Kept]:
        """Return the lessons of these banks, newest first; with ``forgotten`` only those that were forgotten.

        ``after`` is the id of the last lesson of the page before.
        """
        with self._reading() as db:
            where, values = f"l.bank IN ({', '.join('?' * len(self._banks))})", [*self._banks]
            if after is not None:
                number = self._number(db, after)
                where += " AND (l.seen, l.id) < (SELECT seen, id FROM lessons WHERE id = ?)"
                values.append(str(number))
            where += f" AND l.forgotten IS {'NOT ' if forgotten else ''}NULL"
            query = f"SELECT {COLUMNS} FROM lessons l WHERE {where} ORDER BY l.seen DESC, l.id DESC LIMIT ?"
            return [kept(row) for row in db.execute(query, (*values, limit)).fetchall()]

    def update(self, lesson: str, changes: Mapping[str, object]) -> Kept:
        """Change fields of ``core.lesson.Lesson`` by name. Raises ``InputError``; nothing is changed then."""
        if not changes:
            raise InputError("There is nothing to change: name at least one field.")
        checked = fields.checked(changes)
        with self._writing() as db:
            number = self._number(db, lesson)
            before = self._get(db, number).lesson
            tidied = tidy_lesson(before.but(**checked), fields.TEXT_LIMIT, fields.CONTEXT_LIMIT).lesson
            if not tidied.text:
                raise InputError("The text would be empty after cleaning; nothing was changed.")
            told = columns(tidied)
            wanted = {name: told[name] for name in checked if name in told}
            if "text" in checked:
                wanted["same"] = told["same"]
            if "scope" in checked:
                wanted["bank"] = self._bank(tidied.scope)
            changing.change(db, self._vectors, number, "updated", wanted, self._now())
            return self._get(db, number)

    def forget(self, lesson: str) -> Kept:
        """Never recall it again; ``undo`` brings it back. Raises ``InputError`` when it was forgotten already."""
        return self._mark(lesson, "forgotten", {"forgotten": self._now()}, "was forgotten already")

    def invalidate(self, lesson: str, replacement: str | None = None) -> Kept:
        """Say that it no longer holds, and which lesson holds in its place; it is recalled last, and marked."""
        with self._writing() as db:
            number = self._number(db, lesson)
            wanted: dict[str, object] = {"invalid": self._now()}
            if replacement is not None:
                wanted["superseded_by"] = self._replacing(db, number, replacement)
            elif self._get(db, number).invalid is not None:
                raise InputError(f"Lesson {number} is marked as no longer holding already.")
            changing.change(db, self._vectors, number, "invalidated", wanted, self._now())
            return self._get(db, number)

    def pin(self, lesson: str, pinned: bool = True) -> Kept:
        """Keep it from being proposed for merging, and raise it a little in every answer it fits."""
        verb, already = ("pinned", "is pinned already") if pinned else ("unpinned", "is not pinned")
        return self._mark(lesson, verb, {"pinned": int(pinned)}, already)

    def undo(self, lesson: str) -> Kept:
        """Take back its last change that still stands. Raises ``InputError`` where there is none."""
        with self._writing() as db:
            number = self._number(db, lesson)
            changing.undo(db, self._vectors, number)
            return self._get(db, number)

    def history(self, lesson: str) -> list[Change]:
        """Return its changes, newest first."""
        with self._reading() as db:
            return changing.history(db, self._number(db, lesson))

    def number(self, db: sqlite3.Connection, lesson: str) -> int:
        """Return the row of an id these banks have. Raises ``InputError`` for any other."""
        return self._number(db, lesson)

    def _mark(self, lesson: str, verb: str, wanted: Mapping[str, object], already: str) -> Kept:
        with self._writing() as db:
            number = self._number(db, lesson)
            name, value = next(iter(wanted.items()))
            found = self._get(db, number)
            if bool(getattr(found, name)) == bool(value):
                raise InputError(f"Lesson {number} {already}.")
            changing.change(db, self._vectors, number, verb, wanted, self._now())
            return self._get(db, number)

    def _replacing(self, db: sqlite3.Connection, number: int, replacement: str) -> int:
        """Return the row that takes the place of ``number``, which it must not, by any way, be replaced by itself."""
        other = self._number(db, replacement)

        def next_of(lesson: int) -> int | None:
            row = db.execute("SELECT superseded_by FROM lessons WHERE id = ?", (lesson,)).fetchone()
            return row[0] if row else None

        replacing.check(number, other, next_of)
        return other

    def _get(self, db: sqlite3.Connection, number: int) -> Kept:
        return kept(db.execute(f"SELECT {COLUMNS} FROM lessons l WHERE l.id = ?", (number,)).fetchone())

    def _number(self, db: sqlite3.Connection, lesson: str) -> int:
        if lesson.isascii() and lesson.isdigit() and len(lesson) < 19:
            found = db.execute("SELECT bank FROM lessons WHERE id = ?", (int(lesson),)).fetchone()
            if found and found[0] in self._banks:
                return int(lesson)
        raise InputError(f"There is no lesson {lesson[:40]!r} here; `lessonbook memory list` shows them.")

    def _bank(self, scope: Scope) -> str:
        return SHARED if scope is Scope.GLOBAL else self._banks[0]
