"""Hosts with a server that is wrong, slow or away: in time, with local lessons and one notice, and nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.memory.hindsight.conftest import Server, Stub

WRONG: dict[str, dict[str, Any]] = {
    "never answers": {"delay": 60},
    "one byte a second": {"drip": 1.0},
    "redirects": {"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}, "body": ""},
    "401": {"status": 401},
    "HTML": {"status": 200, "body": "<html></html>"},
}


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def server(stub: Stub) -> Iterator[Server]:
    made = Server(stub)
    yield made
    made.end()


@pytest.fixture
def configure(home: Path) -> Callable[[str], None]:
    def write(url: str) -> None:
        file = home / ".config" / "lessonbook" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        quick = "recall_seconds = 2\nretain_seconds = 2\n"
        more = "[autolearn]\nenabled = true\n[recall]\non_prompt = true\n"
        file.write_text(f'[memory]\nbackend = "hindsight"\n[hindsight]\nurl = "{url}"\n{quick}{more}')

    return write


@pytest.mark.parametrize("what", [*WRONG, "closed port", "nobody's address"])
def test_hs02_a_session_starts_in_time_whatever_the_server_does(
    what: str, run: Any, stub: Stub, server: Server, configure: Callable[[str], None]
) -> None:
    urls = {"closed port": "http://127.0.0.1:9", "nobody's address": "http://10.255.255.1:9"}
    configure(urls.get(what, server.url))
    stub.always = WRONG.get(what)
    start = time.monotonic()
    assert run("learn", "Quote every path.").stdout == "Lesson queued for retention.\n"
    learned = time.monotonic() - start
    times = []
    for event, given in (("session-start", {}), ("prompt", {"prompt": "quote what?"}), ("session-start", {})):
        start = time.monotonic()
        done = run("hook", event, "--agent", "claude", stdin=json.dumps({"cwd": "/", "session_id": "s", **given}))
        times.append(time.monotonic() - start)
        assert done.returncode == 0
    assert max(times) < 5 and learned < 3, (learned, times)
    start = time.monotonic()
    done = run("recall", "quote")
    assert done.returncode == 0 and time.monotonic() - start < 12
    if what != "nobody's address":  # the folder of another project sees nothing of this one's
        assert "Quote every path." in done.stdout and "only what was told on this machine" in done.stderr


def test_hs02_the_briefing_shows_local_lessons_and_one_notice(
    run: Any, tmp_path: Path, stub: Stub, server: Server, configure: Callable[[str], None]
) -> None:
    configure(server.url)
    stub.always = {"delay": 60}
    run("learn", "Quote every path.")
    done = run("hook", "session-start", stdin=json.dumps({"cwd": str(tmp_path / "work")}))
    said = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert "Quote every path." in said and said.count("did not answer within 1 seconds") == 1


def test_a_command_delivers_when_it_has_ended(
    run: Any, stub: Stub, server: Server, configure: Callable[[str], None]
) -> None:
    configure(server.url)
    assert run("learn", "Told by a command.").stdout == "Lesson queued for retention.\n"
    until = time.monotonic() + 20
    while not stub.contents() and time.monotonic() < until:
        time.sleep(0.1)
    assert stub.contents() == {"Told by a command.": 1}
    done = run("outbox", "flush", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["waiting"] == 0
    assert run("learn", "Told by a command.").stdout == "Lesson stored.\n"


@pytest.mark.parametrize("end", ["standard input", "SIGTERM"])
def test_hs05_a_server_of_tools_that_ends_right_after_learning(
    end: str, run: Any, tmp_path: Path, stub: Stub, server: Server, configure: Callable[[str], None]
) -> None:
    pytest.importorskip("mcp")
    configure(server.url)
    stub.always = {"delay": 2.5}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-m", "lessonbook", "mcp"], stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=tmp_path
    )
    assert process.stdin and process.stdout

    def say(**message: Any) -> None:
        assert process.stdin
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    say(id=1, method="initialize", params=client)
    process.stdout.readline()
    say(method="notifications/initialized")
    say(id=2, method="tools/call", params={"name": "learn", "arguments": {"memory": "Told at the very end."}})
    line = b""
    while b'"id":2' not in line.replace(b" ", b""):
        line = process.stdout.readline()
    assert b"Lesson queued for retention." in line
    start = time.monotonic()
    process.stdin.close() if end == "standard input" else process.send_signal(signal.SIGTERM)
    process.wait(10)
    assert time.monotonic() - start < 3
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    stub.always = None
    memory = json.loads(run("outbox", "--json", cwd=tmp_path).stdout)
    assert memory["counts"]["queued"] + memory["counts"]["leased"] + memory["counts"]["accepted"] == 1
    until = time.monotonic() + 75  # what was being sent is anybody's when its lease has run out
    while run("outbox", "flush", "--seconds", "5", cwd=tmp_path).returncode and time.monotonic() < until:
        time.sleep(1)
    assert stub.contents() == {"Told at the very end.": 1} and stub.writes["Told at the very end."] == 1


def test_the_outbox_on_the_command_line(run: Any, stub: Stub, server: Server, configure: Callable[[str], None]) -> None:
    configure("http://127.0.0.1:9")
    for text in ("good", "POISON", "also good"):
        run("learn", text)
    done = run("outbox", "--json")
    assert [one["text"] for one in json.loads(done.stdout)["items"]] == ["good", "POISON", "also good"]
    for words in (["retry", "x"], ["drop", "99"], ["list", "1"], ["flush", "--limit", "3"], ["--seconds", "3"]):
        done = run("outbox", *words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, words
    assert "99" in run("outbox", "drop", "99").stderr
    configure(server.url)  # another server: what waits for the first one stays
    assert run("outbox").stdout.count("cannot be reached") + run("outbox").stdout.count("not configured now") >= 3
    for text in ("good", "POISON", "also good"):
        run("learn", text)
    done = run("outbox", "flush", "--seconds", "20", "--json")
    told = json.loads(done.stdout)
    assert stub.contents() == {"good": 1, "also good": 1} and done.returncode == 1 and told["waiting"] == 3
    rows = json.loads(run("outbox", "--json").stdout)["items"]
    (dead,) = (row for row in rows if row["state"] == "dead")
    assert dead["text"] == "POISON" and "422" in dead["error"]
    assert run("outbox", "drop", str(dead["id"])).stdout == "Dropped 1 item.\n"
    assert run("outbox", "retry").stdout == "Nothing was set aside.\n"


def test_a_damaged_outbox_is_said_and_nothing_of_it_is_lost(
    run: Any, home: Path, stub: Stub, server: Server, configure: Callable[[str], None]
) -> None:
    configure("http://127.0.0.1:9")
    assert run("learn", "Told before the damage.").stdout == "Lesson queued for retention.\n"
    (file,) = home.rglob("outbox.db")
    until, before = time.monotonic() + 20, json.loads(run("outbox", "--json").stdout)
    while time.monotonic() < until and not before["items"][0]["attempts"]:  # it delivers in the background first
        before = json.loads(run("outbox", "--json").stdout)
    while time.monotonic() < until and list(home.rglob("outbox.db-wal")):
        time.sleep(0.1)
    with file.open("r+b") as damaged:
        damaged.write(b"\xff" * 100)
    done = run("doctor")
    assert "outbox" in done.stdout and "is damaged" in done.stdout and not list(home.rglob("outbox.db.damaged-*"))
    done = run("learn", "Told after it.")
    assert done.stdout.startswith("Lesson queued for retention. ") and "was damaged" in done.stdout
    after = json.loads(run("outbox", "--json").stdout)
    assert [one["text"] for one in after["items"]] == ["Told before the damage.", "Told after it."]
    assert after["items"][0]["document"] == before["items"][0]["document"]
    (kept,) = [one for one in home.rglob("outbox.db.damaged-*") if one.suffix != ".lock"]
    assert f"{kept.name} was damaged" in run("outbox").stderr
    assert kept.name in done.stdout and f"{kept.name} was damaged and set aside" in run("doctor").stdout
    configure(server.url)
    assert run("outbox", "flush").returncode in (0, 1)
