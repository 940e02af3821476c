"""Nothing but the protocol on standard output, whatever happens; and the server never outlives its client (MH-01)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.hosts.mcp.wire import GRACE, LONGEST

MARGIN = 8.0
"""Seconds that a busy machine may add to what the server itself takes to end."""
MNEMOPI = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
SKILL = {"action": "create", "name": "tidy-up", "description": "When done.", "body": "Tidy up."}
WHO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("learn", {"memory": "Run make test."}),
    ("recall", {"query": "make"}),
    ("remember", {"text": "The port is 8080.", "key": "port"}),
    ("lessons", {}),
    ("read_skill", {}),
    ("manage_skill", SKILL),
    ("memory_edit", {"action": "get", "lesson": "1"}),
    ("pending", {}),
    ("diff", {"id": "3fa2c1"}),
]
NOISE = """
import os, sys

class Noisy:
    heard = set()
    def find_spec(self, name, path=None, target=None):
        if name in ("mcp", "sqlite3", "tomllib", "lessonbook.actions.recall", "lessonbook.hosts.mcp.server"):
            self.heard.add(name)
            print("noise", name)
            sys.stdout.flush()
            os.write(1, b"more noise\\n")
            os.system("echo noise of a child")
            assert os.read(0, 10) == b"" or name == "mcp", "a child could have read what the client sends"

sys.meta_path.insert(0, Noisy())
"""


def everything(server: Any) -> list[dict[str, Any]]:
    """Ask for all there is; return the results of the calls."""
    server.start()
    for number, method in enumerate(
        ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping"), 1
    ):
        server.ask(number, method)
        server.answer(number)
    server.ask(6, "resources/read", {"uri": "lessonbook://briefing"})
    server.ask(7, "prompts/get", {"name": "review"})
    server.answer(6), server.answer(7)
    found = []
    for number, (tool, arguments) in enumerate(CALLS, 10):
        server.call(number, tool, arguments)
        found.append(server.answer(number)["result"])
    return found


SURROUNDINGS = ("normal", "broken config", "corrupt store", "no git", "no hindsight", "noise", "closed errors")


@pytest.mark.parametrize("what", SURROUNDINGS)
def test_only_the_protocol_is_on_standard_output(
    what: str,
    raw: Callable[..., Any],
    env: dict[str, str],
    bank: Path,
    kept: Callable[[], list[str]],
    tmp_path: Path,
    configure: Callable[..., Path],
) -> None:
    configure(MNEMOPI)
    env |= {"PYTHONWARNINGS": "always", "LESSONBOOK_DEBUG": "1"}
    more: dict[str, Any] = {}
    if what == "broken config":
        configure("[memory\n")
    elif what == "corrupt store":
        bank.parent.mkdir(parents=True)
        bank.write_bytes(b"this is no database" * 400)
    elif what == "no git":
        env |= {"PATH": str(tmp_path)}
    elif what == "no hindsight":
        configure(
            '[memory]\nbackend = "hindsight"\n[hindsight]\nurl = "http://127.0.0.1:9"\n[autolearn]\nenabled = true\n'
        )
    elif what == "noise":
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "sitecustomize.py").write_text(NOISE)
        env |= {"PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{env['PYTHONPATH']}"}
    elif what == "closed errors":
        more = {"stderr": None, "preexec_fn": lambda: os.close(2)}
    server = raw(env=env, **more)
    results = everything(server)
    assert server.end() == 0
    for (tool, _), found in zip(CALLS, results, strict=True):
        text = found["content"][0]["text"]
        assert text and "Traceback" not in text and "unexpected" not in text, (tool, text)
    wrong = [found["isError"] for found in results]
    expected = {"broken config": [True] * len(CALLS)}.get(what)
    if expected:
        assert wrong == expected and "not valid TOML" in results[0]["content"][0]["text"]
    if what in ("normal", "noise", "no git", "closed errors"):
        assert wrong[:6] == [False] * 6
    if what == "no hindsight":
        told = [found["content"][0]["text"] for found in results]
        assert not any(text.startswith("Lesson stored") for text in told), "what only waits is not reported as stored"
        assert any(text.startswith("Lesson queued for retention.") for text in told)
    if what == "corrupt store":  # set aside, and said so; what is reported as stored is in the new one
        assert not wrong[0] and "Run make test." in kept()
        assert "was damaged" in json.dumps(server.told)
        assert any(path.read_bytes().startswith(b"this is no database") for path in bank.parent.glob("*bank*"))
    assert b"noise of a child" in server.errors if what == "noise" else b"Traceback" not in server.errors


GARBAGE: list[tuple[bytes, int, object]] = [
    (b"{", -32700, None),
    (b"hello", -32700, None),
    (b'"hello"', -32600, None),
    (b"\xff\xfe\x00", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": NaN}', -32700, None),
    (b"[" * 200_000, -32700, None),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
    (b"{}", -32600, None),
    (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', -32600, "a"),
    (b'{"jsonrpc": "2.0", "id": 7}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 3, "method": 4}', -32600, 3),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": []}', -32600, 3),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "x", "params": "' + b"a" * LONGEST + b'"}', -32600, None),
]


def test_garbage_is_answered_and_the_server_stays(raw: Callable[..., Any]) -> None:
    server = raw()
    server.ask(1, "tools/list")  # before the handshake
    assert server.answer(1)["error"]["code"] == -32602
    server.start()
    for line, code, id in GARBAGE:
        server.send(line)
        told = server.next()
        assert told["error"]["code"] == code and told["id"] == id, (line[:80], told)
    server.send(b"")
    server.send(b" \r")
    server.ask(12, "no/such/method")
    assert server.answer(12)["error"]["code"] == -32601
    server.call(13, "no_such_tool", {})
    assert "no_such_tool" in server.answer(13)["error"]["message"]
    server.ask(14, "tools/call", {"name": "recall", "arguments": 5})
    assert server.answer(14)["error"]["code"] == -32602
    server.ask(15, "resources/read", {"uri": "file:///etc/passwd"})
    assert "lessonbook://briefing" in server.answer(15)["error"]["message"]
    server.ask(16, "prompts/get", {"name": "accept"})
    assert server.answer(16)["error"]["code"] == -32602
    server.ask(17, "ping")
    assert server.answer(17)["result"] == {}
    assert server.end() == 0


def test_a_large_message_and_half_a_character_are_kept_whole(
    raw: Callable[..., Any], configure: Callable[..., Path]
) -> None:
    configure(MNEMOPI)
    server = raw()
    server.start()
    server.call(1, "learn", {"memory": "Long. " + "é" * 1_000_000})
    told = server.answer(1)["result"]
    assert not told["isError"] and "The lesson was cut to 20,000 characters." in told["content"][0]["text"]
    half = json.dumps({"name": "learn", "arguments": {"memory": "a \ud83d b"}}).encode()
    server.send(b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": ' + half + b"}\r")
    assert not server.answer(2)["result"]["isError"]
    server.call(3, "recall", {"query": "a \N{REPLACEMENT CHARACTER} b", "limit": 1})
    assert "a \N{REPLACEMENT CHARACTER} b" in server.answer(3)["result"]["content"][0]["text"]


def test_what_was_asked_is_answered_although_the_client_says_no_more(raw: Callable[..., Any]) -> None:
    server = raw()
    server.ask(1, "initialize", WHO)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.ask(2, "tools/list")
    server.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 3, "method": "ping"}).encode())  # no line end
    assert server.end() == 0
    assert sorted(told["id"] for told in server.told if "result" in told) == [1, 2, 3]


def test_a_client_that_never_asks_ends_it_at_once(env: dict[str, str], work: Path) -> None:
    command = [sys.executable, "-m", "lessonbook", "mcp"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd=work, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)], ids=["term", "hup", "int"]
)
def test_a_signal_ends_it(number: int, code: int, raw: Callable[..., Any]) -> None:
    server = raw()
    server.start()
    server.process.send_signal(number)
    assert server.seconds_to_end() < GRACE + MARGIN
    assert server.ended() == code


def busy_with(server: Any, text: str) -> None:
    """Have the server begin to write a lesson, which it cannot finish yet."""
    server.call("slow", "remember", {"text": text})
    server.ask("still there", "ping")
    server.answer("still there")
    time.sleep(0.5)


@pytest.fixture
def stuck(raw: Callable[..., Any], lock: Callable[..., Any], configure: Callable[..., Path]) -> Any:
    """A server with one lesson, and the bank locked by another program."""
    configure(MNEMOPI)
    server = raw()
    server.start()
    server.call("first", "remember", {"text": "First."})
    assert not server.answer("first")["result"]["isError"]
    return server, lock()


def test_a_call_in_progress_is_finished_when_the_client_ends(stuck: Any, kept: Callable[[], list[str]]) -> None:
    server, db = stuck
    busy_with(server, "Second.")
    server.process.stdin.close()
    time.sleep(0.2)
    db.execute("ROLLBACK")
    assert server.ended() == 0
    assert kept() == ["First.", "Second."]
    assert [told["id"] for told in server.told][-1] == "slow"


@pytest.mark.parametrize("how", ["end of input", "signal"])
def test_a_call_that_cannot_finish_does_not_keep_the_server_alive(
    how: str, stuck: Any, kept: Callable[[], list[str]]
) -> None:
    server, db = stuck
    busy_with(server, "Second.")
    if how == "end of input":
        server.process.stdin.close()
    else:
        server.process.terminate()
    assert server.seconds_to_end() < GRACE + MARGIN
    assert server.process.returncode == 0
    db.execute("ROLLBACK")
    assert kept() == ["First."]


def test_it_ends_when_nobody_reads_any_more(raw: Callable[..., Any]) -> None:
    read, write = os.pipe()
    server = raw(stdout=write)
    os.close(write)
    with os.fdopen(read, "rb") as lines:
        server.ask(1, "initialize", WHO)
        assert json.loads(lines.readline())["id"] == 1
    assert server.seconds_to_end() < GRACE + MARGIN  # although standard input stays open
    assert server.process.returncode == 0


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-m", "lessonbook", "mcp"])
time.sleep(600)
"""


@pytest.mark.parametrize("held", [False, True], ids=["its pipe closes", "another process holds its pipe"])
def test_it_ends_when_its_parent_is_killed(held: bool, env: dict[str, str], work: Path) -> None:
    ours, theirs = os.pipe()  # standard input of the server
    alive, end = os.pipe()  # its standard error: closed when the server is gone
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=ours, stdout=subprocess.PIPE, stderr=end, env=env, cwd=work
    )
    os.close(ours), os.close(end)
    os.write(theirs, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": WHO}).encode() + b"\n")
    assert parent.stdout and json.loads(parent.stdout.readline())["id"] == 1
    parent.kill()
    if not held:
        os.close(theirs)
    start = time.monotonic()
    while os.read(alive, 4096):
        continue
    assert time.monotonic() - start < GRACE + MARGIN
    parent.wait(), parent.stdout.close(), os.close(alive)
    if held:
        os.close(theirs)


def test_a_client_that_does_not_read_does_not_keep_it_alive(raw: Callable[..., Any], env: dict[str, str]) -> None:
    read, write = os.pipe()
    server = raw(stdout=write)
    os.close(write)
    server.ask(1, "initialize", WHO)
    assert os.read(read, 1) == b"{"  # it is there, and from now on nobody reads
    for number in range(2, 60):  # more than a pipe holds
        server.ask(number, "tools/list")
    time.sleep(2)
    server.process.stdin.close()
    assert server.seconds_to_end() < GRACE + MARGIN
    os.close(read)
