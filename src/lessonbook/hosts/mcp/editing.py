"""``memory_edit``: reads and changes the lessons of a bank one by one; every change is kept and can be undone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lessonbook.core.errors import InputError, SetupError
from lessonbook.core.lesson import VERACITIES
from lessonbook.hosts.mcp.plain import plain
from lessonbook.hosts.mcp.schemas import answer, arguments, identity, number, share, table, text, texts, things
from lessonbook.hosts.mcp.surroundings import Here
from lessonbook.hosts.mcp.tools import Answer, Given, Tool

if TYPE_CHECKING:
    from lessonbook.core.lesson import Kept
    from lessonbook.core.ports import Bank

_CHANGING: dict[str, tuple[Callable[[Bank, Given], Kept], str]] = {
    "update": (lambda bank, given: bank.update(given["lesson"], given["changes"]), "changed"),
    "forget": (lambda bank, given: bank.forget(given["lesson"]), "forgotten"),
    "invalidate": (
        lambda bank, given: bank.invalidate(given["lesson"], given.get("replacement")),
        "outdated",
    ),
    "pin": (lambda bank, given: bank.pin(given["lesson"]), "pinned"),
    "unpin": (lambda bank, given: bank.pin(given["lesson"], False), "no longer pinned"),
    "undo": (lambda bank, given: bank.undo(given["lesson"]), "back to what it was before its last change"),
}
_ACTIONS = ("get", *_CHANGING, "history")
_TAKEN_BY = {"changes": "update", "replacement": "invalidate"}


def _memory_edit(here: Here, given: Given) -> Answer:
    from lessonbook.core.ports import Bank, Memory

    action, lesson = given["action"], given["lesson"]
    for name, taker in _TAKEN_BY.items():
        if name in given and action != taker:
            raise InputError(f"{name} belongs to the action {taker}. Nothing was changed.")
    if action == "update" and not given.get("changes"):
        raise InputError("changes must name at least one field to update. Nothing was changed.")
    bank: Memory = here.memory
    if not isinstance(bank, Bank):
        if here.settings.memory_backend == "off":
            bank.count()  # says how to switch a memory on
        raise SetupError(
            f"The {bank.name} memory keeps lessons that cannot be edited one by one; the mnemopi memory can "
            "(`lessonbook config set memory.backend mnemopi`)."
        )
    if action == "history":
        rows = [plain(change) for change in bank.history(lesson)]
        return Answer(_shown(rows) if rows else f"Lesson {lesson} was never changed.", {"id": lesson, "changes": rows})
    if action == "get":
        return _about(bank.get(lesson), None)
    act, done = _CHANGING[action]
    return _about(act(bank, given), f"Lesson {lesson} is {done}.")


def _about(kept: Kept, said: str | None) -> Answer:
    row = _safe(kept)
    return Answer(f"{said}\n{_shown(row)}" if said else _shown(row), {**({"text": said} if said else {}), **row})


def _safe(kept: Kept) -> dict[str, Any]:
    """Clean and redact once more: another program may have changed what is kept."""
    from lessonbook.core.tidy import tidy_lesson

    row: dict[str, Any] = plain(kept.but(lesson=tidy_lesson(kept.lesson).lesson))
    return row


def _shown(row: object) -> str:
    return json.dumps(row, ensure_ascii=False, indent=1)


_CHANGES = table(
    "For update: the fields to change, each with its new value; null takes a value away.",
    text=text("The lesson itself."),
    context=text("Where it comes from."),
    title=text("A few words that name it."),
    tags=texts("Words to group it by."),
    key=text("The name it is replaced under."),
    cue=text("When to think of it."),
    component=text("Which part of the project it is about."),
    evidence=text("What it rests on."),
    confidence=share("How sure it is, from 0 to 1."),
    importance=share("How much it matters, from 0 to 1."),
    veracity=text("How it is known.", VERACITIES),
    memory_type=text("What kind of thing it is, such as fact, decision or preference."),
    valid_until=number("Epoch seconds after which it no longer holds."),
    branch=text("The git branch it was learned on."),
)
MEMORY_EDIT = Tool(
    "memory_edit",
    "Read or correct one lesson",
    "Read, correct or retire one lesson of the memory by its id, which `recall` and `lessons` show. Use `update` for "
    "what is wrong in it, `invalidate` for what was right and no longer holds, `forget` for what should not come up "
    "again. Every change is kept: `history` shows them, and `undo` takes back the last one.",
    arguments(
        ("action", "lesson"),
        action=text("What to do.", _ACTIONS),
        lesson=identity("The id of the lesson."),
        changes=_CHANGES,
        replacement=identity("For invalidate: the id of the lesson that holds in its place."),
    ),
    answer(
        ("id",),
        id=text("The lesson's id."),
        text=text("What was done."),
        lesson={"type": "object", "description": "The lesson as it is now."},
        changes=things("For history: its changes, newest first."),
    ),
    _memory_edit,
    destructive=True,
    idempotent=False,
)
