"""Health on real sessions that no one here wrote: read in steps while they grow, it tells what one reading tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessonbook.actions.health import Health, look
from lessonbook.core.defect_draft import draft_of
from lessonbook.core.growth import Bounds
from lessonbook.core.redact import redact
from lessonbook.system.settings import places

pytestmark = pytest.mark.shared
NOW = 1_790_000_000.0


def looked(home: Path, *paths: Path, sessions: int = 1) -> Health:
    env = {"HOME": str(home)}
    return look(list(paths) or None, places(env), Bounds(sessions=sessions), env=env, now=NOW)


def told(found: Health) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {one.id: (one.count, one.sessions) for one in found.defects}


def test_sessions_that_grow_are_told_as_one_reading_tells_them(home: Path, shared: Path) -> None:
    files = sorted((shared / "data" / "histories").glob("*/sessions/*.jsonl"))
    for share in (0.4, 0.8, 1.0):
        for file in files:
            copy = home / ".claude" / "projects" / file.parent.parent.name / file.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("ab") as grown:
                have, data = grown.tell(), file.read_bytes()
                grown.write(data[have : int(len(data) * share)])
        found = looked(home)
    whole = looked(home, home / ".claude" / "projects")
    assert told(found) == told(whole) and whole.defects
    assert looked(home).sessions == 0
    for one in whole.defects:
        assert "/Users/" not in draft_of(one) and redact(draft_of(one)).count == 0


def test_nobodys_mistake_is_called_a_defect(home: Path, shared: Path) -> None:
    data = shared / "data"
    assert looked(home, data / "histories", data / "transcripts", sessions=2).defects == ()
