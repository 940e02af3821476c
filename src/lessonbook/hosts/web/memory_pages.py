"""The lessons in memory: found, with why; shown whole; edited, forgotten, pinned, and every change taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lessonbook.actions import memory as looking
from lessonbook.actions import memory_changes as changing
from lessonbook.actions import memory_edit
from lessonbook.actions.memory import Answer
from lessonbook.actions.recall import recall
from lessonbook.core.care import Wanted
from lessonbook.core.errors import InputError, SetupError, StoreError
from lessonbook.core.ports import Bank, Delivering, Memory
from lessonbook.hosts.web.forms import Form, UnfitError
from lessonbook.hosts.web.notices import Notice
from lessonbook.hosts.web.site import Site
from lessonbook.memory.registry import open_memory
from lessonbook.system.projects import identify

_LISTED = 50
_FOUND = 20
NO_MEMORY = "No memory is on; `lessonbook config set memory.backend mnemopi` keeps lessons in one file on this machine."
NO_BANK = {
    "local": "This memory is a plain file: its lessons can be looked through here, and changed in the file itself.",
    "hindsight": (
        "These lessons are on a server: they can be looked through here, and removed one by one with "
        "`lessonbook memory erase ID`."
    ),
}


def memories(site: Site, request: Request) -> Response:
    """Show the newest lessons, or those that fit what is asked for, each with what its score is made of."""
    said = request.query_params.get
    query, forgotten = said("q", ""), said("forgotten", "") == "yes"
    values: dict[str, Any] = {"query": query, "forgotten": forgotten, "problem": "", "after": None, "listed": []}
    values |= {"found": [], "is_bank": False, "older": said("after", "")}
    try:
        with _opened(site) as memory:
            values["is_bank"] = isinstance(memory, Bank)
            values |= _looked(memory, query, forgotten, said("after", "") or None)
    except SetupError as error:
        values["problem"] = str(error)
    return site.page(request, "memories.html", **values)


def _looked(memory: Memory, query: str, forgotten: bool, after: str | None) -> dict[str, Any]:
    if query.strip():
        found = recall(memory, query, _FOUND, counts=False)
        return {"found": found, "problem": _said("", memory)}
    if not isinstance(memory, Bank):
        return {"found": memory.recent(_LISTED), "problem": _said(NO_BANK.get(memory.name, ""), memory)}
    try:
        document, _ = looking.listed(memory.care, Wanted(forgotten=forgotten), _LISTED, after)  # type: ignore[attr-defined]
    except StoreError as error:
        if not isinstance(memory, Delivering):
            raise
        return {"found": memory.recent(_LISTED), "problem": f"Only what waits here is shown. {error}"}
    return {"listed": document["lessons"], "after": document["after"]}


def _said(about: str, memory: Memory) -> str:
    trouble = memory.trouble if isinstance(memory, Delivering) else ""
    return " ".join(filter(None, (about, trouble and f"Only what was told on this machine is shown. {trouble}")))


def lesson(site: Site, request: Request) -> Response:
    """Show one lesson with all that belongs to it."""
    with _opened_bank(site) as memory:
        told, _ = looking.shown(memory.care, request.query_params.get("id", ""))
        text = memory_edit.as_file(memory.get(str(told["lesson"]["id"])).lesson)
    changes = _changes(site, str(told["lesson"]["id"]))
    return site.page(
        request, "lesson.html", lesson=told["lesson"], text=text, written=text, changes=changes, problem=""
    )


def _changes(site: Site, id: str) -> list[str]:
    with _opened_bank(site) as memory:
        return [looking.change_text(one) for one in memory.history(id)]


def change(site: Site, request: Request, form: Form) -> Response:
    """Forget, pin, or take back the last change of a lesson."""
    id, what = form.one("id"), form.one("what")
    acts: dict[str, Callable[[Bank], Answer]] = {
        "forget": lambda memory: changing.forget(memory, id),
        "pin": lambda memory: changing.pin(memory, id),
        "unpin": lambda memory: changing.pin(memory, id, pinned=False),
        "undo": lambda memory: changing.undo(memory, id),
    }
    if what not in acts:
        raise UnfitError(400, f"Say what to do: {', '.join(acts)}.")
    return _changed(site, id, acts[what])


def save(site: Site, request: Request, form: Form) -> Response:
    """Change the fields of a lesson that the person changed."""
    id, written = form.one("id"), form.text("text")
    if written == form.text("before"):
        return site.go("/lesson", Notice("It is as it was."), id=id)
    try:
        return _changed(site, id, lambda memory: _edited(memory, id, form))
    except InputError as error:
        with _opened_bank(site) as memory:
            told, _ = looking.shown(memory.care, id)
        changes = _changes(site, id)
        values = {"lesson": told["lesson"], "text": form.text("before"), "changes": changes}
        return site.page(request, "lesson.html", 409, written=written, problem=str(error), **values)


def _edited(memory: Bank, id: str, form: Form) -> Answer:
    kept = memory.get(id)
    if memory_edit.as_file(kept.lesson) != form.text("before"):
        raise InputError("The lesson has changed since it was shown; take over what you want and save again.")
    changes = memory_edit.changed(kept.lesson, form.text("text"))
    if not changes:
        return {"ok": True}, "It is as it was."
    return changing.edit(memory, id, changes)


def _changed(site: Site, id: str, act: Callable[[Bank], Answer]) -> Response:
    with _opened_bank(site) as memory:
        _, text = act(memory)
    said = text.partition("\n`")[0]
    return site.go("/lesson", Notice(f"{said[:1].upper()}{said[1:]}"), id=id)


@contextmanager
def _opened(site: Site) -> Iterator[Memory]:
    """Give the folder's memory and close it afterwards. Raises ``SetupError`` with advice where none is on."""
    settings = site.settings()
    if settings.memory_backend == "off":
        raise SetupError(NO_MEMORY)
    memory = open_memory(settings, identify(site.cwd), time, site.cwd)
    try:
        yield memory
    finally:
        memory.close()


@contextmanager
def _opened_bank(site: Site) -> Iterator[Any]:
    with _opened(site) as memory:
        if not isinstance(memory, Bank):
            raise SetupError(NO_BANK.get(memory.name, f"The {memory.name} memory has no lessons to change one by one."))
        yield memory


SHOWN: dict[str, Callable[[Site, Request], Response]] = {"/memories": memories, "/lesson": lesson}
DONE: dict[str, Callable[[Site, Request, Form], Response]] = {"/lesson-change": change, "/lesson-save": save}
