"""Runs one verb of a queue module in a process of its own and prints what it cost. Needs only the standard library.

``python drive.py MODULE VERB FOLDER [ID…]``; ``accept_each`` accepts each id by itself.
The peer runs it with its own Python. Importing is not timed.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable
from types import ModuleType

_STARTS = ("subprocess.Popen", "os.posix_spawn")


def main(module: str, verb: str, folder: str, *ids: str) -> None:
    """Time one call and print seconds, processes started, peak memory and what came back, as JSON."""
    call = _call(importlib.import_module(module), verb, folder, ids)
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event in _STARTS else None)
    start, used = time.perf_counter(), _cpu()
    answer = call()
    seconds, used = time.perf_counter() - start, _cpu() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"seconds": seconds, "cpu": used, "processes": len(started), "kib": peak, "said": _said(answer)}
    print(json.dumps(found))


def _call(queue: ModuleType, verb: str, folder: str, ids: tuple[str, ...]) -> Callable[[], object]:
    if verb == "accept_each":
        return lambda: [queue.accept(folder, id) for id in ids][-1]
    args = (list(ids),) if verb == "accept_many" else ids
    return lambda: getattr(queue, verb)(folder, *args)


def _cpu() -> float:
    """Seconds of processor time of this process and of every program it has run to its end."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _said(answer: object) -> dict[str, object]:
    if isinstance(answer, dict):
        return {key: len(value) if isinstance(value, list) else value for key, value in answer.items() if key != "diff"}
    rows = answer if isinstance(answer, list) else []
    return {"rows": len(rows), "stale": sum(bool(row["stale"]) for row in rows)}


if __name__ == "__main__":
    main(*sys.argv[1:])
