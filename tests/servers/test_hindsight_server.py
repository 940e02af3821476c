"""The backend on a real Hindsight server. Its model is none, so what is shown is the protocol, not understanding."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.memory.hindsight.conftest import opened
from tests.memory.hindsight.test_killed import KILLS, work
from tests.servers.running import TOKEN, Hindsight

from lessonbook.core.lesson import Lesson, Outcome
from lessonbook.core.ports import Memory
from lessonbook.core.project import Project
from lessonbook.testing import MemoryContract


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)


def deliver(memory: Any, seconds: float = 60.0) -> None:
    memory.delivery.deliver(seconds, lambda wait: time.sleep(min(wait, 0.5)), insist=True)


def ask(server: Hindsight, path: str, body: object = None, method: str = "GET") -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/v1/default{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def contents(server: Hindsight, bank: str) -> Counter[str]:
    """The contents of all documents of a bank, each as often as it is there."""
    rows = ask(server, f"/banks/{bank}/documents?limit=1000")["items"]
    texts = (ask(server, f"/banks/{bank}/documents/{row['id']}")["original_text"] for row in rows)
    return Counter(texts)


def fault(server: Hindsight, **told: object) -> None:
    data = json.dumps(told).encode()
    urllib.request.urlopen(urllib.request.Request(f"{server.model_url}/faults", data, method="POST"), timeout=5).close()


class TestContract(MemoryContract):
    """What every backend must do."""

    outcomes = (Outcome.QUEUED, Outcome.DUPLICATE)

    @pytest.fixture(autouse=True)
    def _server(self, hindsight: Hindsight, bank: str) -> None:
        self.url, self.bank = hindsight.url, bank

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return opened(folder, self.url, bank=self.bank, recall_seconds=20, list_seconds=10, retain_seconds=20)

    def settle(self, memory: Memory) -> None:
        deliver(memory)


def test_a_lesson_goes_there_and_is_found_from_another_machine(tmp_path: Path, hindsight: Hindsight, bank: str) -> None:
    memory = opened(tmp_path / "a", hindsight.url, bank=bank, list_seconds=10)
    lesson = Lesson("The billing service listens on port 5433.", context="a red build", tags=("db",), title="Port")
    assert memory.store(lesson).outcome is Outcome.QUEUED
    deliver(memory)
    assert memory._outbox.counts()["done"] == 1 and contents(hindsight, bank) == {lesson.text: 1}
    other = opened(tmp_path / "b", hindsight.url, bank=bank, list_seconds=10)
    (found,) = other.recall("Which port does billing listen on?")
    assert (found.text, found.context, found.title) == (lesson.text, "a red build", "Port")
    assert [one.text for one in other.recent()] and other.count() == 1 and other.trouble == ""
    assert "5433" in other.reflect("Which port does billing listen on?")


def test_two_repositories_of_one_name(tmp_path: Path, hindsight: Hindsight, bank: str) -> None:
    for who in ("ana", "bo"):
        memory = opened(tmp_path / who, hindsight.url, Project(f"x.org/{who}/app", "app", f"/{who}/app"), bank=bank)
        memory.store(Lesson(f"The port of {who} is 5433."))
        deliver(memory)
    for who, other in (("ana", "bo"), ("bo", "ana")):
        memory = opened(
            tmp_path / f"{who}2", hindsight.url, Project(f"x.org/{who}/app", "app", "/"), bank=bank, list_seconds=10
        )
        texts = " ".join(one.text for one in (*memory.recall("port"), *memory.recent()))
        assert f"port of {who}" in texts and f"port of {other}" not in texts and memory.count() == 1


def test_a_key_replaces_and_contexts_add_up(tmp_path: Path, hindsight: Hindsight, bank: str) -> None:
    memory = opened(tmp_path, hindsight.url, bank=bank)
    for text in ("The port is 1.", "The port is 2.", "The port is 3."):
        memory.store(Lesson(text, key="port"))
    for context in ("alpha", "beta"):
        memory.store(Lesson("Quote every path.", context=context))
    deliver(memory)
    assert contents(hindsight, bank) == {"The port is 3.": 1, "Quote every path.\n\n(context: alpha; beta)": 1}
    (found,) = opened(tmp_path / "b", hindsight.url, bank=bank).recall("quote path")
    assert (found.text, found.context) == ("Quote every path.", "alpha; beta")


def test_a_wrong_item_in_the_middle_of_a_batch(tmp_path: Path, hindsight: Hindsight, bank: str) -> None:
    memory = opened(tmp_path, hindsight.url, bank=bank)
    for number in range(9):
        memory.store(Lesson(f"Lesson number {number} is kept."))
    outbox = memory._outbox  # a time that no server takes, as another version of ours might have queued it
    with outbox.file.writing() as db:
        db.execute("UPDATE outbox SET payload = json_set(payload, '$.timestamp', 'no time at all') WHERE seq = 5")
        db.execute("UPDATE outbox SET size = length(CAST(payload AS BLOB)) WHERE seq = 5")
    deliver(memory)
    counts = outbox.counts()
    assert (counts["done"], counts["dead"]) == (8, 1) and len(contents(hindsight, bank)) == 8
    (dead,) = outbox.rows(["dead"])
    assert dead.seq == 5 and dead.last_status == "422" and "timestamp" in str(dead.last_error)


def test_the_wrong_token_then_the_right_one(
    tmp_path: Path, hindsight: Hindsight, bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", "wrong")
    memory = opened(tmp_path, hindsight.url, bank=bank)
    memory.store(Lesson("Kept until the token is right."))
    assert "401" in memory.delivery.deliver(2, time.sleep).trouble
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    deliver(opened(tmp_path, hindsight.url, bank=bank))
    assert sum(contents(hindsight, bank).values()) == 1


def test_what_the_server_fails_at_is_tried_again_and_arrives(tmp_path: Path, hindsight: Hindsight, bank: str) -> None:
    memory = opened(tmp_path, hindsight.url, bank=bank)
    memory.store(Lesson("The model is away for a while."))
    fault(hindsight, path="/v1/embeddings", status=400, times=6)
    deliver(memory, 120)
    fault(hindsight)
    deliver(memory, 60)
    assert memory._outbox.counts()["done"] == 1 and sum(contents(hindsight, bank).values()) == 1


def test_the_server_is_killed_in_the_middle(tmp_path: Path, hindsight: Hindsight, bank: str) -> None:
    """At another moment each time: while it takes what it is sent, and while it works on what it has taken."""
    memory = opened(tmp_path, hindsight.url, bank=bank)
    told: list[str] = []
    for round in range(max(1, KILLS // 10)):
        new = [f"Told while the server may die, round {round}, number {number}." for number in range(48)]
        for text in new:
            memory.store(Lesson(text))
        told += new
        deadly = threading.Timer(0.05 + 0.25 * (round % 5), hindsight.kill)
        deadly.start()
        memory.delivery.deliver(1.5, lambda wait: time.sleep(min(wait, 0.2)), insist=True)
        deadly.join()
        print(f"\nserver killed with {memory._outbox.counts()}", end="")
        hindsight.start()
    deliver(memory, 120)
    counts = memory._outbox.counts()
    print(f"\nin the end {counts}")
    assert counts["done"] == len(told) and contents(hindsight, bank) == Counter(told)


@pytest.mark.parametrize("point", ["outbox.queued", "outbox.leased", "outbox.sent", "outbox.accepted"])
def test_we_are_killed_in_the_middle(point: str, tmp_path: Path, hindsight: Hindsight) -> None:
    """Between queueing and sending, sending and the acknowledgement, that and completion; the server is real."""
    told: list[str] = []
    for who in range(KILLS):
        name = f"{point.replace('.', '-')}-{who}"
        said, code = work(tmp_path, hindsight.url, name, 3, point, 2 if point == "outbox.queued" else 1)
        assert code == -9
        told += said
    memory = opened(tmp_path, hindsight.url)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with memory._outbox.file.writing() as db:
            db.execute("UPDATE outbox SET lease_until = 0, next_at = 0")
        deliver(memory, 2)
        counts = memory._outbox.counts()
        if not counts["queued"] + counts["leased"] + counts["accepted"]:
            break
    there = Counter(
        {text: times for text, times in contents(hindsight, "lessonbook").items() if point.replace(".", "-") in text}
    )
    print(f"\n{point}: killed {KILLS} times; {len(told)} acknowledged, {sum(there.values())} there, {counts}")
    assert set(told) <= set(there) and set(there.values()) == {1} and counts["done"] == len(there)
