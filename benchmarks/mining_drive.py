"""Mines one history in a process of its own and prints what it cost and found, as JSON.

``python mining_drive.py theirs FOLDER``: the original's ``history_health`` and route assessment, with its own Python.
``python mining_drive.py ours FOLDER``: what ``propose --dry-run`` does: findings of every session, and what recurs.
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
    from lessonbook.actions.propose import propose
    from lessonbook.system.settings import load, places

    env = {"HOME": folder}
    where = places(env)
    history = Path(folder) / "agent-history.jsonl"
    now = 1_787_000_000 + 86_400 * 14
    report = propose([history], where, load(where), now=now, random_hex=str, env=env, dry_run=True)
    return Counter(report.findings)


def main(side: str, folder: str) -> None:
    """Run one side and print the result."""
    gc.set_threshold(100_000)  # as the command does
    start = time.perf_counter()
    found = {"ours": ours, "theirs": theirs}[side](folder)
    seconds = time.perf_counter() - start
    if "multiprocessing.forkserver" in sys.modules:  # only what has ended is counted
        sys.modules["multiprocessing.forkserver"]._forkserver._stop()
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "kib": used[0].ru_maxrss, "kinds": dict(found)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
