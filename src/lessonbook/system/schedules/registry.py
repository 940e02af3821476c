"""The timers we can write, the first one a machine has before the others: one line each."""

from __future__ import annotations

import os

from lessonbook.core.errors import InputError, SetupError
from lessonbook.system.schedules.cron import Cron
from lessonbook.system.schedules.launchd import Launchd
from lessonbook.system.schedules.systemd import Systemd
from lessonbook.system.schedules.timer import Timer
from lessonbook.system.settings import Places

NAMES = ("systemd", "launchd", "cron")


def timers(places: Places) -> dict[str, Timer]:
    """Return every timer, whether or not this machine has it."""
    found: tuple[Timer, ...] = (
        Systemd(places.home, places.config.parent),
        Launchd(places.home, os.getuid()),
        Cron(),
    )
    return {timer.name: timer for timer in found}


def timer(places: Places, name: str = "") -> Timer:
    """Return the timer called ``name``, else the first one this machine has.

    Raises ``InputError`` for a name there is not, ``SetupError`` where the machine has none.
    """
    known = timers(places)
    if name:
        if name not in known:
            raise InputError(f"there is no timer {name!r}; say one of {', '.join(known)}.")
        return known[name]
    for one in known.values():
        if one.is_here():
            return one
    raise SetupError(
        f"this machine has none of {', '.join(known)}; have whatever starts programs there run `lessonbook nightly`."
    )


def is_root() -> bool:
    """Whether this process runs as root, for whom nothing is scheduled."""
    return os.geteuid() == 0
