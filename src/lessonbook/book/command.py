"""The text form of the queue: what a terminal shows for ``/learned …`` (contract §2.5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lessonbook.book import queue, switch
from lessonbook.book.wording import done_text, row_text
from lessonbook.core.errors import LessonbookError, reason
from lessonbook.core.ports import Chat, Reply
from lessonbook.core.screen import printable

_HELP = "{cmd!r} is not a command: say /learned, /learned compact [ID], /learned on|off|status, or " + (
    "/learned diff|accept|reject ID"
)


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

    return compacting.compact(folder, id, chat or _editor, int(time.time()), lambda: secrets.token_hex(3))


def _editor(prompt: str) -> Reply:
    from lessonbook.system.chat import ask_editor
    from lessonbook.system.settings import places

    return ask_editor(prompt, places(), "compact")


def _answer(folder: Path, cmd: str, id: str, config_file: Path, now: int) -> str:
    if cmd in ("on", "off"):
        switch.set_enabled(config_file, cmd == "on")
    if cmd in ("on", "off", "status"):
        return f"learning is {'on' if switch.enabled(folder.parent, config_file) else 'off'}"
    if cmd == "list":
        return "\n".join(map(row_text, queue.candidates(folder))) or "nothing is pending"
    if cmd == "compact":
        return _compacted(compact(folder, id or None))
    acts: dict[str, Callable[[], dict[str, Any]]] = {
        "diff": lambda: queue.diff(folder, id),
        "accept": lambda: queue.accept(folder, id, now),
        "reject": lambda: queue.reject(folder, id),
    }
    if cmd not in acts:
        return _HELP.format(cmd=cmd)
    told = acts[cmd]()
    if not told["ok"]:
        return str(told["error"])
    return (told["diff"] or "(no change)") if cmd == "diff" else done_text(cmd, told)


def _compacted(told: dict[str, Any]) -> str:
    if not told["ok"]:
        return str(told["error"])
    size = f"AGENTS.md goes from {told['before']:,} to {told['after']:,} characters"
    return f"proposed {told['id']}: {size}; see it with /learned diff {told['id']}"
