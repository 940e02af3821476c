"""One process of the ``learn`` bench: gets ready, waits for the word, keeps its lessons, and says how long it took.

``python -m benchmarks.learner BACKEND FOLDER NUMBER LESSONS``; with ``count`` it prints how many are kept.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lessonbook.core.ports import Memory
    from lessonbook.system.settings import Settings

DOWN = "http://127.0.0.1:9"
"""An address of this machine that nobody listens at; another one follows the backend's name: ``hindsight=URL``."""
TEXT = (
    "When the size of case {number}.{index} is not known, list the folder first, then read only the part that matters."
)


def main(backend: str, folder: str, number: str, lessons: str = "0") -> None:
    """Run as the module's docstring says."""
    place = Path(folder)
    if number == "count":
        print(_count(backend, place))
        return
    keep = _bare(place) if backend == "bare" else _tool(backend, place)
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.perf_counter()
    for index in range(int(lessons)):
        keep(TEXT.format(number=number, index=index))
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"start": start, "end": end, "kib": peak}))


def _bare(place: Path) -> Callable[[str], None]:
    """Append one line and wait until it is on the disk."""

    def keep(text: str) -> None:
        with (place / "lessons").open("a") as file:
            file.write(f"- {text}\n")
            file.flush()
            os.fsync(file.fileno())

    return keep


def _tool(backend: str, place: Path) -> Callable[[str], None]:
    """Call the ``learn`` tool as a host does, imports and the first opening done before the clock starts."""
    from lessonbook.actions.learn import LearnSession, LearnTool

    memory, settings = _memory(backend, place)
    tool = LearnTool.create_if(settings, LearnSession(place, "bench", memory, place))
    if tool is None:
        raise SystemExit(f"there is no learn tool for {backend}")

    def keep(text: str) -> None:
        if tool.execute({"memory": text}).is_error:
            raise SystemExit("a lesson was not kept")

    return keep


def _memory(backend: str, place: Path) -> tuple[Memory, Settings]:
    from lessonbook.core.project import from_folder
    from lessonbook.memory.registry import open_memory
    from lessonbook.system.settings import Settings

    name, _, url = backend.partition("=")
    settings = Settings(
        agent_dir=place / "agent", autolearn_enabled=True, memory_backend=name, hindsight_url=url or DOWN
    )
    return open_memory(settings, from_folder(str(place)), time.time, place), settings


def _count(backend: str, place: Path) -> int:
    """How many lessons are there, the archive of the ``local`` backend included."""
    if backend == "mnemopi":
        return int(_memory(backend, place)[0].count())
    files = (file for name in ("lessons", "learned.md", "learned.archive.md") for file in place.rglob(name))
    return sum(line.startswith("- ") for file in files for line in file.read_text().splitlines())


if __name__ == "__main__":
    main(*sys.argv[1:])
