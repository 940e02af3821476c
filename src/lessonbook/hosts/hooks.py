"""``lessonbook hook session-start``: the one JSON object Claude Code and Codex expect, or nothing, and always exit 0.

Both hosts start this at every session and wait for it, so nothing heavy is imported, every source has a deadline, and
whatever is on standard input or broken on this machine costs at most a shorter briefing. Schema: the hooks pages of
both vendors; Codex refuses an object with members it does not know.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from json import dumps, loads
from pathlib import Path
from threading import Thread
from time import time
from typing import Any

from lessonbook.system.streams import reserve

SESSION_START = "session-start"
INPUT_SECONDS = 1.0
SOURCES_SECONDS = 4.0
_INPUT_MAX = 4 << 20
_USAGE = f"""\
usage: lessonbook hook {SESSION_START} [--no-learned]

Reads a coding agent's hook JSON on standard input and answers the briefing of its folder as hook JSON.
Claude Code and Codex run it; try it yourself:

  echo '{{"cwd": "."}}' | lessonbook hook {SESSION_START}"""


def main(words: Sequence[str]) -> int:
    """Answer one hook. Exit 0 whatever happens in ``session-start``; 1 for an event that is not answered here.

    Never 2: hosts take that as an order to block what the person was doing.
    """
    if words[:1] == [SESSION_START] and not {"-h", "--help"} & set(words):
        _answer_and_leave("--no-learned" not in words)
    print(_USAGE, file=sys.stdout if {"-h", "--help"} & set(words) else sys.stderr)
    return 0 if {"-h", "--help"} & set(words) else 1


def session_start(given: bytes, *, learned: bool = True, seconds: float = SOURCES_SECONDS) -> tuple[str, list[str]]:
    """Return the JSON text to print, empty where there is nothing to say, and notes for standard error.

    ``given`` is what the host wrote on our standard input; anything is accepted. Never raises.
    """
    try:
        from lessonbook.actions.brief import brief_here

        made = brief_here(_folder(given), now=time(), learned=learned, seconds=seconds)
    except Exception as error:  # noqa: BLE001  a session must start whatever is broken here; the doctor tells more
        return "", [f"No briefing: {type(error).__name__}; run `lessonbook doctor`."]
    if not made.text:
        return "", list(made.notes)
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": made.text}}
    return dumps(answer, ensure_ascii=False), list(made.notes)


def _answer_and_leave(learned: bool) -> None:
    """Print the answer and end this process at once: a source that still hangs is not waited for."""
    try:
        reserve()
        text, notes = session_start(_standard_input(), learned=learned)
        for note in notes:
            _write(2, f"lessonbook: {note}\n")
        if text:
            _write(1, f"{text}\n")
    except BaseException:  # noqa: BLE001  exit 0 whatever happens: a closed pipe, Ctrl-C, no memory left
        pass
    os._exit(0)


def _write(handle: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(handle, data) :]


def _standard_input() -> bytes:
    """Return what is on standard input; nothing where it is closed, a terminal, or does not end in time."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    read: list[bytes] = []
    reader = Thread(target=_read_all, args=(read,), daemon=True)
    reader.start()
    reader.join(INPUT_SECONDS)
    return b"".join(read)


def _read_all(into: list[bytes]) -> None:
    try:
        while sum(map(len, into)) < _INPUT_MAX and (part := os.read(0, 1 << 16)):
            into.append(part)
    except OSError:  # closed, or a folder: the same as nothing
        return


def _folder(given: bytes) -> Path:
    """Return the folder the session works in: the ``cwd`` the host names, else this process's own."""
    cwd = _table(given).get("cwd")
    try:
        here = Path.cwd()
    except OSError:  # removed under our feet
        here = Path("/")
    return here / cwd if isinstance(cwd, str) and "\0" not in cwd else here


def _table(given: bytes) -> Mapping[str, Any]:
    try:
        found = loads(given.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
