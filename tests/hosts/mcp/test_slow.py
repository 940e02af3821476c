"""A slow call keeps nothing else waiting, and one that is cancelled writes once or not at all."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession

Lock = Callable[[], sqlite3.Connection]
Kept = Callable[[], list[str]]
MNEMOPI = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'


def cancelled(id: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}


def test_a_cancelled_call_writes_once_and_is_not_answered(
    raw: Callable[..., Any], configure: Callable[..., Path], lock: Lock, kept: Kept
) -> None:
    configure(MNEMOPI)
    server = raw()
    server.start()
    server.call("first", "remember", {"text": "First."})
    server.answer("first")
    db = lock()
    server.call("slow", "remember", {"text": "Slow."})
    server.call("also slow", "learn", {"memory": "Also slow."})
    server.ask("one", "ping")
    assert server.answer("one")["result"] == {}
    server.send(cancelled("slow"))
    server.ask("two", "ping")
    assert server.answer("two")["result"] == {}
    time.sleep(0.3)
    db.execute("ROLLBACK")
    assert not server.answer("also slow")["result"]["isError"]
    server.call("again", "remember", {"text": "Slow."})  # as a client does that was not answered
    assert not server.answer("again")["result"]["isError"]
    assert sorted(kept()) == ["Also slow.", "First.", "Slow."]
    assert server.end() == 0
    assert "slow" not in [told.get("id") for told in server.told]


def test_a_client_that_gives_up_and_tries_again_stores_once(
    talk: Callable[..., None], configure: Callable[..., Path], lock: Lock, kept: Kept
) -> None:
    configure(MNEMOPI)

    async def say(session: ClientSession) -> None:
        await session.call_tool("remember", {"text": "First."})
        db = lock()
        with anyio.move_on_after(0.5) as given_up:
            await session.call_tool("learn", {"memory": "Slow."})
        assert given_up.cancelled_caught
        await session.list_tools()
        db.execute("ROLLBACK")
        told = await session.call_tool("learn", {"memory": "Slow."})
        assert not told.is_error

    for version in ("2025-11-25", "2026-07-28"):
        talk(say, version=version)
        assert kept() == ["First.", "Slow."]


def test_a_busy_bank_is_one_sentence(
    raw: Callable[..., Any], configure: Callable[..., Path], lock: Lock, kept: Kept
) -> None:
    configure(MNEMOPI)
    server = raw()
    server.start()
    server.call(1, "remember", {"text": "First."})
    server.answer(1)
    db = lock()
    server.call(2, "learn", {"memory": "Never."})
    told = server.answer(2)["result"]
    assert told["isError"] and "Mnemopi did not store the lesson: Another process kept" in told["content"][0]["text"]
    db.execute("ROLLBACK")
    assert kept() == ["First."]


def test_a_slow_git_keeps_no_ping_and_no_other_call_waiting(
    raw: Callable[..., Any], configure: Callable[..., Path], env: dict[str, str], tmp_path: Path
) -> None:
    configure(MNEMOPI)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nsleep 2\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    server = raw(env=env | {"PATH": f"{git.parent}:{env['PATH']}"})
    server.start()
    for number in range(5):
        server.call(f"slow {number}", "pending", {})
    server.ask("ping", "ping")
    server.ask("tools", "tools/list")
    for number in range(5):
        assert not server.answer(f"slow {number}")["result"]["isError"]
    order = [told["id"] for told in server.told if "result" in told]
    assert {"ping", "tools"} == set(order[1:3]), order


def test_calls_that_all_wait_keep_no_listing_waiting(
    raw: Callable[..., Any], configure: Callable[..., Path], lock: Lock, kept: Kept
) -> None:
    configure(MNEMOPI)
    server = raw()
    server.start()
    server.call("first", "remember", {"text": "First."})
    server.answer("first")
    db = lock()
    for number in range(60):  # more than there are threads
        server.call(number + 1, "remember", {"text": f"Lesson {number}."})
    for id, method in (("tools", "tools/list"), ("prompts", "prompts/list"), ("ping", "ping")):
        server.ask(id, method)
        assert "result" in server.answer(id)
    db.execute("ROLLBACK")
    for number in range(60):
        assert not server.answer(number + 1)["result"]["isError"]
    assert len(kept()) == 61


def test_a_hundred_calls_at_once_are_each_answered_once(
    raw: Callable[..., Any], configure: Callable[..., Path], lock: Lock, kept: Kept
) -> None:
    configure(MNEMOPI)
    server = raw()
    server.start()
    for number in range(1, 101):
        server.call(number, "remember", {"text": f"Lesson {number % 50}."})
    for number in range(1, 101):
        assert not server.answer(number)["result"]["isError"]
    assert server.end() == 0
    assert sorted(told["id"] for told in server.told if told.get("id")) == list(range(1, 101))
    assert sorted(kept()) == sorted(f"Lesson {number}." for number in range(50))
