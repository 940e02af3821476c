"""The MCP inspector's command line, from npm, drives our server over both ways; ``make inspector`` installs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book.offer import Offer, offer

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / ".inspector" / "node_modules" / ".bin" / "mcp-inspector"
ON = '[memory]\nbackend = "mnemopi"\n[autolearn]\nenabled = true\n'
TOOLS = ["learn", "recall", "remember", "lessons", "read_skill", "manage_skill", "memory_edit", "pending", "diff"]
pytestmark = pytest.mark.skipif(
    not PROGRAM.exists() or shutil.which("node") is None, reason="needs npm and `make inspector`"
)
Said = tuple[int, Any, str]


@pytest.fixture
def inspect(home: Path, tmp_path: Path) -> Callable[..., Said]:
    """``inspect("tools/list", to=[…])``: the exit code, the answer, and what it says of an error."""
    config = home / ".config" / "lessonbook" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(ON)
    (tmp_path / "work").mkdir()
    path = f"PYTHONPATH={os.pathsep.join(filter(None, sys.path))}"  # it hands on little of its own environment
    server = ["-e", path, sys.executable, "-m", "lessonbook", "mcp", "--cwd", str(tmp_path / "work")]

    def run(method: str, *words: str, to: list[str] = server) -> Said:
        command = [str(PROGRAM), "--cli", *to, "--method", method, *words]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False
        )
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else None, done.stderr

    return run


@pytest.fixture
def served(inspect: object, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address and the token of a server over HTTP."""
    command = [sys.executable, "-m", "lessonbook", "mcp", "--http", "--port", "0", "--cwd", str(tmp_path / "work")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        told = ""
        for line in process.stderr or ():
            told += line
            if line.startswith("Ctrl-C"):
                break
        url, token = re.search(r"at (http://\S+)", told), re.search(r"Bearer (\S+)", told)
        assert url and token, told
        yield url[1], token[1]
        process.terminate()
        assert process.communicate()[0] == ""


def _called(inspect: Callable[..., Said], tool: str, *given: str, to: list[str] | None = None) -> tuple[bool, Any]:
    words = [word for pair in given for word in ("--tool-arg", pair)]
    code, answer, err = inspect("tools/call", "--tool-name", tool, *words, **({"to": to} if to else {}))
    assert code == 0 and answer["content"][0]["type"] == "text", err
    return answer.get("isError", False), answer.get("structuredContent") or answer["content"][0]["text"]


@pytest.mark.slow
def test_every_tool(inspect: Callable[..., Said], home: Path) -> None:
    book = home / ".config" / "lessonbook" / "learned"
    (id,) = offer(book, [Offer("Lesson one", rule="Rule one.")], 1_798_675_200, iter(["aaaaaa"]).__next__)
    code, answer, _ = inspect("tools/list")
    assert code == 0 and [tool["name"] for tool in answer["tools"]] == TOOLS

    def call(tool: str, *given: str) -> tuple[bool, Any]:
        return _called(inspect, tool, *given)

    skill = {"action": "create", "name": "ship-it", "description": "When it ships.", "body": "Read VERSION."}
    wrong, data = call("learn", "memory=Run make test, not pytest.", f"skill={json.dumps(skill)}")
    assert (wrong, data["skill"]) == (False, "ship-it")
    assert call("learn", "memory=3") == (True, "memory must be text, not a number. Nothing was stored.")
    wrong, data = call("remember", "text=The port is 8080.", 'tags=["net"]', "confidence=0.5")
    assert not wrong and data["outcome"] == "stored"
    wrong, kept = call("memory_edit", "action=get", f"lesson={data['id']}")
    assert not wrong and kept["lesson"]["tags"] == ["net"]
    assert call("recall", "query=make test", "limit=1")[1]["lessons"][0]["text"] == "Run make test, not pytest."
    assert len(call("lessons")[1]["lessons"]) == 2
    assert "Read VERSION." in call("read_skill", "name=ship-it")[1]["text"]
    assert call("manage_skill", "action=delete", "name=ship-it")[0] is False
    assert [row["id"] for row in call("pending")[1]["pending"]] == [id]
    assert "+Rule one." in call("diff", f"id={id}")[1]["diff"]
    code, answer, err = inspect("tools/call", "--tool-name", "accept", "--tool-arg", f"id={id}")
    assert (code, answer) == (1, None) and "Unknown tool: accept" in err


@pytest.mark.slow
def test_resources_and_prompts(inspect: Callable[..., Said]) -> None:
    assert [one["uri"] for one in inspect("resources/list")[1]["resources"]] == ["lessonbook://briefing"]
    told = inspect("resources/templates/list")[1]["resourceTemplates"]
    assert [one["uriTemplate"] for one in told] == ["lessonbook://skills/{name}"]
    code, answer, err = inspect("resources/read", "--uri", "lessonbook://briefing")
    assert code == 0 and answer["contents"][0]["mimeType"] == "text/markdown", err
    code, _, err = inspect("resources/read", "--uri", "lessonbook://skills/none")
    assert code == 1 and "There is no skill" in err
    assert [one["name"] for one in inspect("prompts/list")[1]["prompts"]] == ["review"]
    assert "Nothing is pending." in json.dumps(inspect("prompts/get", "--prompt-name", "review")[1])


@pytest.mark.slow
def test_over_http(inspect: Callable[..., Said], served: tuple[str, str]) -> None:
    url, token = served
    to = [url, "--transport", "http", "--header", f"Authorization: Bearer {token}"]
    assert [tool["name"] for tool in inspect("tools/list", to=to)[1]["tools"]] == TOOLS
    assert _called(inspect, "learn", "memory=Run make test.", to=to) == (
        False,
        {"text": "Lesson stored.", "skill": None},
    )
    assert _called(inspect, "recall", "query=make test", to=to)[1]["lessons"][0]["text"] == "Run make test."
    for others in ([], ["--header", f"Authorization: Bearer {token}x"]):
        code, answer, err = inspect("tools/list", to=[url, "--transport", "http", *others])
        assert (code, answer) == (1, None) and "The token is missing or wrong" in err, err
