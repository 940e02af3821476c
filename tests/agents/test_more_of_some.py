"""What only some of the real agents have: an approval that is asked for, and turns that go on where nobody waits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from realagents.host import LESSON, PROMPT
from realagents.hosts.registry import HOSTS
from realagents.model import Model
from realagents.run import Place

from lessonbook.core.briefing import OPENING, REMINDER
from lessonbook.system.conversation import Conversation

RULE = "Stop the quarry crane with the brass key."


def checked(run, name: str, place: Place) -> dict[str, list[str]]:
    """What ``setup --check`` says is wrong, by what it is about."""
    done = run("setup", name, "--check", "--json", cwd=place.work, env={"PATH": place.env["PATH"]})
    found: dict[str, list[str]] = {}
    for row in json.loads(done.stdout)["checks"]:
        if not row["ok"]:
            found.setdefault(row["what"], []).append(row["found"])
    return found


@pytest.mark.slow
def test_codex_runs_our_hooks_once_they_are_approved_and_we_know_when(
    installed, run, commit, home: Path, work: Path
) -> None:
    """The approval, which ``/hooks`` gives, is written by this test in the person's place; lessonbook never does."""
    installed("codex")
    commit({"AGENTS.md": f"{RULE}\n"})
    host = HOSTS["codex"]
    with Model(host.steps, host.wait) as model:
        place = Place(host, home, work, model.url)
        assert run("setup", "codex", "--yes", "--autolearn").returncode == 0
        command = [word for word in host.command(PROMPT, work) if word != "--dangerously-bypass-hook-trust"]
        place.said(command)
        assert len(checked(run, "codex", place)["trust"]) == 3
        assert not model.shown(RULE)  # skipped without a word

        config = home / ".codex/config.toml"
        for key, told in asked_of_codex(place).items():
            with config.open("a") as file:
                file.write(f"[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(told['currentHash'])}\n")
        assert checked(run, "codex", place) == {}
        place.said(command)
        assert model.shown(OPENING) and model.shown(RULE)

        hooks = home / ".codex/hooks.json"
        hooks.write_text(hooks.read_text().replace('"timeout": 10', '"timeout": 11'))
        (first, *_) = checked(run, "codex", place)["trust"]
        assert "it changed since you approved it" in first


def asked_of_codex(place: Place) -> dict[str, dict[str, Any]]:
    """Every hook Codex knows, by the key it goes by."""
    with Conversation(["codex", "app-server"], seconds=60, folder=place.home, env=place.env) as talk:
        talk.ask("initialize", {"clientInfo": {"name": "test", "version": "1"}})
        talk.tell("initialized")
        told = talk.ask("hooks/list", {"cwds": [str(place.work)]})
    return {hook["key"]: hook for row in told["data"] for hook in row["hooks"]}


@pytest.mark.slow
def test_hermes_has_agreed_for_good_once_a_person_said_yes(installed, run, home: Path, work: Path) -> None:
    installed("hermes")
    host = HOSTS["hermes"]
    with Model(host.steps) as model:
        place = Place(host, home, work, model.url)
        assert run("setup", "hermes", "--yes", "--autolearn").returncode == 0
        assert set(checked(run, "hermes", place)) == {"trust"}
        place.said(host.command(PROMPT, work))
        assert checked(run, "hermes", place) == {}
        assert "lessonbook" in place.said(["hermes", "hooks", "doctor"])


@pytest.mark.slow
def test_opencode_is_asked_at_the_end_of_a_turn_where_it_goes_on(installed, run, home: Path, work: Path) -> None:
    """Its one-shot ends at once; its server, which its own window talks to, goes on."""
    installed("opencode")
    host = HOSTS["opencode"]
    with Model(host.steps) as model:
        place = Place(host, home, work, model.url)
        assert run("setup", "opencode", "--yes", "--autolearn").returncode == 0
        assert run("config", "set", "autolearn.min_tool_calls", "1").returncode == 0
        with served(place) as ask:
            session = ask("/session", {"title": "Crane"})["id"]
            chosen = {"providerID": "scripted", "modelID": "scripted"}
            ask(f"/session/{session}/message", {"model": chosen, "parts": [{"type": "text", "text": PROMPT}]})
            until(lambda: model.shown(REMINDER) > 0)
            time.sleep(2)  # were it asked again and again, it would be by now
        assert model.shown(LESSON) and model.shown(REMINDER) == 1


@contextmanager
def served(place: Place) -> Iterator[Callable[..., Any]]:
    """``ask(path, body)`` of a running opencode."""
    command = ["opencode", "serve", "--port", "0", "--print-logs"]
    said = place.work.parent / "served.txt"
    with said.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=place.work, env=place.env, stdout=out, stderr=out, start_new_session=True
        )
    try:
        until(lambda: "listening on http" in said.read_text())
        address = said.read_text().partition("listening on ")[2].split()[0]

        def ask(path: str, body: object) -> Any:
            data = json.dumps(body).encode()
            request = Request(f"{address}{path}", data, {"Content-Type": "application/json"})
            return json.loads(build_opener(ProxyHandler({})).open(request, timeout=120).read())

        yield ask
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)
