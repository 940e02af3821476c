"""Looks at a memory on a server for the doctor: whether it answers, and what waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.actions.check import Check, Level
from lessonbook.core.errors import LessonbookError
from lessonbook.core.ports import Delivering, Memory
from lessonbook.memory import aside
from lessonbook.memory.off import OffMemory
from lessonbook.memory.outbox.items import WAITING, State
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.memory.registry import BACKENDS, open_memory
from lessonbook.memory.sqlite_file import DamagedError
from lessonbook.system.projects import identify
from lessonbook.system.settings import Settings

_ADDRESS = {
    "hindsight": "`lessonbook config set hindsight.url http://localhost:8888`, or wherever it runs.",
    "postgres": "`lessonbook config set postgres.url postgresql://HOST/DATABASE`, and postgres.team.",
}
_WAITS = "`lessonbook outbox` lists them, `lessonbook outbox flush` sends now; nothing is lost meanwhile."
_OLD = "All that could be read of it is in the outbox; delete it when you need it no more."
_DAMAGED = "The next use goes on in a new file with all that can be read of it, and keeps the old one."
_ASIDE = "`lessonbook outbox` says why; `lessonbook outbox retry` tries again, `lessonbook outbox drop` removes."


def look(settings: Settings, cwd: Path, now: float) -> Iterator[Check]:
    """Yield what is found of the server and of what waits for it."""
    do = _ADDRESS[settings.memory_backend]
    try:
        memory = open_memory(settings, identify(cwd), lambda: now, cwd)
    except LessonbookError as error:
        yield Check("memory", Level.PROBLEM, str(error), do)
        return
    if isinstance(memory, OffMemory):
        label = BACKENDS[settings.memory_backend].label
        yield Check("memory", Level.PROBLEM, f"no {label} server is configured", do)
        return
    if is_settled(settings):
        yield _counted(memory)
    memory.close()
    yield from _outbox(settings)


def _counted(memory: Memory) -> Check:
    try:
        count = memory.count()
    except LessonbookError as error:
        return Check("memory", Level.PROBLEM, str(error), "")
    if isinstance(memory, Delivering) and memory.trouble:
        return Check("memory", Level.PROBLEM, memory.trouble, "Lessons are kept here until it answers.")
    return Check("memory", Level.FINE, f"{memory.name}: {count:,} remembered for this project")


def is_settled(settings: Settings) -> bool:
    """Whether using the outbox leaves its file as it is: a damaged one would be mended."""
    outbox = Outbox(settings.agent_dir / OUTBOX_FILE)
    outbox.file.mends = False
    try:
        outbox.counts()
    except DamagedError:
        return False
    except LessonbookError:  # not ours, or of a newer version: using it says so and leaves it
        return True
    finally:
        outbox.close()
    return True


def _outbox(settings: Settings) -> Iterator[Check]:
    outbox = Outbox(settings.agent_dir / OUTBOX_FILE)
    outbox.file.mends = False
    try:
        counts = outbox.counts()
    except DamagedError as error:
        yield Check("outbox", Level.PROBLEM, str(error), _DAMAGED)
        return
    except LessonbookError as error:
        yield Check("outbox", Level.PROBLEM, str(error), "Move the file away to begin anew, and keep it.")
        return
    finally:
        outbox.close()
    for old in aside.found(outbox.file.path):
        yield Check("outbox", Level.NOTE, f"{old.name} was damaged and set aside", _OLD)
    if waiting := sum(counts[state] for state in WAITING):
        yield Check("outbox", Level.NOTE, f"{waiting:,} wait for the server", _WAITS)
    if set_aside := counts[State.DEAD]:
        yield Check("outbox", Level.PROBLEM, f"{set_aside:,} were set aside, undelivered", _ASIDE)
