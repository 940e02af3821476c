"""Lessons told while a real PostgreSQL is away, hangs or goes away: none is lost, none is there twice, nobody waits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.memory.hindsight.test_killed import KILLS
from tests.servers.conftest import ASKED, REQUIRED
from tests.servers.proxy import Proxy
from tests.servers.running import PASSWORD, Postgres

from lessonbook.core.errors import StoreError
from lessonbook.core.lesson import Lesson, Outcome, Scope
from lessonbook.core.ports import Bank, Delivering, Memory
from lessonbook.memory.outbox.outbox import Outbox
from lessonbook.memory.postgres.bank import PostgresMemory
from lessonbook.memory.postgres.connection import Connection
from lessonbook.memory.postgres.queueing import QueueingPostgres
from lessonbook.testing import MemoryContract

if not REQUIRED:
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
WORKER = Path(__file__).with_name("postgres_worker.py")


@pytest.fixture(scope="module")
def own() -> Iterator[Postgres]:
    """A server that this module stops and starts."""
    if not ASKED:
        pytest.skip("real servers are started by `make test-real`")
    made = Postgres()
    yield made
    made.end()


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


@pytest.fixture
def address(own: Postgres) -> str:
    return f"postgresql://tests@127.0.0.1:{own.port}/tests"


@pytest.fixture
def team() -> str:
    return f"t{uuid.uuid4().hex[:10]}"


@pytest.fixture
def proxy(own: Postgres) -> Iterator[Proxy]:
    made = Proxy(own.port)
    yield made
    made.end()


def opened(folder: Path, address: str, team: str, now: Callable[[], float] = time.time, chance: float = 0.0) -> Any:
    outbox = Outbox(folder / "outbox.db")
    memory = QueueingPostgres(Connection(address, team), "app-1", now, outbox, f"{id(outbox)}", lambda: chance)
    memory.delivery.delivers_itself = False
    return memory


def deliver(memory: Any, seconds: float = 30.0) -> Any:
    return memory.delivery.deliver(seconds, lambda wait: time.sleep(min(wait, 0.2)), insist=True)


def texts(address: str, team: str) -> Counter[str]:
    """What is on the server, each as often as it is there, forgotten or not."""
    memory = PostgresMemory(Connection(address, team), "app-1", time.time)
    found = [*memory.lessons(10_000), *memory.lessons(10_000, forgotten=True)]
    memory.close()
    return Counter(kept.lesson.text for kept in found)


class TestContract(MemoryContract):
    """With an outbox too it is what every backend must be; the server answers, so nothing is queued."""

    @pytest.fixture(autouse=True)
    def _where(self, address: str, team: str) -> None:
        self.address, self.team = address, team

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        memory = opened(folder, self.address, self.team, now)
        assert isinstance(memory, Bank) and isinstance(memory, Delivering)
        return memory


def test_the_server_is_stopped_and_started(tmp_path: Path, own: Postgres, address: str, team: str) -> None:
    memory = opened(tmp_path, address, team)
    assert memory.store(Lesson("Told while it is up.")).outcome is Outcome.STORED
    assert not (tmp_path / "outbox.db").exists()
    own.stop()
    try:
        start = time.monotonic()
        receipt = memory.store(Lesson("Told while it is down.", context="a red build", tags=("db",), title="Down"))
        assert receipt.outcome is Outcome.QUEUED and time.monotonic() - start < 5
        assert "cannot be used" in receipt.notes[-1] and "delivered later" in receipt.notes[-1]
        assert memory.store(Lesson("Told while it is down.")).outcome is Outcome.QUEUED
        (found,) = memory.recall("told down")
        assert found.text == "Told while it is down." and found.marks and "cannot be used" in memory.trouble
        assert [one.text for one in memory.recent()] == ["Told while it is down."] and memory.count() == 1
        with pytest.raises(StoreError):
            memory.get("1")
        told_at = memory._outbox.rows(["queued"])[0].created
    finally:
        own.start()
    came = deliver(memory)
    assert (came.done, came.dead) == (2, 0), "told twice, in other words beside it"
    assert texts(address, team) == {"Told while it is up.": 1, "Told while it is down.": 1}
    newest = memory.lessons()[0]
    assert newest.lesson.title == "Down" and newest.lesson.tags == ("db",) and abs(newest.created - told_at) < 1
    assert memory.store(Lesson("Told while it is down.")).outcome is Outcome.DUPLICATE and memory.trouble == ""
    memory.close()


def test_it_is_stopped_in_the_middle_of_delivering(tmp_path: Path, own: Postgres, address: str, team: str) -> None:
    memory = opened(tmp_path, "postgresql://tests@127.0.0.1:9/tests", team)
    told = [f"Told before it came up, number {number}." for number in range(200)]
    for text in told:
        memory.store(Lesson(text))
    with memory._outbox.file.writing() as db:
        db.execute("UPDATE outbox SET destination = ?", (f"{address} lessonbook_{team}",))
    memory.close()
    memory = opened(tmp_path, address, team)
    stopping = threading.Timer(0.25, own.stop)
    stopping.start()
    deliver(memory, 2)
    stopping.join()
    before = memory._outbox.counts()
    own.start()
    deliver(memory, 60)
    counts = memory._outbox.counts()
    print(f"\nPostgreSQL stopped with {before}; in the end {counts}")
    assert counts["done"] == len(told) and texts(address, team) == Counter(told)
    memory.close()


def test_a_server_that_hangs_costs_a_bounded_time_and_then_none(tmp_path: Path, proxy: Proxy, team: str) -> None:
    memory = opened(tmp_path, f"postgresql://tests@127.0.0.1:{proxy.port}/tests", team, chance=1.0)
    proxy.hold()
    start, times = time.monotonic(), list[float]()
    assert memory.recent() == [] and "within 0.7 seconds" in memory.trouble
    assert time.monotonic() - start < 1.3, "the start of a session"
    for number in range(6):
        start = time.monotonic()
        assert memory.store(Lesson(f"Told to one that hangs, number {number}.")).outcome is Outcome.QUEUED
        times.append(time.monotonic() - start)
    print(f"\nlearn while the server hangs: {' '.join(f'{one:.2f}' for one in times)} s")
    assert max(times) < 5 and max(times[2:]) < 0.5, "left alone after three failures"
    start = time.monotonic()
    assert len(memory.recent()) == 6 and time.monotonic() - start < 0.5
    memory.close()


def test_an_answer_that_is_lost_is_no_second_lesson(tmp_path: Path, proxy: Proxy, address: str, team: str) -> None:
    """The server has committed, and nobody hears of it: with the connection open, and cut."""
    memory = opened(tmp_path, f"postgresql://tests@127.0.0.1:{proxy.port}/tests", team)
    memory.store(Lesson("The first one."))
    proxy.drop_answers()
    memory._connection.patience = 1.0
    assert memory.store(Lesson("Its answer is lost.")).outcome is Outcome.QUEUED
    proxy.forward()
    deliver(memory)
    assert texts(address, team) == {"The first one.": 1, "Its answer is lost.": 1}
    assert memory._outbox.counts()["done"] == 1
    memory.close()


def test_what_was_delivered_is_not_delivered_again_whatever_became_of_it(
    tmp_path: Path, address: str, team: str
) -> None:
    memory = opened(tmp_path, address, team)
    sender = memory.delivery._flusher._sender
    told = {"content": "The port is 1.", "timestamp": 1.0, "document_id": "d", "metadata": {}, "fields": {}}
    for _ in range(3):
        sender.send("app-1", "op-1", [told], 5.0)
        (kept,) = [*memory.lessons(), *memory.lessons(forgotten=True)]
        if kept.forgotten is None:
            memory.update(kept.id, {"text": "The port is 2."})
            memory.forget(kept.id)
    assert texts(address, team) == {"The port is 2.": 1} and memory.lessons() == []
    memory.close()


def test_the_order_of_what_replaces_itself_is_kept(tmp_path: Path, own: Postgres, address: str, team: str) -> None:
    clock = iter(range(1_000, 9_000))
    memory = opened(tmp_path, address, team, lambda: float(next(clock)))
    other = PostgresMemory(Connection(address, team), "app-1", lambda: 1_005.0)
    memory.store(Lesson("The port is 0.", key="port"))
    own.stop()
    memory.store(Lesson("The port is 1.", key="port"))
    own.start()
    assert memory.store(Lesson("The port is 2.", key="port")).outcome is Outcome.QUEUED, "behind the one that waits"
    memory.store(Lesson("Every project has this.", scope=Scope.GLOBAL))
    deliver(memory)
    holding = {kept.lesson.text for kept in memory.lessons() if kept.invalid is None}
    assert holding == {"The port is 2.", "Every project has this."}
    own.stop()
    memory.store(Lesson("The host is old.", key="host"))
    own.start()
    other._now = lambda: 8_999.0
    other.store(Lesson("The host is new.", key="host"))
    deliver(memory)
    by_key = {kept.lesson.text: kept.lesson.key for kept in memory.lessons() if kept.invalid is None}
    assert by_key.get("The host is new.") == "host" and "The host is old." not in by_key
    assert texts(address, team)["The host is old."] == 1, "kept, as replaced"
    memory.close(), other.close()


def test_the_wrong_password_then_the_right_one(
    tmp_path: Path, address: str, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "wrong")
    memory = opened(tmp_path, address, team)
    receipt = memory.store(Lesson("Kept until the password is right."))
    assert receipt.outcome is Outcome.QUEUED and "wrong" not in receipt.notes[-1]
    assert deliver(memory, 1).done == 0 and not memory._outbox.counts()["dead"]
    memory.close()
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    memory = opened(tmp_path, address, team)
    deliver(memory)
    assert texts(address, team) == {"Kept until the password is right.": 1}
    memory.close()


@pytest.mark.parametrize("point", ["outbox.queued", "outbox.leased", "outbox.sent", "outbox.accepted", "outbox.done"])
def test_we_are_killed_in_the_middle(point: str, tmp_path: Path, address: str, team: str) -> None:
    told: list[str] = []
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for who in range(KILLS):
        passes = 2 if point == "outbox.queued" else 1
        words = [sys.executable, str(WORKER), str(tmp_path), address, team, f"{point}-{who}", "3", point, str(passes)]
        done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=60, check=False)
        assert done.returncode == -9, done.stderr
        told += [line for line in done.stdout.splitlines() if line.startswith("lesson ")]
    memory = opened(tmp_path, address, team)
    until = time.monotonic() + 60
    counts = memory._outbox.counts()
    while time.monotonic() < until and counts["queued"] + counts["leased"] + counts["accepted"]:
        with memory._outbox.file.writing() as db:
            db.execute("UPDATE outbox SET lease_until = 0, next_at = 0")
        deliver(memory, 2)
        counts = memory._outbox.counts()
    there = texts(address, team)
    print(f"\n{point}: killed {KILLS} times; {len(told)} acknowledged, {sum(there.values())} there, {counts}")
    assert set(told) <= set(there) and set(there.values()) == {1} and counts["done"] == len(there)
    memory.close()
