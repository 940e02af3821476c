"""Tries out what is set up in an agent, for real: its entries, the server they start, and every hook's command.

What is started runs with a state folder of its own, so that trying leaves no session behind.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lessonbook.actions.setup_entries import Agent, Entry, Wanted, Where
from lessonbook.actions.setup_text import find
from lessonbook.core.errors import LessonbookError, SetupError
from lessonbook.core.value import Value
from lessonbook.system import config_text, files, programs
from lessonbook.system.config_text import ConfigTextError, lookup
from lessonbook.system.conversation import Conversation

_SERVER_SECONDS = 20.0
_PROTOCOL = "2025-06-18"
_SESSION = "lessonbook-check"
_QUIET_TOOLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("recall", {"query": "lessonbook check"}),
    ("lessons", {}),
    ("pending", {}),
)
"""Tools that only read, to call the first the server has."""


class Row(Value):
    """One thing that was tried: what, whether it works, and what was seen."""

    agent: str
    title: str
    what: str
    ok: bool
    found: str


def check(agent: Agent, where: Where, wanted: Wanted, state: Path) -> Iterator[Row]:
    """Yield a row for each thing of ours in ``agent``; nothing is raised, and no file of the agent's is written."""
    entries = list(agent.entries(where, wanted))

    def row(what: str, ok: bool, found: str) -> Row:
        return Row(agent.name, agent.title, what, ok, found)

    there = []
    for entry in entries:
        ok, said = _entry(entry)
        yield row(entry.what, ok, said)
        there += [entry] if ok else []
    with TemporaryDirectory(prefix="lessonbook-check-") as place:
        env = {**where.env, "XDG_STATE_HOME": place}
        for what, words, own in _servers(there):
            given = {**where.env, **own, "XDG_STATE_HOME": place}
            yield row(f"{what} started", *_tried(lambda w=words, g=given: _server(w, Path(place), g)))  # type: ignore[misc]
        for event, command in _hooks(agent, there, wanted):
            data = agent.said(event, {"session": _SESSION, "cwd": place, "prompt": "lessonbook check"})
            yield row(f"{event} run", *_tried(lambda c=command, d=data: _hook(c, d, Path(place), env)))  # type: ignore[misc]
    for doubt in agent.doubts(where, True):
        yield row("trust", False, doubt)


def _entry(entry: Entry) -> tuple[bool, str]:
    try:
        found = find(entry, files.read_bytes(entry.path), entry.value)
    except (ConfigTextError, LessonbookError) as error:
        return False, f"{entry.path} {error}"
    said = {
        "right": "is there",
        "edited": "is there, changed by hand",
        "changed": "is there, but out of date: run `lessonbook setup`",
        "absent": "is not there: run `lessonbook setup`",
        "theirs": found.note,
    }
    return found.state in ("right", "edited"), f"{entry.path} {said[found.state]}"


def _tried(look: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, look()
    except LessonbookError as error:
        return False, str(error)


def _servers(entries: list[Entry]) -> Iterator[tuple[str, list[str], dict[str, str]]]:
    """Yield the words of each server as they stand in the agent's file, and what it sets in the environment."""
    for entry in entries:
        if entry.form not in config_text.EDITORS or entry.item:
            continue
        held = lookup(config_text.parsed(entry.form, files.read_bytes(entry.path) or b""), entry.keys)
        if not isinstance(held, dict):
            continue
        command, set_ = held.get("command"), held.get("env") or held.get("environment")
        env = {str(name): str(value) for name, value in set_.items()} if isinstance(set_, dict) else {}
        if isinstance(command, list):
            yield entry.what, [str(word) for word in command], env
        elif isinstance(command, str):
            yield entry.what, [command, *map(str, held.get("args") or [])], env


def _server(words: list[str], folder: Path, env: Mapping[str, str]) -> str:
    """Start it, list its tools and call one that only reads. Raises ``SetupError``."""
    began = time.monotonic()
    with Conversation(words, seconds=_SERVER_SECONDS, folder=folder, env=env) as talk:
        about = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": "lessonbook", "version": "1"}}
        talk.ask("initialize", about)
        talk.tell("notifications/initialized")
        tools = [tool["name"] for tool in talk.ask("tools/list")["tools"]]
        took = time.monotonic() - began
        failed = ""
        for name, given in _QUIET_TOOLS:  # recall fails where no memory is switched on, and the server is fine
            answer = talk.ask("tools/call", {"name": name, "arguments": given}) if name in tools else {"isError": True}
            if not answer.get("isError"):
                return f"answers in {took:.1f} s, with {len(tools)} tools; {name} works"
            failed = failed or str(answer.get("content", ""))[:200]
    raise SetupError(f"none of its tools works: {failed}")


def _hooks(agent: Agent, entries: list[Entry], wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield each event and the command that stands in the agent's file, or that its extension starts."""
    for entry in entries:
        if entry.item:
            held = lookup(config_text.parsed(entry.form, files.read_bytes(entry.path) or b""), entry.keys)
            at = find(entry, files.read_bytes(entry.path), entry.value).at
            yield entry.what, next(iter(_command_lines(held[at or 0])), "")
        elif entry.form == "text":
            for event in ("session-start", "stop", "session-end"):
                yield event, wanted.hook(event, agent.name)


def _command_lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("command"), str):
            yield value["command"]
        for inner in value.values():
            yield from _command_lines(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _command_lines(inner)


def _hook(command: str, data: Mapping[str, Any], folder: Path, env: Mapping[str, str]) -> str:
    """Run a hook's command as agents do, with what this one sends, and look at its answer. Raises ``SetupError``."""
    began = time.monotonic()
    ended = programs.run(
        ["/bin/sh", "-c", command], json.dumps(data).encode(), timeout=15.0, folder=folder, env=dict(env)
    )
    took = time.monotonic() - began
    if ended.code != 0:
        said = ended.err.decode("utf-8", "replace").strip().splitlines()
        raise SetupError(f"it ended with exit code {ended.code}{f': {said[-1][:200]}' if said else ''}")
    if not ended.out.strip():
        return f"answers nothing, as there is nothing to say, in {took:.2f} s"
    try:
        answer = json.loads(ended.out)
    except ValueError as error:
        raise SetupError(f"its answer is no JSON: {ended.out[:80]!r}") from error
    if not isinstance(answer, dict):
        raise SetupError("its answer is no JSON object")
    return f"answers {len(ended.out.decode('utf-8', 'replace')):,} characters in {took:.2f} s"
