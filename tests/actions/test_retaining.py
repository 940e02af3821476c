"""What is said in sessions is kept where a person asked for it: each turn once, nothing lost at the end, no secrets."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.memory.hindsight.conftest import APP, Server, Stub

from lessonbook.actions.retaining import retain
from lessonbook.core.errors import SetupError
from lessonbook.core.session import Session, Turn
from lessonbook.memory.hindsight.banks import banks
from lessonbook.memory.hindsight.turns import PART, turn_items
from lessonbook.memory.outbox.items import ITEM_MOST, State
from lessonbook.memory.outbox.outbox import OUTBOX_FILE, Outbox
from lessonbook.system.settings import Places, Settings, load, places

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Machine:
    """A person's machine with one transcript on it, and a server."""

    def __init__(self, home: Path, url: str, on: bool = True) -> None:
        self.home = home
        file = home / ".config" / "lessonbook" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(
            f'[memory]\nbackend = "hindsight"\n[hindsight]\nurl = "{url}"\nretain_sessions = {str(on).lower()}\n'
        )
        self.transcript = home / "session.jsonl"
        shutil.copy(sorted(SAMPLES.glob("claude/projects/*/*.jsonl"))[0], self.transcript)

    @property
    def places(self) -> Places:
        return places()

    @property
    def settings(self) -> Settings:
        return load(self.places)

    def retain(self) -> tuple[int, int, list[str]]:
        return retain(self.places, self.settings, [self.transcript], time.time())

    def outbox(self) -> Outbox:
        return Outbox(self.settings.agent_dir / OUTBOX_FILE)


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def machine(home: Path, stub: Stub) -> Iterator[Machine]:
    server = Server(stub)
    yield Machine(home, server.url)
    server.end()


def session(*turns: Turn) -> Session:
    return Session("claude", "s-1", "/x.jsonl", turns, cwd="/work/app")


def items(*turns: Turn) -> list[Any]:
    return list(turn_items(session(*turns), banks("b", APP, "per-project-tagged"), "http://x", 1.0))


def test_it_is_off_by_default(home: Path) -> None:
    off = Machine(home, "http://127.0.0.1:9", on=False)
    with pytest.raises(SetupError, match="retain_sessions is off"):
        off.retain()


def test_each_turn_once_and_then_only_what_is_new(machine: Machine, stub: Stub) -> None:
    queued, read, problems = machine.retain()
    assert queued > 0 and read == 1 and problems == []
    assert machine.retain() == (0, 0, []), "the file has not changed"
    rows = map(json.loads, machine.transcript.read_text().splitlines())
    last = next(row for row in reversed(list(rows)) if row.get("type") == "user")
    last |= {"type": "user", "uuid": "new-1", "message": {"role": "user", "content": "And now the docs, please."}}
    with machine.transcript.open("a") as file:
        file.write(json.dumps(last) + "\n")
    again, _, _ = machine.retain()
    assert again == 1, "the turns before are there already"
    outbox = machine.outbox()
    assert all(row.kind == "transcript" for row in outbox.rows([State.QUEUED]))
    contents = [row.told["content"] for row in outbox.rows([State.QUEUED])]
    assert sum("And now the docs, please." in text for text in contents) == 1
    assert len({row.document for row in outbox.rows([State.QUEUED])}) == queued + 1
    outbox.close()


def test_a_turn_that_went_on_takes_the_place_of_what_it_was() -> None:
    (before,), (after,) = items(Turn(3, "Build it.")), items(Turn(3, "Build it.", reply="Done."))
    assert before.document == after.document and before.identity != after.identity


def test_no_secret_and_no_persons_home_leaves_the_machine() -> None:
    secret = "ghp_" + "a1B2" * 9
    (one,) = items(Turn(1, f"Use {secret} in /home/ana/app", reply=f"I used {secret}; ana@example.org knows."))
    text = json.dumps(dict(one.payload))
    assert secret not in text and "/home/ana" not in text and "ana@example.org" not in text


def test_a_long_turn_becomes_parts_that_fit() -> None:
    told = items(Turn(1, "word " * 40_000, reply="x" * 300_000))
    assert len(told) > 8 and all(len(one.payload["content"]) <= PART for one in told)
    assert all(len(one.text.encode()) < ITEM_MOST for one in told) and len({one.document for one in told}) == len(told)
    assert sum(one.payload["content"].count("word") for one in told) == 40_000
    assert items(Turn(1, "  ", reply="")) == []


def test_the_end_of_a_session_queues_and_delivers(machine: Machine, stub: Stub, run: Any) -> None:
    event = {"session_id": "s-9", "transcript_path": str(machine.transcript), "cwd": str(machine.home)}
    start = time.monotonic()
    done = run("hook", "session-end", "--agent", "claude", stdin=json.dumps(event))
    assert done.returncode == 0 and time.monotonic() - start < 5
    until = time.monotonic() + 30
    while not stub.contents() and time.monotonic() < until:
        time.sleep(0.1)
    assert stub.contents() and set(stub.contents().values()) == {1}
    tags = {tag for one in stub.documents.values() for tag in one["tags"]}
    assert "kind:session" in tags


def test_what_a_crash_left_is_kept_at_the_next_start(machine: Machine, run: Any) -> None:
    """The hook has noted the session; what it started died before it read anything."""
    notes = machine.places.state / "sessions" / "claude" / "s-9"
    notes.mkdir(parents=True)
    (notes / "end.json").write_text(
        json.dumps({"agent": "claude", "session": "s-9", "transcript": str(machine.transcript)})
    )
    done = run("outbox", "sessions", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["queued"] > 0
