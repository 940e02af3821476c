"""Keeps what is said in sessions on the server of the memory, where a person has asked for that; off by default.

Each session is read whole and queued turn by turn under ids of its own, so that what is there already stays, and what
went on since takes its place. Which files have been read, to which size, is remembered once they are queued durably:
what a crash interrupts is read again by whoever comes next.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lessonbook.actions import session_notes
from lessonbook.actions.sessions import Projects, Reading
from lessonbook.core.errors import InputError, LessonbookError, SetupError
from lessonbook.core.session import Session
from lessonbook.memory.hindsight.backend import HindsightMemory
from lessonbook.memory.hindsight.opening import open_hindsight
from lessonbook.memory.outbox.outbox import Became
from lessonbook.system import files
from lessonbook.system.settings import Places, Settings, environment

MARKS = "retained.json"
_MARKED = 2_000
OFF = "hindsight.retain_sessions is off, so nothing that is said in sessions is kept on the server."


def is_on(settings: Settings) -> bool:
    """Whether what is said in sessions is to be kept."""
    wanted = settings.hindsight.retain_sessions and settings.learning
    return bool(wanted and settings.memory_backend == "hindsight" and settings.hindsight_url)


def retain(places: Places, settings: Settings, named: Iterable[Path], now: float) -> tuple[int, int, list[str]]:
    """Queue what was said in the sessions of ``named`` files, and of those that ended, since each was read last.

    Return how many turns (or parts of one) are new, how many sessions were read, and a sentence for each that was not
    read or not queued whole. Raises ``SetupError`` where this is off, ``StoreError`` and ``BusyError`` where the outbox
    cannot be used.
    """
    if not is_on(settings):
        raise SetupError(OFF)
    marks = _marks(places)
    ended = (Path(str(row["transcript"])) for row in session_notes.ended(places.state) if row.get("transcript"))
    paths = list(dict.fromkeys(path.absolute() for path in (*named, *ended)))
    projects, queued, read, problems = Projects(), 0, 0, list[str]()
    for path in paths:
        stamp = _stamp(path)
        if stamp is None or marks.get(str(path)) == stamp:
            continue
        whole = True
        for session in _sessions(path, problems):
            new, refused = _queue(settings, projects, session, now)
            queued, read, whole = queued + new, read + 1, whole and not refused
            problems += [f"{path}: {refused}"] if refused else []
        if whole:
            marks.pop(str(path), None)
            marks[str(path)] = stamp
            _write(places, marks)
    return queued, read, problems


def _sessions(path: Path, problems: list[str]) -> Iterator[Session]:
    reading = Reading()
    try:
        yield from reading.sessions([path], path.parent, environment())
    except InputError:  # removed since
        return
    problems += [f"{named}: {why}" for named, why in reading.unread.items()]


def _queue(settings: Settings, projects: Projects, session: Session, now: float) -> tuple[int, str]:
    """Queue one session; return how many items are new, and why one was refused, where one was."""
    project = projects.of(session.cwd, session.repo)
    if project is None:
        return 0, ""
    memory = open_hindsight(settings, project, lambda: now)
    if not isinstance(memory, HindsightMemory):
        return 0, ""
    memory.delivery.delivers_itself = False
    try:
        put = memory.retain_turns(session if session.id else replace(session, id=session.path))
    finally:
        memory.close()
    refused = next((one.reason for one in put if one.became is Became.REFUSED), "")
    return sum(one.became is Became.QUEUED for one in put), refused


def _stamp(path: Path) -> list[int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _marks(places: Places) -> dict[str, list[int]]:
    try:
        found = json.loads(files.read_bytes(places.state / MARKS) or b"{}")
    except (LessonbookError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(places: Places, marks: dict[str, list[int]]) -> None:
    newest = dict(list(marks.items())[-_MARKED:])
    files.write_atomic(places.state / MARKS, json.dumps(newest).encode(), new_mode=0o600)
