"""The part of the night that looks after tools: the checks of fixes, what is new in sessions, and sizes."""

from __future__ import annotations

from collections.abc import Mapping

from lessonbook.actions.health import Health, look
from lessonbook.actions.health_decide import check
from lessonbook.actions.sessions import Progress
from lessonbook.system.night_settings import load_health
from lessonbook.system.settings import Places


def looked(places: Places, env: Mapping[str, str], now: float, dry_run: bool, progress: Progress | None) -> Health:
    """Run the checks that fixes were given, read what is new, and return how things stand.

    A dry run runs no check and writes nothing. Raises what ``load_health``, ``check`` and ``look`` raise.
    """
    bounds = load_health(places)
    if not dry_run:
        check(places, bounds, now, env)
    return look(None, places, bounds, env=env, now=now, keep=not dry_run, progress=progress)
