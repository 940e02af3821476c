"""One process of the kill tests: ``postgres_worker.py FOLDER ADDRESS TEAM WHO COUNT POINT PASSES``.

Tells COUNT lessons while it takes the server for away, saying each on standard output once it is acknowledged, and
then delivers. Where POINT is given it kills itself with SIGKILL at the PASSES-th pass through that point.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.memory.outbox.destinations import Destinations
from lessonbook.memory.outbox.outbox import Outbox
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.items import destination
from lessonbook.memory.postgres.queueing import QueueingPostgres
from lessonbook.system import faults


def main(folder: str, address: str, team: str, who: str, count: str, point: str = "", passes: str = "1") -> None:
    outbox, connection = Outbox(Path(folder) / "outbox.db"), Connection(address, team)
    memory = QueueingPostgres(connection, "app-1", time.time, outbox, who, lambda: 0.0)
    memory.delivery.delivers_itself = False
    for _ in range(3):
        Destinations(outbox).failed(destination(connection), "as if it were away", time.time(), 1.0, 600.0)
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
