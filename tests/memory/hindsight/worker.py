"""One process of the kill tests: ``worker.py FOLDER URL WHO COUNT POINT PASSES``.

Tells COUNT lessons, saying each on standard output once it is acknowledged, and delivers. Where POINT is given it kills
itself with SIGKILL at the PASSES-th pass through that point.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.core.project import Project
from lessonbook.memory.hindsight.backend import HindsightMemory
from lessonbook.memory.hindsight.opening import open_hindsight
from lessonbook.system import faults
from lessonbook.system.server import Hindsight
from lessonbook.system.settings import Settings


def main(folder: str, url: str, who: str, count: str, point: str = "", passes: str = "1") -> None:
    told = Hindsight(retain_seconds=2)
    settings = Settings(Path(folder) / "agent", memory_backend="hindsight", hindsight_url=url, hindsight=told)
    memory = open_hindsight(settings, Project("example.org/me/app", "app", "/work/app"), time.time)
    assert isinstance(memory, HindsightMemory)
    memory.delivery.delivers_itself = False
    if point:
        faults.arm(point, int(passes))
    for number in range(int(count)):
        text = f"lesson {number} of {who}"
        if memory.store(Lesson(text)).outcome is Outcome.QUEUED:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
    memory.delivery.deliver(4, lambda wait: time.sleep(min(wait, 0.3)), insist=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
