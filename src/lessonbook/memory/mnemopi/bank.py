"""Stores and recalls lessons in the bank's file: each project's own bank, and one that every project recalls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lessonbook.core.errors import LessonbookError, StoreError
from lessonbook.core.lesson import EMPTY, Change, Kept, Lesson, Outcome, Recalled, Receipt, Scope
from lessonbook.core.tidy import tidy_lesson
from lessonbook.memory.mnemopi import recalls
from lessonbook.memory.mnemopi.connection import WAIT, BankFile, DamagedError
from lessonbook.memory.mnemopi.fields import CONTEXT_LIMIT, TEXT_LIMIT
from lessonbook.memory.mnemopi.rows import SHARED
from lessonbook.memory.mnemopi.searching import Searching
from lessonbook.memory.mnemopi.vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from lessonbook.memory.mnemopi.care import Care
    from lessonbook.memory.mnemopi.editing import Editing
    from lessonbook.memory.mnemopi.telling import Teller
    from lessonbook.memory.vectors.embedder import Embedder

    _T = TypeVar("_T")

BANK_FILE = "bank.db"
_CATCH_UP = 200
"""Lessons embedded before a recall: about 20 ms."""


def banks_of(project: str, scoping: str) -> tuple[str, ...]:
    """Return the banks that a project sees, the one that its own lessons go into first."""
    return {"global": (SHARED,), "per-project": (project,)}.get(scoping, (project, SHARED))


class MnemopiMemory:
    """One project's view of the bank's file at ``path``. Meets ``core.ports.Bank``; usable from several threads.

    ``project`` is the project's slug, ``now`` the clock in epoch seconds, ``wait`` how many seconds other writers are
    waited for, ``embedder`` what makes vectors, where it is installed. ``scoping`` is which banks the project sees: its
    own and the shared one, ``per-project`` its own alone, ``global`` the shared one alone. ``branch`` is kept with each
    lesson. The file is opened at the first use; an open that failed is tried again at the next.
    """

    name = "mnemopi"

    def __init__(
        self,
        path: Path,
        project: str,
        now: Callable[[], float],
        wait: float = WAIT,
        *,
        embedder: Embedder | None = None,
        scoping: str = "per-project-tagged",
        branch: str | None = None,
    ) -> None:
        self._banks = banks_of(project, scoping)
        self.scopes = frozenset[str]({Scope.PROJECT, Scope.GLOBAL} if SHARED in self._banks else {Scope.PROJECT})
        self._file = BankFile(path, wait)
        self._vectors = Vectors(embedder)
        self._branch = branch
        self._now = now
        self._opened_editing: Editing | None = None
        self._searching = Searching(self._vectors, self._banks)
        self._recalled: dict[int, int] = {}

    def store(self, lesson: Lesson) -> Receipt:
        """Keep the lesson in the bank of its scope, durably; told before, it keeps its id and gains the new context."""
        return self.store_many([lesson])[0]

    def store_many(self, lessons: Sequence[Lesson]) -> list[Receipt]:
        """Keep several lessons in one transaction: all of them durably, or none where it raises."""
        try:
            return self._tell(lessons)
        except DamagedError:
            said = self._mend()
        return [receipt.but(notes=(*receipt.notes, said)) for receipt in self._tell(lessons)]

    def recall(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return the lessons of its banks that fit ``query``, best first, each with the parts of its score."""
        found = self.search(query, limit)
        for one in found:
            self._recalled[int(one.id)] = self._recalled.get(int(one.id), 0) + 1
        return found

    def search(self, query: str, limit: int = 5) -> Sequence[Recalled]:
        """Return what ``recall`` does, for a person who looks: no lesson counts as used by that."""
        if limit < 1 or not query.strip() or not self._file.exists():
            return []
        return self._read(lambda: self._search(query, limit))

    def recent(self, limit: int = 20) -> Sequence[Recalled]:
        """Return the lessons of its banks told last, newest first."""
        if limit < 1 or not self._file.exists():
            return []
        return self._read(lambda: self._newest(limit))

    def count(self) -> int:
        """Return how many different lessons this project can recall, the shared ones included."""
        if not self._file.exists():
            return 0
        return self._read(self._counted)

    def get(self, lesson: str) -> Kept:
        """Return one lesson, forgotten or not. Raises ``InputError`` where its banks have none of that id."""
        return self._read(lambda: self._editing.get(lesson))

    def lessons(self, limit: int = 100, after: str | None = None, *, forgotten: bool = False) -> list[Kept]:
        """Return the lessons of its banks, newest first; with ``forgotten`` only those that were forgotten."""
        if not self._file.exists():
            return []
        return self._read(lambda: self._editing.lessons(limit, after, forgotten=forgotten))

    def update(self, lesson: str, changes: Mapping[str, object]) -> Kept:
        """Change fields of ``core.lesson.Lesson`` by name. Raises ``InputError``; nothing is changed then."""
        return self._read(lambda: self._editing.update(lesson, changes))

    def forget(self, lesson: str) -> Kept:
        """Never recall it again; ``undo`` brings it back."""
        return self._read(lambda: self._editing.forget(lesson))

    def invalidate(self, lesson: str, replacement: str | None = None) -> Kept:
        """Say that it no longer holds, and which lesson holds in its place; it is recalled last, and marked."""
        return self._read(lambda: self._editing.invalidate(lesson, replacement))

    def pin(self, lesson: str, pinned: bool = True) -> Kept:
        """Keep it from being proposed for merging, and raise it a little in every answer it fits."""
        return self._read(lambda: self._editing.pin(lesson, pinned))

    def undo(self, lesson: str) -> Kept:
        """Take back its last change that still stands. Raises ``InputError`` where there is none."""
        return self._read(lambda: self._editing.undo(lesson))

    def history(self, lesson: str) -> list[Change]:
        """Return its changes, newest first."""
        return self._read(lambda: self._editing.history(lesson))

    def erase(self, lesson: str) -> None:
        """Remove it with its history and every trace in the file. Final: nothing brings it back."""
        from lessonbook.memory.mnemopi import erasing

        self._read(lambda: erasing.erase(self._file, self._vectors, lambda db: self._editing.number(db, lesson)))

    @property
    def care(self) -> Care:
        """What a person does with the bank as a whole."""
        from lessonbook.memory.mnemopi.care import Care  # brings much that a lesson told or recalled does without

        if (self._recalled or recalls.are_noted(self._file.path)) and self._file.exists():
            with suppress(LessonbookError), self._file.writing(wait=0, durable=False) as db:
                self._count_recalls(db)
        return Care(self._file, self._vectors, self._banks, self._now, self._editing, self._read)

    def close(self) -> None:
        """Close the file; safe to call twice. How often lessons were recalled is noted, for the next that writes."""
        counts, self._recalled = self._recalled, {}
        if counts and self._file.exists():
            with suppress(LessonbookError):
                recalls.note(self._file.path, counts, self._now())
        self._file.close()

    @property
    def _editing(self) -> Editing:
        """What edits lessons; loaded when first asked for, since the start of a session only reads."""
        if self._opened_editing is None:
            from lessonbook.memory.mnemopi.editing import Editing

            self._opened_editing = Editing(
                self._file.reading, self._file.writing, self._vectors, self._banks, self._now
            )
        return self._opened_editing

    def _mend(self) -> str:
        from lessonbook.memory.mnemopi import mending

        return mending.mend(self._file, self._now())

    def _tell(self, lessons: Sequence[Lesson]) -> list[Receipt]:
        tidied = [tidy_lesson(lesson, TEXT_LIMIT, CONTEXT_LIMIT) for lesson in lessons]
        from lessonbook.memory.mnemopi.telling import Teller  # it brings all that is read out of a lesson

        self._vectors.get_ready(len(lessons))
        with self._file.writing() as db:
            self._count_recalls(db)
            teller = Teller(db, self._vectors, self._now())
            return [self._keep(teller, one.lesson, one.notes) for one in tidied]

    def _keep(self, teller: Teller, lesson: Lesson, notes: tuple[str, ...]) -> Receipt:
        if not lesson.text:
            return Receipt(Outcome.REFUSED, reason=EMPTY)
        bank = SHARED if lesson.scope is Scope.GLOBAL and SHARED in self._banks else self._banks[0]
        told = lesson if lesson.branch or not self._branch else lesson.but(branch=self._branch)
        receipt = teller.tell(bank, told)
        return receipt.but(notes=(*notes, *receipt.notes))

    def _search(self, query: str, limit: int) -> list[Recalled]:
        with self._file.reading() as db:
            if not self._vectors.is_waiting(db):
                return self._searching.search(db, query, limit, self._now())
        self._catch_up()
        with self._file.reading() as db:
            return self._searching.search(db, query, limit, self._now())

    def _newest(self, limit: int) -> list[Recalled]:
        with self._file.reading() as db:
            return self._searching.newest(db, limit, self._now())

    def _counted(self) -> int:
        with self._file.reading() as db:
            return self._searching.count(db)

    def _catch_up(self) -> None:
        """Embed what was written without an embedder, a little at each recall, and only when nobody else writes."""
        with suppress(LessonbookError), self._file.writing(wait=0) as db:
            self._vectors.catch_up(db, _CATCH_UP)

    def _count_recalls(self, db: sqlite3.Connection) -> None:
        counts, self._recalled = self._recalled, {}
        with suppress(LessonbookError):
            recalls.take(db, self._file.path)
        recalls.count(db, counts, self._now())

    def _read(self, act: Callable[[], _T]) -> _T:
        """Do ``act``. A damaged file is mended first; where that meant to set it aside, saying so is the answer."""
        try:
            return act()
        except DamagedError as error:
            said = self._mend()
            if not self._file.exists():
                raise StoreError(said) from error
        return act()
