"""Changes single lessons of a bank for a person. Each change is kept in the lesson's history and can be undone.

Every function raises ``InputError`` where the bank has no lesson of that id or there is nothing to change.
"""

from __future__ import annotations

from collections.abc import Mapping

from lessonbook.actions.memory import Answer, as_document, change_text, excerpt
from lessonbook.core.care_ports import Erasing
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import NO_GLOBAL, Kept, Scope
from lessonbook.core.ports import Bank

_BACK = "`lessonbook memory undo {id}` takes that back"


def forget(memory: Bank, lesson: str) -> Answer:
    """Let a lesson never be recalled again."""
    return _done("forgot", memory.forget(lesson))


def invalidate(memory: Bank, lesson: str, by: str | None = None) -> Answer:
    """Say that a lesson no longer holds, and which one holds in its place."""
    kept = memory.invalidate(lesson, by)
    return _done(f"replaced by {kept.superseded_by}:" if by else "no longer holds:", kept)


def pin(memory: Bank, lesson: str, *, pinned: bool = True) -> Answer:
    """Keep a lesson from being proposed for merging or summed up, or no longer."""
    return _done("pinned" if pinned else "unpinned", memory.pin(lesson, pinned))


def undo(memory: Bank, lesson: str) -> Answer:
    """Take back the last change of a lesson that still stands."""
    change = next((one for one in memory.history(lesson) if not one.undone), None)
    kept = memory.undo(lesson)
    said = f"took back: {change_text(change)}\n" if change else ""
    return {"ok": True, "lesson": as_document(kept)}, f"{said}{kept.id}  {excerpt(kept.lesson.text)}"


def edit(memory: Bank, lesson: str, changes: Mapping[str, object]) -> Answer:
    """Change fields of ``core.lesson.Lesson`` by their names."""
    if changes.get("scope") == Scope.GLOBAL and Scope.GLOBAL not in memory.scopes:
        raise InputError(NO_GLOBAL)
    before = memory.get(lesson)
    kept = memory.update(lesson, changes)
    if kept == before:
        return {"ok": True, "lesson": as_document(kept), "changed": False}, f"{kept.id} is as it was"
    document, text = _done("changed", kept)
    return {**document, "changed": True}, text


def erase(memory: Erasing, lesson: str) -> Answer:
    """Remove a lesson for good, with its history and every trace of it in the bank's file. Nothing brings it back."""
    id = memory.get(lesson).id
    memory.erase(lesson)
    return {"ok": True, "id": id}, f"erased {id} for good; copies of the bank that were made before still hold it"


def _done(what: str, kept: Kept) -> Answer:
    text = f"{what} {kept.id}  {excerpt(kept.lesson.text)}\n{_BACK.format(id=kept.id)}"
    return {"ok": True, "lesson": as_document(kept)}, text
