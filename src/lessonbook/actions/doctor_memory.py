"""Looks at the memory for the doctor: that it works, and what is worth knowing of the bank's file. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.actions.check import Check, Level
from lessonbook.core.errors import LessonbookError
from lessonbook.system.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.memory.mnemopi.glance import Glance

_SERVERS = ("hindsight", "postgres")
SOON = 1_000
"""Vectors that one recall makes."""
_DAMAGED = (
    "The next use mends it, or sets it aside under a dated name and begins a new one; nothing is deleted, and "
    "`lessonbook memory import` brings back what can be read."
)
_WAL = (
    "Nothing is lost there, but readers and writers wait for each other. On a local disk they do not: `lessonbook "
    "config set agent_dir` moves it."
)


def look(settings: Settings, cwd: Path, now: float) -> Iterator[Check]:
    """Yield what is found of the memory that the settings name."""
    from lessonbook.memory.registry import BACKENDS

    if settings.memory_backend not in BACKENDS:
        return
    if settings.memory_backend == "off":
        do = "`lessonbook config set memory.backend mnemopi`, if you want lessons to be kept."
        yield Check("memory", Level.NOTE, "no memory is on, so learn and recall do nothing", do)
    elif settings.memory_backend == "mnemopi":
        yield from _bank(settings, cwd)
    elif settings.memory_backend in _SERVERS:
        from lessonbook.actions import doctor_server

        yield from doctor_server.look(settings, cwd, now)
    else:
        yield _counted(settings, cwd, now)


def is_settled(settings: Settings) -> bool:
    """Whether using the memory for reading leaves its files as they are."""
    from lessonbook.memory.mnemopi import glance
    from lessonbook.memory.mnemopi.bank import BANK_FILE

    if settings.memory_backend in _SERVERS:
        from lessonbook.actions import doctor_server

        return doctor_server.is_settled(settings)
    file = settings.agent_dir / BANK_FILE
    if settings.memory_backend != "mnemopi" or not file.exists():
        return True
    try:
        return glance.look(file, ()).is_settled
    except LessonbookError:  # not a bank of ours, or of a newer version: using it says so and leaves it
        return True


def _counted(settings: Settings, cwd: Path, now: float) -> Check:
    from lessonbook.memory.registry import open_memory
    from lessonbook.system.projects import identify

    memory = open_memory(settings, identify(cwd), lambda: now, cwd)
    try:
        return Check("memory", Level.FINE, f"{settings.memory_backend}: {memory.count():,} remembered for this project")
    except LessonbookError as error:
        return Check("memory", Level.PROBLEM, str(error), "")
    finally:
        memory.close()


def _bank(settings: Settings, cwd: Path) -> Iterator[Check]:
    from lessonbook.memory import aside
    from lessonbook.memory.mnemopi import glance
    from lessonbook.memory.mnemopi.bank import BANK_FILE, banks_of
    from lessonbook.memory.registry import backend
    from lessonbook.system.projects import identify

    backend(settings)  # raises for a scoping that there is not
    yield from _sqlite()
    file = settings.agent_dir / BANK_FILE
    try:
        seen = glance.look(file, banks_of(identify(cwd).slug, settings.memory_scoping)) if file.exists() else None
    except LessonbookError as error:
        do = "Move it away to start a new one, and keep it: lessons may still be read from it."
        yield Check("memory", Level.PROBLEM, str(error), do)
    else:
        yield from _seen(file, seen or glance.Glance())
    for old in aside.found(file):
        do = f"`lessonbook memory import {old}` brings back what can be read; delete it when you need it no more."
        yield Check("memory", Level.NOTE, f"{old.name} was damaged and set aside", do)


def _sqlite() -> Iterator[Check]:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as empty:
        if not empty.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0]:
            yield Check("memory", Level.PROBLEM, "this Python's SQLite has no FTS5", "Use another Python build.")


def _seen(file: Path, seen: Glance) -> Iterator[Check]:
    if seen.damage:
        yield Check("memory", Level.PROBLEM, f"{file} is damaged: {seen.damage}", _DAMAGED)
        return
    yield Check("memory", Level.FINE, f"mnemopi: {seen.lessons:,} remembered for this project")
    if seen.journal not in ("", "wal"):
        yield Check("memory", Level.NOTE, f"{file} is in {seen.journal} mode, not WAL", _WAL)
    if seen.is_older:
        yield Check("memory", Level.NOTE, f"{file} was made by an older version", "The next use brings it up to date.")
    elif not seen.is_indexed:
        do = "`lessonbook memory sleep` makes it anew."
        yield Check("memory", Level.NOTE, f"the index of words of {file} was made by another version's rules", do)
    yield from _vectors(seen)


def _vectors(seen: Glance) -> Iterator[Check]:
    from lessonbook.memory.vectors.registry import open_embedder

    if open_embedder() is None:
        said = "the extra `vectors` is not installed, so lessons are found by their words alone"
        yield Check("memory", Level.NOTE, said, "Install `lessonbook[vectors]` to find them by what they mean too.")
    elif seen.unembedded > SOON:
        do = "`lessonbook memory sleep` makes them; each recall makes some."
        yield Check("memory", Level.NOTE, f"{seen.unembedded:,} lessons wait for a vector", do)
