"""What the doctor says of the night: its settings, its schedule, and how the last one went."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from lessonbook.actions import schedule
from lessonbook.actions.check import Check, Level
from lessonbook.actions.night_folder import Folder, last_record
from lessonbook.actions.nightly import why_not
from lessonbook.core.errors import LessonbookError
from lessonbook.system.night_settings import load_night
from lessonbook.system.settings import Places

_WHAT = "night"
_LATE = 2 * 86_400
"""How many seconds after the last night one that is scheduled every day is missed."""


def look(places: Places, now: float) -> Iterator[Check]:
    """Yield what is to be said; nothing where no night was set up, scheduled or spent."""
    try:
        night = load_night(places)
    except LessonbookError as error:
        yield Check(_WHAT, Level.PROBLEM, str(error), f"Correct {places.config_file}; it is never rewritten.")
        return
    if night.agent:
        why = why_not(night)
        level = Level.PROBLEM if why else Level.FINE
        yield Check(_WHAT, level, f"replays with {night.agent}{f' cannot be run: {why}' if why else ''}")
    told, problems = schedule.check(places)
    if told:
        yield Check(_WHAT, Level.FINE, f"started {told}")
    for problem in problems:
        yield Check(_WHAT, Level.PROBLEM, problem, "`lessonbook schedule --remove`, then schedule it again.")
    yield from _last(places, now, bool(told))


def _last(places: Places, now: float, scheduled: bool) -> Iterator[Check]:
    record = last_record(places.state)
    if record is None:
        return
    ended = record.get("ended")
    when = f"{datetime.fromtimestamp(ended, UTC):%Y-%m-%d %H:%M} UTC" if isinstance(ended, int) else "long ago"
    note = Folder(places.state).top / str(record.get("night")) / "note.md"
    failed = record.get("failed")
    if failed:
        yield Check(_WHAT, Level.NOTE, f"the last one ({when}) could not do all: {failed[0]}", f"Its note: {note}")
    elif scheduled and isinstance(ended, int) and now - ended > _LATE:
        do = "`lessonbook schedule --check`; is this machine on at that time?"
        yield Check(_WHAT, Level.NOTE, f"the last one ended {when}", do)
    else:
        yield Check(_WHAT, Level.FINE, f"the last one ended {when}; its note: {note}")
