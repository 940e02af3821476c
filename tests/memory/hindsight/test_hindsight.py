"""The backend against sockets: banks and scopes, what is recalled, and how it takes every way a server can fail."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.memory.hindsight.conftest import APP, TOKEN, Server, Stub, opened

from lessonbook.core.errors import ModelError, SetupError
from lessonbook.core.lesson import Lesson, Outcome, Recalled
from lessonbook.core.ports import Bank, Delivering, Memory
from lessonbook.core.project import Project, from_folder
from lessonbook.memory.hindsight.banks import bank_name
from lessonbook.memory.hindsight.client import seconds_asked
from lessonbook.memory.hindsight.opening import open_hindsight
from lessonbook.memory.off import OffMemory
from lessonbook.system.settings import Settings
from lessonbook.testing import MemoryContract


class TestContractAway(MemoryContract):
    """What every backend must do, with a server that is away: this machine's own lessons are all there is."""

    outcomes = (Outcome.QUEUED, Outcome.QUEUED)

    @pytest.fixture(autouse=True)
    def _port(self, closed_port: int) -> None:
        self.url = f"http://127.0.0.1:{closed_port}"

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return opened(folder, self.url)

    test_a_new_store_is_empty = None  # type: ignore[assignment]  # that the server is away is noted for the others


class TestContractThere(MemoryContract):
    """What every backend must do, with a server that has taken what it was told."""

    outcomes = (Outcome.QUEUED, Outcome.DUPLICATE)

    @pytest.fixture(autouse=True)
    def _server(self, server: Server) -> None:
        self.url = server.url

    def open(self, folder: Path, now: Callable[[], float]) -> Memory:
        return opened(folder, self.url)

    def settle(self, memory: Memory) -> None:
        deliver(memory)


def deliver(memory: object, seconds: float = 30.0) -> None:
    memory.delivery.deliver(seconds, lambda wait: time.sleep(min(wait, 1.1)), insist=True)  # type: ignore[attr-defined]


def told(memory: Memory) -> list[str]:
    return [one.text for one in memory.recent(50)]


def test_it_is_a_delivering_memory_and_no_bank(tmp_path: Path, server: Server) -> None:
    memory = opened(tmp_path, server.url)
    assert isinstance(memory, Delivering) and not isinstance(memory, Bank)


def test_without_an_address_it_says_so(tmp_path: Path) -> None:
    memory = open_hindsight(Settings(tmp_path, memory_backend="hindsight"), APP, time.time)
    assert isinstance(memory, OffMemory)
    with pytest.raises(SetupError, match=r"^Hindsight backend is not initialised for this session\.$"):
        memory.store(Lesson("a"))
    for url in ("ftp://x", "http://me:pw@x", "http://x?a=b", "nonsense"):
        with pytest.raises(SetupError, match=r"hindsight\.url"):
            opened(tmp_path, url)


def test_what_was_written_is_found_in_the_words_it_was_told_in(tmp_path: Path, server: Server, stub: Stub) -> None:
    memory = opened(tmp_path / "a", server.url)
    memory.store(Lesson("The port is 5433.", context="a red build", tags=("db",), title="Port"))
    deliver(memory)
    (document,) = stub.documents.values()
    assert document["content"] == "The port is 5433." and document["context"] == "a red build"
    assert document["tags"] == [f"project:{APP.slug}", "project:app", "db"]
    assert document["metadata"] == {"kind": "lesson", "source": "coding-agent-learn", "title": "Port"}
    other = opened(tmp_path / "b", server.url)  # another machine
    for found in (other.recall("which port"), other.recent()):
        (one,) = found
        assert isinstance(one, Recalled) and one.text.endswith("The port is 5433.") and one.context == "a red build"
    assert other.recall("which port")[0].text == "The port is 5433." and other.count() == 1
    assert other.reflect("ports") == "About ports" and other.trouble == ""


def test_two_repositories_of_one_name_are_told_apart(tmp_path: Path, server: Server) -> None:
    one, two = (Project(f"example.org/{who}/app", "app", f"/{who}/app") for who in ("ana", "bo"))
    memories = [opened(tmp_path / name, server.url, project) for name, project in (("a", one), ("b", two))]
    for memory, text in zip(memories, ("ana's lesson", "bo's lesson"), strict=True):
        memory.store(Lesson(text, tags=(f"project:{two.slug}", "scope:global")))
        deliver(memory)
    assert [one.text.removeprefix("Fact: ") for one in memories[0].recall("lesson")] == ["ana's lesson"]
    assert [one.text.removeprefix("Fact: ") for one in memories[1].recall("lesson")] == ["bo's lesson"]


@pytest.mark.parametrize(
    ("scoping", "banks", "seen"),
    [
        ("per-project-tagged", {"lessonbook"}, {"own", "shared", "untagged"}),
        ("per-project", {bank_name(f"lessonbook-{APP.slug}")}, {"own"}),
        ("global", {"lessonbook"}, {"shared", "untagged"}),
    ],
)
def test_scoping(tmp_path: Path, server: Server, stub: Stub, scoping: str, banks: set[str], seen: set[str]) -> None:
    for name, way, project in (
        ("own", "per-project", APP),
        ("own", "per-project-tagged", APP),
        ("other", "per-project-tagged", from_folder("/work/other")),
        ("shared", "global", APP),
    ):
        memory = opened(tmp_path / way / name, server.url, project, scoping=way)
        memory.store(Lesson(f"a lesson: {name}"))
        deliver(memory)
    bank = stub.banks["lessonbook"]
    assert bank == {}
    stub.documents["lessonbook", "x"] = {"content": "a lesson: untagged", "tags": []}
    memory = opened(tmp_path / "reader", server.url, scoping=scoping)
    assert {one.text.rpartition(": ")[2] for one in memory.recall("a lesson:", 20)} == seen
    memory.store(Lesson("new"))
    deliver(memory)
    assert next(of for (of, _), one in stub.documents.items() if one["content"] == "new") in banks


def test_a_key_replaces_and_contexts_add_up(tmp_path: Path, server: Server, stub: Stub) -> None:
    memory = opened(tmp_path, server.url)
    for text in ("port 1", "port 2"):
        memory.store(Lesson(text, key="port"))
    for context in ("alpha", "beta", "alpha"):
        memory.store(Lesson("quote paths", context=context))
    deliver(memory)
    assert sorted(stub.contents()) == ["port 2", "quote paths\n\n(context: alpha; beta)"]
    (found,) = opened(tmp_path / "b", server.url).recall("quote")
    assert (found.text, found.context) == ("quote paths", "alpha; beta")
    assert [one.text for one in memory.recent()] == ["quote paths", "port 2"]


def test_missions_are_told_before_the_first_lesson(tmp_path: Path, server: Server, stub: Stub) -> None:
    memory = opened(tmp_path, server.url, retain_mission="decisions", reflect_mission="be short")
    for text in ("a", "b"):
        memory.store(Lesson(text))
        deliver(memory)
    assert [method for method, _, _ in stub.requests].count("PUT") == 1 and stub.requests[0][0] == "PUT"
    assert stub.banks["lessonbook"] == {"retain_mission": "decisions", "reflect_mission": "be short"}


# The cases of ../shared/cases/remote.md ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        {"late": True, "linger": 2.6},
        {"late": True, "status": 500},
        {"late": True, "body": '{"success": tr', "short": 40},
        {"late": True, "reset": True},
    ],
    ids=["times out", "500 after storing", "breaks off", "reset"],
)
def test_hs01_stored_but_not_acknowledged(tmp_path: Path, server: Server, stub: Stub, fault: dict[str, object]) -> None:
    memory = opened(tmp_path, server.url)
    for _ in range(2):  # the agent tries again, having heard nothing
        assert memory.store(Lesson("Deploy from main.")).outcome is Outcome.QUEUED
    stub.faults = [fault]
    assert memory.delivery._flusher.step()
    (row,) = memory._outbox.rows(["queued"])
    assert row.last_error and re.match(r"retain( at|:) 127\.0\.0\.1:\d+", row.last_error)
    if "status" not in fault:
        assert "Whether it was stored is not known" in row.last_error
    if "linger" in fault:
        assert re.search(r"did not answer within [\d.]+ seconds", row.last_error)
    deliver(memory)
    assert stub.contents() == {"Deploy from main.": 1} and stub.writes["Deploy from main."] == 1
    assert memory.store(Lesson("Deploy from main.")).outcome is Outcome.DUPLICATE


FAULTS = {
    "never answers": {"delay": 30},
    "one byte a second": {"drip": 1.0},
    "redirects": {"status": 302, "headers": {"Location": "http://127.0.0.1:1/elsewhere"}, "body": ""},
    "401": {"status": 401},
    "HTML": {"status": 200, "body": "<html><title>Welcome to the hotel</title></html>"},
    "404 of a proxy": {"status": 404, "body": ""},
    "another program": {"status": 404, "body": '{"detail": "Not Found"}'},
    "a list": {"status": 200, "body": "[]"},
    "500": {"status": 500},
    "429": {"status": 429, "headers": {"Retry-After": "20"}},
}


@pytest.mark.parametrize("what", FAULTS)
def test_hs02_a_server_that_is_wrong_costs_a_bounded_time(
    what: str, tmp_path: Path, server: Server, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    stub.always = FAULTS[what]
    memory = opened(tmp_path, server.url, recall_seconds=1)
    start = time.monotonic()
    assert memory.store(Lesson("kept here")).outcome is Outcome.QUEUED
    assert time.monotonic() - start < 0.5
    for ask in (memory.recent, lambda: memory.recall("kept"), memory.recent):
        start = time.monotonic()
        assert [one.text for one in ask()] == ["kept here"], "local lessons are shown all the same"
        assert time.monotonic() - start < 1.6 and memory.trouble
    assert "127.0.0.1" in memory.trouble and TOKEN not in memory.trouble
    assert memory.trouble == " ".join(memory.trouble.split()) and len(memory.trouble) < 400
    if what == "redirects":
        assert "redirects to 127.0.0.1:1" in memory.trouble
    if what not in (
        "401",
        "another program",
    ):  # after a few failures it is left alone, for everybody who shares the outbox
        memory.recent(), memory.recent()
        before, start = len(stub.requests), time.monotonic()
        opened(tmp_path, server.url).recent()
        assert len(stub.requests) == before and time.monotonic() - start < 0.5
    assert memory.count() == 1


def test_hs02_a_closed_port_and_an_address_nobody_has(tmp_path: Path, closed_port: int) -> None:
    for name, url in (("a", f"http://127.0.0.1:{closed_port}"), ("b", "http://10.255.255.1:9")):
        memory = opened(tmp_path / name, url)
        memory.store(Lesson("kept here"))
        start = time.monotonic()
        assert told(memory) == ["kept here"] and memory.trouble and "not known" not in memory.trouble
        assert time.monotonic() - start < 2.5
        with pytest.raises(ModelError):
            opened(tmp_path / name, url, reflect_seconds=1).reflect("what?")


def test_the_token_never_goes_where_a_redirect_points(
    tmp_path: Path, server: Server, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    elsewhere = Stub()
    thief = Server(elsewhere)
    stub.always = {"status": 307, "headers": {"Location": f"{thief.url}/v1/default/banks/x"}, "body": ""}
    memory = opened(tmp_path, server.url)
    memory.store(Lesson("a"))
    memory.recall("a"), memory.recent(), memory.count()
    deliver(memory, 1.0)
    thief.end()
    assert elsewhere.requests == [] and f"Bearer {TOKEN}" in stub.seen_tokens
    memory.close()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def test_the_token_is_not_sent_unencrypted_to_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    memory = opened(tmp_path, "http://10.255.255.1:9")
    start = time.monotonic()
    assert list(memory.recent()) == [] and "https" in memory.trouble and time.monotonic() - start < 0.5


def test_a_token_of_a_helper(tmp_path: Path, server: Server, stub: Stub) -> None:
    stub.token = TOKEN
    helper = tmp_path / "helper"
    helper.write_text(f"#!/bin/sh\necho {TOKEN}\necho noise\n")
    helper.chmod(0o755)
    memory = opened(tmp_path, server.url, credential_helper=f"'{helper}'")
    memory.store(Lesson("a"))
    deliver(memory)
    assert stub.contents() == {"a": 1}
    for words, said in (
        (f"{helper}x", "is not there"),
        ("'", "no command line"),
        ("sh -c 'echo t0ps3cret; exit 3'", "3"),
    ):
        broken = opened(tmp_path / "b", server.url, credential_helper=words)
        broken.recent()
        assert said in broken.trouble and "t0ps3cret" not in broken.trouble


def test_the_wrong_token_then_the_right_one(
    tmp_path: Path, server: Server, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.token = TOKEN
    monkeypatch.setenv("HINDSIGHT_API_TOKEN", "wrong")
    memory = opened(tmp_path, server.url)
    for number in range(5):
        memory.store(Lesson(f"{number}"))
    came = memory.delivery.deliver(1.0, time.sleep)
    assert (came.done, came.dead) == (0, 0) and "401" in came.trouble and len(stub.requests) == 1
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    deliver(opened(tmp_path, server.url))
    assert len(stub.contents()) == 5


def test_hs04_tags_limits_long_questions_and_large_answers(tmp_path: Path, server: Server, stub: Stub) -> None:
    memory = opened(tmp_path, server.url)
    long = "word " * 3_000 + "needle"
    for number in range(8):
        memory.store(Lesson(f"fact {number} " + "about things " * 200, tags=("a", "b")))
    memory.store(Lesson(long))
    deliver(memory)
    assert long.strip() in stub.contents(), "stored whole"
    assert len(memory.recall("fact", 5)) == 5, "a limit is a count"
    memory.recall("needle " * 3_000, 3)
    asked = stub.requests[-1][2]
    assert len(asked["query"].split()) <= 200 and asked["max_tokens"] >= 1_000
    for document in stub.documents.values():
        document["metadata"] = {**document["metadata"], "x": "y" * 300_000}
    other = opened(tmp_path / "other", server.url)
    found = other.recall("fact", 5)
    assert len(found) == 5 and all("yyyy" not in repr(one) for one in found)


def test_hs05_accepted_is_there_at_the_next_start(tmp_path: Path, server: Server, stub: Stub) -> None:
    stub.always = {"delay": 2.5}
    memory = opened(tmp_path, server.url)
    memory.delivery.delivers_itself = True
    memory.store(Lesson("told right before the end"))
    start = time.monotonic()
    memory.close()
    assert time.monotonic() - start < 2.3
    stub.always = None
    again = opened(tmp_path, server.url)
    assert told(again) == ["told right before the end"]
    deliver(again, 70)
    assert stub.contents() == {"told right before the end": 1}


def test_a_thread_delivers_by_itself(tmp_path: Path, server: Server, stub: Stub) -> None:
    memory = opened(tmp_path, server.url)
    memory.delivery.delivers_itself = True
    for number in range(40):
        memory.store(Lesson(f"{number}"))
    until = time.monotonic() + 20
    while memory._outbox.counts()["done"] < 40 and time.monotonic() < until:
        time.sleep(0.1)
    assert sum(stub.contents().values()) == 40 and len([r for r in stub.requests if r[1].endswith("memories")]) == 3
    memory.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "lessonbook-outbox"]


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("7", 7.0), ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0)]
    + [(text, None) for text in ("", "soon", "-3", "1e9", "Thu, 99 Jan 1970", "\u0663")],
)
def test_retry_after_is_a_number_or_a_date(told: str, seconds: float | None) -> None:
    assert seconds_asked(told, 60.0) == seconds


@pytest.mark.parametrize("name", ["日本語", "プロジェクト", "Café", "x y", "..odd", "emoji🚀", "a" * 255])
def test_a_project_of_any_name_is_found_by_itself_and_by_its_name(
    name: str, tmp_path: Path, server: Server, stub: Stub
) -> None:
    """``project:<name>`` is what programs look for that know no digest: the name as it is, in lower case."""
    memory = opened(tmp_path, server.url, Project(f"x.org/me/{name}", name, f"/{name}"))
    memory.store(Lesson("Of this project alone."))
    deliver(memory)
    (document,) = stub.documents.values()
    own, named = document["tags"]
    assert own.isascii() and own.startswith("project:") and named == f"project:{name.lower()}"
    assert [one.text for one in memory.recall("this project")] == ["Of this project alone."]
    other = opened(tmp_path / "other", server.url, Project(f"x.org/you/{name}", name, f"/you/{name}"))
    assert other.recall("this project") == []


@pytest.mark.parametrize("name", ["team/a", " ", "", "é", "a" * 400, "../../x", "team a", "ok-name_1.2"])
def test_bank_names_are_what_a_server_takes(name: str) -> None:
    made = bank_name(name)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,192}", made) and (made == name) == (name == "ok-name_1.2")


def test_a_listener_that_accepts_and_says_nothing(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        memory = opened(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}")
        memory.store(Lesson("kept"))
        start = time.monotonic()
        assert told(memory) == ["kept"] and 0.5 < time.monotonic() - start < 2
