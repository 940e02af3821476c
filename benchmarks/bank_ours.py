"""One process of the ``bank`` bench that holds our bank open and times what it is told to do.

``python -m benchmarks.bank_ours AGENT_FOLDER WORK_FOLDER``; a command a line on standard input, an answer a line on
standard output, both JSON: ``fill``, ``remember`` and ``recall`` with ``texts``, and ``count``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lessonbook import Lesson, Outcome, Receipt, Settings, identify, open_memory


def main(agent_dir: str, work: str) -> None:
    """Answer until the input ends, then close."""
    folder = Path(work)
    settings = Settings(agent_dir=Path(agent_dir), memory_backend="mnemopi")
    memory = open_memory(settings, identify(folder), time.time, folder)
    # What the ``learn`` tool hands to the memory.
    metadata = {"session_id": "bench", "cwd": work, "tool": "learn"}
    at_once = getattr(memory, "store_many", lambda lessons: [memory.store(lesson) for lesson in lessons])

    def keep(text: str) -> None:
        _check([memory.store(Lesson(text, metadata=metadata))])

    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "count":
            answer: dict[str, Any] = {"count": memory.count()}
        elif asked["do"] == "fill":
            _check(at_once([Lesson(text, metadata=metadata) for text in asked["texts"]]))
            answer = {}
        elif asked["do"] == "recall":
            answer = _timed(lambda text: [one.text for one in memory.recall(text, 5)], asked["texts"])
        else:
            answer = _timed(keep, asked["texts"])
        print(json.dumps(answer), flush=True)
    memory.close()


def _check(receipts: Sequence[Receipt]) -> None:
    if any(receipt.outcome is not Outcome.STORED for receipt in receipts):
        raise SystemExit("a lesson was not stored")


def _timed(act: Callable[[str], object], texts: list[str]) -> dict[str, Any]:
    seconds, found, used = [], [], time.process_time()
    for text in texts:
        start = time.perf_counter()
        said = act(text)
        seconds.append(time.perf_counter() - start)
        found.append(said)
    return {"seconds": seconds, "cpu": time.process_time() - used, "found": found}


if __name__ == "__main__":
    main(*sys.argv[1:])
