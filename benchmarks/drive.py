"""Runs one verb of a queue module in a process of its own and prints what it cost. Needs only the standard library.

``python drive.py MODULE VERB FOLDER [ID]``: the peer runs it with its own Python. Importing is not timed.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time


def main(module: str, verb: str, *args: str) -> None:
    """Time one call and print seconds, processes started, peak memory and what came back, as JSON."""
    call = getattr(importlib.import_module(module), verb)
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event == "subprocess.Popen" else None)
    start = time.perf_counter()
    answer = call(*args)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "processes": len(started), "kib": peak, "said": _said(answer)}))


def _said(answer: object) -> dict[str, object]:
    if isinstance(answer, dict):
        return {key: len(value) if isinstance(value, list) else value for key, value in answer.items() if key != "diff"}
    rows = answer if isinstance(answer, list) else []
    return {"rows": len(rows), "stale": sum(bool(row["stale"]) for row in rows)}


if __name__ == "__main__":
    main(*sys.argv[1:])
