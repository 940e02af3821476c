"""The text form of the queue: what a terminal shows for ``/learned …`` (contract §2.5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lessonbook.book import queue, rejecting, remembered, reviewing, switch, undoing, verifying
from lessonbook.book.sentences import EDITOR
from lessonbook.book.wording import (
    done_text,
    look_lines,
    many_text,
    rejected_text,
    row_text,
    undone_text,
    verified_text,
)
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import LessonbookError, reason
from lessonbook.core.screen import printable

_HELP = "{cmd!r} is not a command: say /learned, /learned compact [ID], /learned on|off|status, " + (
    "/learned rejected, /learned verify, or /learned diff|accept|reject|edit|split|undo|unreject ID"
)
_EDIT = "an edit needs the new text: `lessonbook learned edit {id}` in a terminal opens it in your editor"
_SEEN = "--acknowledge"


def answer(folder: Path, arg: str, config_file: Path, now: int) -> str:
    """Return the text a terminal shows for ``arg``; every trouble is a sentence in it, nothing is raised.

    What others wrote is made safe to print: control and hidden characters are shown, never sent to the terminal.
    """
    cmd, _, id = (arg.strip() or "list").partition(" ")
    try:
        return printable(_answer(folder, cmd, id.strip(), config_file, now))
    except LessonbookError as error:
        return printable(str(error))
    except OSError as error:
        return printable(f"{folder} cannot be worked on: {reason(error)}")


def compact(folder: Path, id: str | None) -> dict[str, Any]:
    """Say what a compaction needs: ``{ok: False, error}``; a bad or unknown ``id`` is named first."""
    if id and not is_candidate_id(id):
        return {"ok": False, "error": f"{id!r} is not the id of a candidate; the list shows the ids"}
    if id:
        told = queue.diff(folder, id)
        if not told["ok"]:
            return {"ok": False, "error": told["error"]}
    return {"ok": False, "error": EDITOR}


def _answer(folder: Path, cmd: str, id: str, config_file: Path, now: int) -> str:
    if cmd in ("on", "off"):
        switch.set_enabled(config_file, cmd == "on")
    if cmd in ("on", "off", "status"):
        return f"learning is {'on' if switch.enabled(folder.parent, config_file) else 'off'}"
    if cmd == "list":
        return "\n".join(map(row_text, reviewing.reviewed(folder))) or "nothing is pending"
    if cmd == "rejected":
        return "\n".join(map(rejected_text, remembered.rejected(folder))) or "nothing was rejected"
    if cmd == "verify":
        return verified_text(verifying.verify(folder))
    if cmd == "compact":
        return str(compact(folder, id or None)["error"])
    if cmd == "edit":
        return _EDIT.format(id=id or "ID")
    acts: dict[str, Callable[[], dict[str, Any]]] = {
        "diff": lambda: queue.diff(folder, id),
        "accept": lambda: _accept(folder, id, config_file, now),
        "reject": lambda: queue.reject(folder, id.partition(" ")[0], now, id.partition(" ")[2]),
        "split": lambda: _split(folder, id, config_file, now),
        "undo": lambda: undoing.undo(folder, id, now),
        "unreject": lambda: rejecting.unreject(folder, id),
    }
    if cmd not in acts:
        return _HELP.format(cmd=cmd)
    told = acts[cmd]()
    if "accepted" in told:
        return many_text(told)
    if not told["ok"]:
        return str(told["error"])
    if cmd == "diff":
        looks = [line for row in reviewing.reviewed(folder, only=id) for line in look_lines(row)]
        return "\n".join([*looks, told["diff"] or "(no change)"])
    if cmd == "unreject":
        return f"{id} waits for review again"
    return undone_text(told) if cmd == "undo" else done_text(cmd, told)


def _accept(folder: Path, words: str, config_file: Path, now: int) -> dict[str, Any]:
    """Accept one candidate, or several whose ids stand side by side; the signs are seen where the last word says so."""
    from lessonbook.book.many import accept_many
    from lessonbook.system.settings import reviewer

    asked, by = words.split(), reviewer(config_file)
    seen = asked[-1:] == [_SEEN]
    ids = asked[:-1] if seen else asked
    if len(ids) > 1:
        return accept_many(folder, ids, now, by, seen)
    return queue.accept(folder, ids[0] if ids else words, now, by, acknowledged=seen)


def _split(folder: Path, words: str, config_file: Path, now: int) -> dict[str, Any]:
    from lessonbook.book.splitting import split
    from lessonbook.system.settings import reviewer

    id, _, way = words.partition(" ")
    return split(folder, id, way.strip().removeprefix("by ") or "file", now, reviewer(config_file))
