"""Nights with agents' own programs, offline: each replays a request against a scripted model, one way and the other.

What is real is all but the model: the command, its permissions, its JSON, its transcript and the reader of that.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("realagents", reason="agents' own programs are run where the folder realagents is")

from realagents.hosts.registry import HOSTS
from realagents.model import Model, texts
from realagents.programs import Program
from realagents.steps import Call, Say, Step, Wire
from tests.actions.conftest import RULE, Place
from tests.actions.conftest import place as place

from lessonbook.actions.night_replay import has_reader
from lessonbook.system.agents.running import can_keep

KEY = "ghp_" + "a1B2c3D4e5F6" * 3
REQUEST = f"Add the size 44, and tell ana@example.org; the key is {KEY}."
GONE, NEW = "prices.txt", "offer.txt"
MODEL_ARGS = [
    "-c",
    'model_provider="scripted"',
    "-c",
    'model_providers.scripted={name="scripted",base_url="URL/v1",env_key="SCRIPTED_KEY",wire_api="responses",'
    "request_max_retries=0,stream_max_retries=0}",
]


@dataclass(frozen=True)
class Tools:
    """How one agent reads a file that is not there, and writes one."""

    read: Call
    write: Call
    model: str = ""
    args: tuple[str, ...] = ()
    cost: bool = False
    """Whether it tells what it cost."""


def _tools(read: str, path: str, write: str, **more: Any) -> Tools:
    return Tools(Call((read,), {path: GONE}), Call((write,), {path: NEW, "content": "44\n"}), **more)


AGENTS = {
    "claude": _tools("Read", "file_path", "Write", cost=True),
    "codex": Tools(
        Call(("exec_command", "shell_command"), {"cmd": f"cat {GONE}"}),
        Call(("exec_command", "shell_command"), {"cmd": f"echo 44 > {NEW}"}),
        model="scripted",
        args=tuple(MODEL_ARGS),
    ),
    "gemini": _tools("read_file", "file_path", "write_file", model="gemini-2.5-pro"),
    "opencode": _tools("read", "filePath", "write", model="scripted/scripted", cost=True),
    "omp": _tools("read", "path", "write", model="scripted/scripted", cost=True),
    "hermes": _tools("read_file", "path", "write_file"),
}


@dataclass
class Ways(Model):
    """A model that goes the short way where the lesson is in what it was asked."""

    short: tuple[Step, ...] = ()
    long: tuple[Step, ...] = ()
    prompts: list[str] = field(default_factory=list)

    def answered(self, wire: Wire, path: str, body: Mapping[str, Any]) -> Step:
        told = list(texts(body))
        self.prompts += told
        self.steps = self.short if any(RULE in text for text in told) else self.long
        return super().answered(wire, path, body)


@pytest.mark.parametrize("name", AGENTS)
def test_a_way_that_got_shorter_is_offered(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _model(name) as model:
        one = _place(name, place, installed, home, monkeypatch, model)
        record = one.night()
    (round,) = record["rounds"]
    assert round["why"] == "its way got shorter, and its answer is as good", (record, model.strange)
    assert one.pending() == [round["offered"]]
    assert len(round["before"]) == 2
    assert all(way.endswith(" failed, 3 calls") and " 0 failed" not in way for way in round["before"])
    assert round["after"].endswith("0 failed, 1 calls")
    (judged,) = one.prompts("judge")
    assert judged.count(f"b/{NEW}") == 4 and "Long way done." in judged and "Short way done." in judged
    assert not (one.repo / NEW).exists()
    assert (record["spent"] < 0.5) is AGENTS[name].cost or record["spent"] == pytest.approx(0.1)
    assert not any(KEY in text or "ana@example.org" in text for text in model.prompts)


@pytest.mark.parametrize("name", AGENTS)
def test_a_model_that_fails_is_a_run_that_did_not_deliver(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _model(name, Broken) as model:
        one = _place(name, place, installed, home, monkeypatch, model)
        one.nightly |= {"run_minutes": 1}
        record = one.night()
    (round,) = record["rounds"]
    assert (round["state"], round["offered"]) == ("failed", None), record
    assert round["why"].startswith(f"base-1: {name} ")
    assert one.pending() == []


@pytest.mark.parametrize("name", AGENTS)
def test_one_that_is_not_done_at_its_deadline_is_ended_with_all_it_started(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _model(name, Silent) as model:
        one = _place(name, place, installed, home, monkeypatch, model)
        seconds = 60 if name == "opencode" else 20  # it has to start and to ask, also on a busy machine
        one.nightly |= {"run_minutes": seconds / 60}
        record = one.night()
        model.over.set()
    (round,) = record["rounds"]
    assert round["why"] == f"base-1: {name} was not done within {seconds} seconds, and was ended", record
    assert model.asked_once.is_set()
    assert _inside(one.nights) == []


@pytest.mark.parametrize("name", AGENTS)
def test_nothing_outside_the_clone_is_written_and_no_other_host_is_reached(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools, outside = AGENTS[name], tmp_path / "outside.txt"
    shell = ("Bash", "bash", "run_shell_command", "terminal", "exec_command", "shell_command")
    with socket.create_server(("127.0.0.1", 0)) as other, _model(name) as model:
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{other.getsockname()[1]} && touch {outside}.net"
        script = f"touch {outside}.shell; bash -c '{reach}'; touch inside.txt"
        arguments = {key: str(outside) if value == NEW else value for key, value in tools.write.arguments.items()}
        if "cmd" in arguments:
            arguments = {"cmd": f"echo 44 > {outside}"}
        model.long = (
            Call(tools.write.tools, arguments),
            Call(shell, {"command": script, "cmd": script, "description": "a test"}),
            Say("Tried."),
        )
        one = _place(name, place, installed, home, monkeypatch, model)
        one.nightly |= {"runs": 1}
        record = one.night()
    (round,) = record["rounds"]
    assert len(round["before"]) == 1, record
    free = name in ("hermes", "omp") and not can_keep()  # as the docs say: nothing else keeps these to the folder
    assert outside.exists() is free
    assert not Path(f"{outside}.shell").exists()
    assert not Path(f"{outside}.net").exists()


@pytest.mark.parametrize("name", ["hermes", "omp"])
def test_its_own_folders_are_left_as_they_were(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _model(name) as model:
        one = _place(name, place, installed, home, monkeypatch, model)
        one.nightly |= {"runs": 1}
        one.configure()
        before = _held(home)
        record = one.night()
        after = _held(home)
    (round,) = record["rounds"]
    assert round["why"] == "its way got shorter, and its answer is as good", record
    assert after == before


def _held(home: Path) -> dict[str, bytes | None]:
    """All there is in a home, with its contents, but what lessonbook itself keeps there."""
    ours = (home / ".local/state/lessonbook", home / ".config/lessonbook")
    found = (path for path in home.rglob("*") if not any(path.is_relative_to(one) for one in ours))
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


@pytest.mark.parametrize("name", AGENTS)
def test_money_ends_a_round_before_the_call(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _model(name) as model:
        one = _place(name, place, installed, home, monkeypatch, model)
        one.more = one.more.replace("run_dollars = 0\n", "").replace("model =", "run_dollars = 0.3\nmodel =")
        one.nightly |= {"runs": 1, "round_dollars": 0.3, "answer_dollars": 0.31}
        record = one.night()
    (round,) = record["rounds"]
    assert len(round["before"]) == 1
    assert round["why"].startswith("the next call may cost $0.31, and $0."), record
    assert one.prompts("editor") == [] and round["spent"] <= 0.3


def _inside(nights: Path) -> list[str]:
    """The processes that work below a folder of a night."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(nights):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


@dataclass
class Silent(Ways):
    """A model that never answers."""

    over: threading.Event = field(default_factory=threading.Event)
    asked_once: threading.Event = field(default_factory=threading.Event)

    def answered(self, wire: Wire, path: str, body: Mapping[str, Any]) -> Step:
        self.asked_once.set()
        self.over.wait(120)
        return super().answered(wire, path, body)


@dataclass
class Broken(Ways):
    """A model whose server refuses every request."""

    def __enter__(self) -> Broken:
        super().__enter__()
        handler = self._server.RequestHandlerClass

        def refuse(it: Any) -> None:
            it._body()
            data = json.dumps({"error": {"message": "no such model", "code": 400, "type": "bad"}, "type": "error"})
            it.send_response(400)
            it.send_header("Content-Type", "application/json")
            it.send_header("Content-Length", str(len(data)))
            it.end_headers()
            it.wfile.write(data.encode())

        handler.do_POST = refuse  # type: ignore[attr-defined]
        return self


def _model(name: str, kind: type[Ways] = Ways) -> Ways:
    tools = AGENTS[name]
    long = (tools.read, tools.read, tools.write, Say("Long way done."))
    return kind([Say("")], short=(tools.write, Say("Short way done.")), long=long)


def _place(
    name: str,
    place: Callable[..., Place],
    installed: Callable[[str], Program],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Ways,
) -> Place:
    """A place where ``name`` replays, pointed at the model."""
    if not has_reader(name):
        pytest.skip(f"transcripts of {name} cannot be read yet")
    program, host, tools = installed(name), HOSTS[name], AGENTS[name]
    one = place(REQUEST)
    for file, text in host.files(model.url).items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(text)
    for key, value in host.env(home, model.url).items():
        monkeypatch.setenv(key, value)
    node = shutil.which("node")
    path = [str(program.bin), os.environ["PATH"], *([str(Path(node).parent)] if node else [])]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    args = json.dumps([word.replace("URL", model.url) for word in tools.args])
    dollars = "" if name == "claude" else "run_dollars = 0\n"
    host = model.url.removeprefix("http://")
    one.more = f'[agents.{name}]\n{dollars}model = "{tools.model}"\nargs = {args}\nmodel_hosts = ["{host}"]\n'
    one.nightly = {"agent": name, "rounds": 1, "run_minutes": 5}
    return one
