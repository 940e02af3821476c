"""Mines one history in a process of its own and prints what it cost and found, as JSON.

``python mining_drive.py theirs FOLDER``: the original's ``history_health`` and route assessment, with its own Python.
``python mining_drive.py ours FOLDER``: findings of every session, and what recurs, as ``propose`` does.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections import Counter
from pathlib import Path


def theirs(folder: str) -> Counter[str]:
    """Return findings by kind; the health report is made and dropped."""
    from dhrona.core import assess_history, read_history
    from dhrona.improve import history_health

    history_health(folder, now=1_787_000_000.0 + 86_400 * 14)
    turns = read_history(Path(folder) / "agent-history.jsonl")
    return Counter(finding.kind for finding in assess_history(turns).findings)


def ours(folder: str) -> Counter[str]:
    """Return findings by kind; what recurs is found and dropped."""
    from lessonbook.actions.findings import Which, account
    from lessonbook.proposers.means import Means
    from lessonbook.proposers.registry import PROPOSERS
    from lessonbook.proposers.together import Together
    from lessonbook.system.settings import load, places

    env = {"HOME": folder}
    where = places(env)
    settings = load(where)
    together = Together([PROPOSERS[name](Means()) for name in settings.proposers])
    found = account([Path(folder)], where, settings, Which(), env=env, on_session=together.see)
    together.proposals()
    return found.kinds


def main(side: str, folder: str) -> None:
    """Run one side and print the result."""
    gc.set_threshold(100_000)  # as the command does
    start = time.perf_counter()
    found = {"ours": ours, "theirs": theirs}[side](folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = {"seconds": time.perf_counter() - start, "cpu": used.ru_utime + used.ru_stime, "kib": used.ru_maxrss}
    print(json.dumps({**cost, "kinds": dict(found)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
