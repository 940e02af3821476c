"""What a person does with a project's lessons on a Hindsight server: look through them, carry them in and out, erase.

The server is asked for its documents, each of which is a lesson as it was told; what waits here is said with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from lessonbook.core.care import Imported, Shown, Taken, Told, Wanted
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.lesson import NO_GLOBAL, Kept, Lesson, Outcome, Scope
from lessonbook.core.tidy import tidy, tidy_lesson
from lessonbook.memory.hindsight import items
from lessonbook.memory.hindsight.banks import own_tags
from lessonbook.memory.hindsight.client import Client, Scoped
from lessonbook.memory.importing import json_lines
from lessonbook.memory.outbox.sending import SendError

AT_ONCE = 100
_T = TypeVar("_T")


class HindsightCare:
    """Meets ``core.care_ports.Looking``, ``Exporting`` and ``Receiving``, and erases.

    ``store`` tells one lesson, ``erased`` takes a document out of the outbox, ``limit`` is how many seconds one request
    may take. A server that does not answer raises ``StoreError``.
    """

    def __init__(
        self,
        client: Client,
        scoped: Scoped,
        store: Callable[[Lesson], Any],
        erased: Callable[[str], bool],
        limit: float,
    ) -> None:
        self._client, self._scoped, self._limit = client, scoped, limit
        self._store, self._erased = store, erased

    def lessons(self, wanted: Wanted, limit: int = 100, after: str | None = None) -> list[Kept]:
        """Return the lessons on the server that are wanted, newest first."""
        if wanted.but(tag=None) != Wanted():
            raise InputError(
                "A Hindsight server narrows a list down by --tag alone; `lessonbook recall` finds the rest."
            )
        found, is_past = list[Kept](), after is None
        for one in self._documents():
            tags = [tag.casefold() for tag in own_tags(tuple(map(str, one.get("tags") or ())))]
            if is_past and (wanted.tag is None or wanted.tag.casefold() in tags):
                found.append(self._kept(self._whole(str(one.get("id")))))
            is_past = is_past or one.get("id") == after
            if len(found) == limit:
                break
        if not is_past:
            raise _unknown(str(after))
        return found

    def show(self, lesson: str) -> Shown:
        """Return one lesson with what the server knows of it."""
        found = self._kept(self._whole(lesson))
        told = (Told(found.lesson.context, {}, found.created),) if found.lesson.context else ()
        return Shown(found, told, (), (), (), (), (), ())

    def erase(self, lesson: str) -> None:
        """Remove a lesson from the server and from the outbox here, for good."""
        there = self._asked(lambda: self._client.remove(self._scoped.bank, lesson, self._limit))
        if not self._erased(lesson) and not there:
            raise _unknown(lesson)

    @contextmanager
    def exported(self, *, forgotten: bool = False, every_bank: bool = False) -> Iterator[Iterator[str]]:
        """Give the lines of an export, newest first."""
        if every_bank:
            raise InputError("A Hindsight server exports the lessons of one project: leave out --everywhere.")
        yield self._lines()

    def bank_for(self, scope: Scope) -> str:
        """Return the server's bank. Raises ``InputError`` for a scope it does not keep apart."""
        if scope is Scope.GLOBAL:
            raise InputError(NO_GLOBAL)
        return self._scoped.bank

    def is_kept_in(self, path: Path) -> bool:
        """Whether a file is what the lessons are kept in: none is."""
        return False

    def receive(self, lessons: Iterable[tuple[str, Imported]]) -> Taken:
        """Queue lessons for this project, those that hold; return what became of them."""
        taken = Taken()
        for _, one in lessons:
            if one.forgotten is not None or one.invalid is not None or one.superseded_by:
                taken.notes["left out, as it was forgotten or no longer holds"] += 1
                continue
            receipt = self._store(one.lesson.but(scope=Scope.PROJECT))
            if receipt.outcome is Outcome.REFUSED:
                raise StoreError(str(receipt.reason))
            if receipt.outcome is Outcome.QUEUED:
                taken.stored[self._scoped.bank] += 1
            else:
                taken.known += 1
        return taken

    def _lines(self) -> Iterator[str]:
        yield json_lines.header()
        for one in self._documents():
            found = self._kept(self._whole(str(one.get("id"))))
            yield json_lines.line(found.but(id=""), f"{json_lines.MARK}:hindsight:{found.bank}:{found.id}")

    def _documents(self) -> Iterator[Mapping[str, Any]]:
        """Yield what the server lists of each lesson, the newest first; what was said in sessions is left out."""
        offset = 0
        while True:
            page = self._asked(
                lambda at=offset: self._client.documents(self._scoped, AT_ONCE, at, self._limit)  # type: ignore[misc]
            )
            rows = page.get("items")
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, dict) and "kind:session" not in (row.get("tags") or ()):
                    yield row
            if not isinstance(rows, list) or len(rows) < AT_ONCE:
                return
            offset += len(rows)

    def _whole(self, id: str) -> Mapping[str, Any]:
        found = self._asked(lambda: self._client.document(self._scoped.bank, id, self._limit))
        tags = found.get("tags") or []
        if not found or (tags and not set(map(str, tags)) & set(self._scoped.tags)):
            raise _unknown(id)
        return found

    def _kept(self, document: Mapping[str, Any]) -> Kept:
        """Return a document as the lesson that was told."""
        words, contexts = items.apart(str(document.get("original_text") or ""))
        params, metadata = (
            found if isinstance(found := document.get(name), dict) else {}
            for name in ("retain_params", "document_metadata")
        )
        beside = metadata or (params.get("metadata") if isinstance(params.get("metadata"), dict) else {}) or {}
        told = {name: tidy(str(beside[name])).text for name in items.KEPT if beside.get(name)}
        confidence = told.pop("confidence", None)
        lesson = Lesson(
            words,
            contexts or str(params.get("context") or "") or None,
            tags=own_tags(tuple(map(str, document.get("tags") or ()))),
            source=str(beside.get("source") or Lesson("").source),
            confidence=_share(confidence),
        ).but(**told)
        created, seen = (items.epoch(document.get(name)) for name in ("created_at", "updated_at"))
        at = math.nan if created is None else created
        return Kept(str(document.get("id")), tidy_lesson(lesson).lesson, self._scoped.bank, at, seen or at)

    def _asked(self, ask: Callable[[], _T]) -> _T:
        try:
            return ask()
        except SendError as error:
            raise StoreError(error.said) from error


def _share(told: str | None) -> float | None:
    try:
        return min(1.0, max(0.0, float(told))) if told else None
    except ValueError:
        return None


def _unknown(lesson: str) -> InputError:
    return InputError(f"There is no lesson {lesson[:60]!r} here; `lessonbook memory list` shows them.")
