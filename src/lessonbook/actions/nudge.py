"""Asks an agent at the end of a turn what it learned: after enough work, never twice in a row, never after an abort.

The text is always the same, so that it costs no cached prompt and tells nothing about the session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lessonbook.actions import session_notes
from lessonbook.core.briefing import CLOSING, REMINDER
from lessonbook.core.errors import LessonbookError
from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.system.settings import Settings

NUDGE = f"""\
{REMINDER}

Before you finish: did this turn show something that will matter again here, such as a command that only works one \
way, a wrong assumption that cost time, or a preference the person stated? If so, record it once with the `learn` \
tool (or `lessonbook learn "…"`): self-contained, with what, when and why. Record nothing that the code or the \
project's instructions already say, and no secrets. If there is nothing, finish without a word about this.

{CLOSING}"""
_TAIL = 16 << 20
"""How much of a transcript's end is looked at: many times what one turn writes."""
_PART = 1 << 18


class Turn(Value):
    """The end of a turn, as its agent tells it. ``calls`` is ``None`` where it does not count them itself."""

    calls: int | None
    transcript: Path | None
    quiet: bool
    """Whether it follows a nudge, was broken off, or is none to disturb."""


class Marks(Value):
    """The patterns that find, in one agent's transcript, a person's turn, lines that only look like one, and calls."""

    turn: bytes
    no_turn: bytes
    call: bytes


def nudge(settings: Settings, folder: Path, turn: Turn, marks: Marks) -> str:
    """Return what to say at the end of ``turn``, or nothing; ``folder`` holds the notes of its session."""
    if not (settings.learning and settings.autolearn_enabled and settings.memory_backend != "off"):
        return ""
    asked = session_notes.read(folder, session_notes.ASKED)
    last = asked.get("nudged") is True
    due = not turn.quiet and not last and _enough(turn, marks, settings.autolearn_min_tool_calls)
    if due or last:
        written = session_notes.write(folder, session_notes.ASKED, {**asked, "nudged": due})
        due = due and written  # where it cannot be noted it could come again and again
    return NUDGE if due else ""


def _enough(turn: Turn, marks: Marks, least: int) -> bool:
    if turn.calls is not None:
        return turn.calls >= least
    return turn.transcript is not None and calls_of_last_turn(turn.transcript, marks, least) >= least


def calls_of_last_turn(path: Path, marks: Marks, enough: int = 1 << 30) -> int:
    """Return how many tools were called since the person's last words, read from the transcript's end.

    ``enough`` ends the count early. Returns 0 where the file cannot be read.
    """
    if not marks.turn or not marks.call:
        return 0
    turn, call = re.compile(marks.turn), re.compile(marks.call)
    no_turn = re.compile(marks.no_turn) if marks.no_turn else None
    count = 0
    try:
        for line in _lines_from_the_end(path):
            if turn.search(line) and not (no_turn and no_turn.search(line)):
                return count
            count += sum(1 for _ in call.finditer(line))
            if count >= enough:
                return count
    except (OSError, LessonbookError):
        return 0
    return count


def _lines_from_the_end(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, last one first, as far as ``_TAIL``."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        at = os.fstat(handle).st_size
        stop, rest = max(0, at - _TAIL), b""
        while at > stop:
            start = max(stop, at - _PART)
            first, *lines = (os.pread(handle, at - start, start) + rest).split(b"\n")
            yield from reversed(lines)
            rest, at = first, start
        yield rest
    finally:
        os.close(handle)
