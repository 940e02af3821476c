"""A client that means harm, or is broken: no message ends the server or goes unanswered, and none is written twice."""

from __future__ import annotations

import json
import random
import resource
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.hosts.mcp.wire import GRACE

MARGIN = 8.0
ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
LARGE = 10 << 20
SKILL = {"action": "create", "name": "tidy-up", "description": "When done.", "body": "Tidy up."}
TEXTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "learn": ({"memory": "x"}, ["memory", "context", "scope", "skill.name", "skill.body"]),
    "recall": ({"query": "x"}, ["query", "limit"]),
    "remember": ({"text": "x"}, ["text", "cue", "tags"]),
    "lessons": ({}, ["after"]),
    "read_skill": ({}, ["name"]),
    "manage_skill": (dict(SKILL), ["action", "description"]),
    "memory_edit": ({"action": "update", "lesson": "1"}, ["lesson", "changes.text"]),
    "pending": ({}, ["book"]),
    "diff": ({"id": "3fa2c1"}, ["id"]),
}
"""Each tool's least arguments, and which of them are given ten megabytes: one for each way they are looked into."""


def large(tool: str, name: str) -> dict[str, Any]:
    """The arguments of a call with ten megabytes in one place."""
    given: dict[str, Any] = json.loads(json.dumps(TEXTS[tool][0]))
    outer, _, inner = name.partition(".")
    if inner and outer == "skill":
        given["skill"] = {**SKILL, inner: "x " * (LARGE // 2)}
    else:
        given[outer] = {inner: "x " * (LARGE // 2)} if inner else "x " * (LARGE // 2)
    return given


@pytest.mark.slow
@pytest.mark.parametrize("tool", TEXTS)
def test_ten_megabytes_in_any_argument(
    tool: str, raw: Callable[..., Any], configure: Callable[..., Path], home: Path
) -> None:
    configure(ON)
    server = raw()
    server.start()
    server.call("first", "remember", {"text": "The first."})
    server.answer("first")
    for name in TEXTS[tool][1]:
        server.call(name, tool, large(tool, name))
        told = server.answer(name)
        text = told["result"]["content"][0]["text"] if "result" in told else told["error"]["message"]
        assert len(json.dumps(told)) < 100_000 and "Traceback" not in text, (name, text[:300])
        server.ask(f"{name} ping", "ping")
        assert server.answer(f"{name} ping")["result"] == {}
    assert server.end() == 0
    assert sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) < 3 << 20


METHODS = [
    *("initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list"),
    *(
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "resources/subscribe",
        "server/discover",
    ),
    *("sampling/createMessage", "roots/list", "elicitation/create", "tasks/list", "", "tools/call "),
]
NOTES = ["notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "notifications/x", ""]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from([*TEXTS, "accept", "", "Learn", "recall\n"])
PARAMS = st.one_of(
    JSON,
    st.fixed_dictionaries({"name": NAMES | JSON, "arguments": JSON}, optional={"_meta": JSON, "task": JSON}),
    st.fixed_dictionaries({"uri": JSON | st.sampled_from(["lessonbook://briefing", "lessonbook://skills/..%2f"])}),
    st.fixed_dictionaries({"requestId": JSON, "reason": JSON}),
)


@pytest.mark.slow
def test_any_request_is_answered_once_and_nothing_ends_it(
    raw: Callable[..., Any], configure: Callable[..., Path]
) -> None:
    configure(ON)
    server = raw()
    server.start()
    numbers = iter(range(1, 10_000_000))

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.lists(st.tuples(st.sampled_from(METHODS), PARAMS), min_size=1, max_size=4), st.sampled_from(NOTES), PARAMS
    )
    def some(requests: list[tuple[str, Any]], note: str, params: Any) -> None:
        ids = [f"r{next(numbers)}" for _ in requests]
        for id, (method, told) in zip(ids, requests, strict=True):
            server.send({"jsonrpc": "2.0", "id": id, "method": method, "params": told})
        server.send({"jsonrpc": "2.0", "method": note, "params": params})
        ping = f"p{next(numbers)}"
        server.ask(ping, "ping")
        assert server.answer(ping)["result"] == {}
        for id in ids:
            answer = server.answer(id)
            assert ("result" in answer) != ("error" in answer) and "Traceback" not in json.dumps(answer)

    some()
    assert server.end() == 0
    assert b"Traceback" not in server.errors, server.errors[-2000:]
    answered = Counter(told["id"] for told in server.told if "method" not in told and isinstance(told.get("id"), str))
    assert set(answered.values()) == {1}


@pytest.mark.slow
def test_calls_cancelled_at_any_moment_write_once_or_not_at_all(
    raw: Callable[..., Any], configure: Callable[..., Path], kept: Callable[[], list[str]], home: Path
) -> None:
    configure(ON)
    server, chance = raw(), random.Random(7)
    server.start()
    skills = home / ".local/share/lessonbook/agent/managed-skills"
    for number in range(60):
        name, text = f"skill-{number}", f"Lesson number {number}."
        skill = {"action": "create", "name": name, "description": "When done.", "body": "Tidy up."}
        calls = [("remember", {"text": text}), ("learn", {"memory": text, "skill": skill}), ("manage_skill", skill)]
        tool, arguments = calls[number % 3]
        server.call(f"c{number}", tool, arguments)
        time.sleep(chance.choice((0, 0, 0.001, 0.003, 0.01)))
        for _ in range(1 + number % 2):
            note = {"requestId": f"c{number}", "reason": "enough"}
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": note})
    server.ask("last", "ping")
    server.answer("last")
    assert server.end() == 0
    texts = Counter(kept())
    assert set(texts.values()) <= {1}
    for folder in skills.iterdir() if skills.exists() else ():
        assert [path.name for path in folder.iterdir()] == ["SKILL.md"]
        assert (folder / "SKILL.md").read_text().endswith("\n\nTidy up.\n")
    assert Counter(told.get("id") for told in server.told).most_common(1)[0][1] == 1


@pytest.mark.slow
def test_many_calls_at_once_of_every_tool_are_each_answered_once(
    raw: Callable[..., Any], configure: Callable[..., Path], kept: Callable[[], list[str]]
) -> None:
    configure(ON)
    server = raw()
    server.start()
    wanted = {}
    for number in range(40):
        for tool, (plain, _) in TEXTS.items():
            text = {"learn": {"memory": f"Learned {number}."}, "remember": {"text": f"Remembered {number}."}}.get(tool)
            wanted[f"{tool} {number}"] = tool
            server.call(f"{tool} {number}", tool, text or plain)
    for id in wanted:
        assert "result" in server.answer(id)
    assert server.end() == 0
    assert Counter(told["id"] for told in server.told if "method" not in told) == Counter([0, *wanted])
    lessons = Counter(kept())
    assert set(lessons.values()) == {1} and len(lessons) == 80


ENDS: dict[str, Callable[[Any], object]] = {
    "half a message": lambda server: (server.process.stdin.write(b'{"jsonrpc": "2.0", "id": 9, "method": "to'), None),
    "half of ten megabytes": lambda server: server.process.stdin.write(
        b'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "remember", "arguments": {"text": "'
        + b"x" * LARGE
    ),
    "many calls": lambda server: [server.call(n, "remember", {"text": f"Number {n}."}) for n in range(100, 160)],
    "calls and their ends": lambda server: [
        (
            server.call(n, "learn", {"memory": f"Number {n}."}),
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": n}}),
        )
        for n in range(100, 130)
    ],
    "a large call": lambda server: server.call(9, "remember", {"text": "y" * LARGE}),
}


@pytest.mark.parametrize("what", ENDS)
@pytest.mark.parametrize("how", ["closed", "terminated"])
def test_a_client_that_dies_in_the_middle(
    what: str, how: str, raw: Callable[..., Any], configure: Callable[..., Path], kept: Callable[[], list[str]]
) -> None:
    configure(ON)
    server = raw()
    server.start()
    server.call("first", "remember", {"text": "The first."})
    server.answer("first")
    ENDS[what](server)
    with suppress(BrokenPipeError):
        server.process.stdin.flush()
    if how == "closed":
        with suppress(BrokenPipeError):
            server.process.stdin.close()
    else:
        server.process.send_signal(signal.SIGTERM)
    assert server.seconds_to_end() < GRACE + MARGIN
    assert server.ended() == 0
    texts = Counter(kept())
    assert texts.pop("The first.") == 1 and set(texts.values()) <= {1}
    if what.startswith("half"):
        assert not texts


def test_a_client_that_writes_byte_by_byte_and_others_at_its_side(
    raw: Callable[..., Any], configure: Callable[..., Path]
) -> None:
    configure(ON)
    slow, quick = raw(), raw()
    slow.start(), quick.start()
    line = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "lessons", "arguments": {}}}
    )

    def drip() -> None:
        for byte in line.encode() + b"\r\n":
            slow.process.stdin.write(bytes([byte]))
            slow.process.stdin.flush()

    thread = threading.Thread(target=drip)
    thread.start()
    for number in range(1, 21):
        quick.call(number, "remember", {"text": f"Number {number}."})
        assert not quick.answer(number)["result"]["isError"]
    thread.join()
    assert not slow.answer(1)["result"]["isError"]
    assert slow.end() == quick.end() == 0


CRAMPED: dict[str, dict[str, Any]] = {
    "no room on the disk": {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))},
    "few open files": {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))},
    "little memory": {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20))},
    "no folder any more": {},
    "a home that is a file": {},
    "odd places": {"XDG_CONFIG_HOME": "relative", "XDG_DATA_HOME": "\udcff/x", "LESSONBOOK_CONFIG": "~/nowhere/c.toml"},
    "no locale": {"LC_ALL": "xx_YY.UTF-8", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
}


@pytest.mark.parametrize("what", CRAMPED)
def test_where_there_is_little_of_everything_only_the_protocol_is_said(
    what: str, raw: Callable[..., Any], env: dict[str, str], configure: Callable[..., Path], home: Path, work: Path
) -> None:
    configure(ON)
    more = dict(CRAMPED[what])
    limits = {"preexec_fn": more.pop("preexec_fn")} if "preexec_fn" in more else {}
    if what == "a home that is a file":
        (work / "file").write_text("x")
        more["HOME"] = str(work / "file")
    server = raw(env=env | more, **limits)
    if what == "no folder any more":
        work.rmdir()
    server.start()
    calls = [(tool, plain) for tool, (plain, _) in TEXTS.items()]
    for number, (tool, plain) in enumerate(calls, 1):
        server.call(number, tool, plain)
        told = server.answer(number)
        text = told["result"]["content"][0]["text"] if "result" in told else told["error"]["message"]
        assert text and "Traceback" not in text, (tool, text)
        if what == "no room on the disk" and tool in ("learn", "remember", "manage_skill"):
            assert told["result"]["isError"] and "stored." not in text.replace("othing was stored.", ""), text
    server.ask("last", "tools/list")
    assert server.answer("last")["result"]["tools"]
    assert server.end() == 0
    assert b"Traceback" not in server.errors, server.errors
