"""The text form of the queue: what a terminal shows for ``/learned …`` (contract §2.5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lessonbook.book import exact, queue, rejecting, remembered, reviewing, switch, undoing, verifying
from lessonbook.book.wording import (
    commit_line,
    done_text,
    look_lines,
    many_text,
    rejected_text,
    row_text,
    undone_text,
    verified_text,
)
from lessonbook.core.errors import LessonbookError, reason
from lessonbook.core.ports import Chat, Reply
from lessonbook.core.screen import printable, quoted, short

_HELP = "{cmd} is not a command: say /learned, /learned compact [ID], /learned on|off|status, " + (
    "/learned rejected, /learned verify, or /learned diff|accept|reject|edit|split|undo|unreject ID; "
    "ID@COMMIT decides on the commit that diff showed"
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


def compact(folder: Path, id: str | None, chat: Chat | None = None) -> dict[str, Any]:
    """Propose a shorter ``AGENTS.md``, by this machine's editor model where ``chat`` is not given.

    Returns ``{ok, id, before, after}`` in characters, or ``{ok: False, error}``; see ``compacting.compact``.
    """
    import secrets
    import time

    from lessonbook.book import compacting

    return compacting.compact(folder, id, chat or editor, int(time.time()), lambda: secrets.token_hex(3))


def editor(prompt: str) -> Reply:
    """Ask this machine's editor model, as a compaction does. Raises ``SetupError`` and ``ModelError``."""
    from lessonbook.system.chat import ask_editor
    from lessonbook.system.settings import places

    return ask_editor(prompt, places(), "compact")


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
        return _compacted(compact(folder, id or None))
    if cmd == "edit":
        return _EDIT.format(id=short(id) or "ID")
    acts: dict[str, Callable[[], dict[str, Any]]] = {
        "accept": lambda: _accept(folder, id, config_file, now),
        "reject": lambda: _reject(folder, id, now),
        "split": lambda: _split(folder, id, config_file, now),
        "undo": lambda: undoing.undo(folder, id, now),
        "unreject": lambda: rejecting.unreject(folder, id),
    }
    if cmd == "diff":
        return _diff(folder, id)
    if cmd not in acts:
        return _HELP.format(cmd=quoted(cmd))
    told = acts[cmd]()
    if "accepted" in told:
        return many_text(told)
    if not told["ok"]:
        return str(told["error"])
    if cmd == "unreject":
        return f"{id} waits for review again"
    return undone_text(told) if cmd == "undo" else done_text(cmd, told)


def _diff(folder: Path, id: str) -> str:
    told, row = reviewing.explained(folder, id)
    if row is None:
        return str(told["error"])
    return "\n".join([*look_lines(row), commit_line(row), told["diff"] or "(no change)"])


def _reject(folder: Path, words: str, now: int) -> dict[str, Any]:
    asked, _, reason = words.partition(" ")
    id, commit = exact.parted(asked)
    return queue.reject(folder, id, now, reason, commit)


def _accept(folder: Path, words: str, config_file: Path, now: int) -> dict[str, Any]:
    """Accept one candidate, or several whose ids stand side by side; the signs are seen where the last word says so."""
    from lessonbook.book.many import accept_many
    from lessonbook.system.settings import reviewer

    asked, by = words.split(), reviewer(config_file)
    seen = asked[-1:] == [_SEEN]
    ids, commits = exact.named(asked[:-1] if seen else asked)
    if len(ids) > 1:
        return accept_many(folder, ids, now, by, seen, commits)
    id = ids[0] if ids else words
    return queue.accept(folder, id, now, by, acknowledged=seen, commit=commits.get(id))


def _split(folder: Path, words: str, config_file: Path, now: int) -> dict[str, Any]:
    from lessonbook.book.splitting import split
    from lessonbook.system.settings import reviewer

    asked, _, way = words.partition(" ")
    id, commit = exact.parted(asked)
    return split(folder, id, way.strip().removeprefix("by ") or "file", now, reviewer(config_file), commit)


def _compacted(told: dict[str, Any]) -> str:
    if not told["ok"]:
        return str(told["error"])
    size = f"AGENTS.md goes from {told['before']:,} to {told['after']:,} characters"
    return f"proposed {told['id']}: {size}; see it with /learned diff {told['id']}"
