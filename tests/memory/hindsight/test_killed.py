"""``kill -9`` at every step and every fault of a server: in the end each lesson is there once, or was set aside.

50 kills at each point in a long run (``LESSONBOOK_KILLS=50``); a few in the daily one.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.memory.hindsight.conftest import TOKEN, Server, Stub, opened

from lessonbook.core.lesson import Lesson

KILLS = int(os.environ.get("LESSONBOOK_KILLS", "3"))
POINTS = ("outbox.before-commit", "outbox.queued", "outbox.leased", "outbox.sent", "outbox.accepted", "outbox.done")
"""Before and after a lesson is on the disk; between that and sending; sent and not acknowledged; acknowledged and not
known to be done; done."""
WORKER = Path(__file__).with_name("worker.py")


def work(folder: Path, url: str, *words: object) -> tuple[list[str], int]:
    """Run one process to its end; return what it acknowledged, and how it ended."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(WORKER), str(folder), url, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert done.returncode in (0, -9), done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("lesson ")], done.returncode


def finish(memory: Any, stub: Stub, seconds: float = 40.0) -> dict[str, int]:
    """Deliver until nothing waits; leases of the dead are let run out by moving them into the past."""
    stub.always, stub.faults = None, []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with memory._outbox.file.writing() as db:
            db.execute("UPDATE outbox SET lease_until = 0, next_at = 0")
        memory.delivery.deliver(1, lambda wait: time.sleep(min(wait, 0.05)), insist=True)
        counts: dict[str, int] = memory._outbox.counts()
        if not counts["queued"] + counts["leased"] + counts["accepted"]:
            return counts
    raise AssertionError(f"not all delivered in {seconds} seconds: {counts}")


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_each_step(point: str, tmp_path: Path, server: Server, stub: Stub) -> None:
    chance = random.Random(f"{point} {KILLS}")
    acknowledged: list[str] = []
    killed = 0
    for who in range(KILLS):
        passes = chance.randint(1, 3 if point in POINTS[:2] else 1)
        told, code = work(tmp_path, server.url, who, 3, point, passes)
        acknowledged += told
        killed += code == -9
    counts = finish(opened(tmp_path, server.url), stub)
    there = stub.contents()
    print(f"\n{point}: killed {killed} of {KILLS}; {len(acknowledged)} told, {sum(there.values())} there, {counts}")
    assert killed == KILLS
    assert set(acknowledged) <= set(there), "what was acknowledged is there"
    assert set(there.values()) == {1} and set(stub.writes.values()) == {1}, "once"
    assert counts["dead"] == 0 and counts["done"] == len(there)


FAULTS: dict[str, list[dict[str, Any]]] = {
    "500": [{"status": 500}] * 4,
    "500 after storing": [{"status": 500, "late": True}] * 4,
    "slow": [{"delay": 2.5}, {"late": True, "linger": 2.5}],
    "reset": [{"reset": True}, {"reset": True, "late": True}],
    "429": [{"status": 429, "headers": {"Retry-After": "1"}}] * 2,
    "503": [{"status": 503}] * 4,
    "401 then right": [{"status": 401}] * 3,
    "half an answer": [{"late": True, "body": "{", "short": 9}, {"late": True, "body": "<p>"}],
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_of_a_server(
    what: str, tmp_path: Path, server: Server, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes tell and deliver while the server fails; a wrong lesson and an unreadable one are among theirs."""
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    stub.token = TOKEN
    memory = opened(tmp_path, server.url)
    mine = [f"mine {number}" for number in range(20)]
    for text in [*mine[:10], "POISON in the middle", "UNREADABLE too", *mine[10:]]:
        memory.store(Lesson(text))
    stub.faults = list(FAULTS[what])
    told, _ = work(tmp_path, server.url, what.replace(" ", "-"), 20)
    memory.delivery.deliver(3, lambda wait: time.sleep(min(wait, 0.3)), insist=True)
    counts = finish(memory, stub)
    there = stub.contents()
    aside = {row.told["content"]: row.last_error for row in memory._outbox.rows(["dead"])}
    print(f"\n{what}: {len(mine) + len(told) + 2} told, {sum(there.values())} there, {len(aside)} set aside, {counts}")
    assert there == Counter([*mine, *told]) and set(stub.writes.values()) == {1}
    assert set(aside) == {"POISON in the middle", "UNREADABLE too"} and all(aside.values())
    assert "422" in str(aside["POISON in the middle"]) and "LLM gave up" in str(aside["UNREADABLE too"])


def test_many_processes_share_one_outbox(tmp_path: Path, server: Server, stub: Stub) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [[sys.executable, str(WORKER), str(tmp_path), server.url, f"p{who}", "15"] for who in range(4)]
    pipe = subprocess.PIPE
    running = [subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env) for command in words]
    said = [process.communicate(timeout=60) for process in running]
    assert all(process.returncode == 0 for process in running), said
    told = [line for out, _ in said for line in out.splitlines()]
    counts = finish(opened(tmp_path, server.url), stub)
    assert stub.contents() == Counter(told) and len(told) == 60 == counts["done"]
    assert set(stub.writes.values()) == {1}
