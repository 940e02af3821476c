"""What only runs of the real agents showed of their hooks (``tests/agents``)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from lessonbook.actions.nudge import NUDGE
from lessonbook.hosts.agents.registry import AGENTS


def test_copilot_tells_where_its_transcript_is_at_a_stop_only(run, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("{}\n")
    about = {"sessionId": "s1", "timestamp": 1, "cwd": str(tmp_path)}
    stop = {**about, "transcriptPath": str(path), "stopReason": "end_turn", "stop_hook_active": False}
    for event, given in (("stop", stop), ("session-end", {**about, "reason": "complete"})):
        assert run("hook", event, "--agent", "copilot", stdin=json.dumps(given)).stdout == ""
    end = json.loads((home / ".local/state/lessonbook/sessions/copilot/s1/end.json").read_text())
    assert end["transcript"] == str(path)


def test_codex_tells_a_turn_in_two_ways(run, home: Path, tmp_path: Path) -> None:
    """From 0.171 on there is no ``user_message`` any more, and calls of all turns would count for the last one."""
    config = home / ".config/lessonbook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[memory]\nbackend = "local"\n[autolearn]\nenabled = true\nmin_tool_calls = 3\n')
    asked = {"type": "item_completed", "item": {"type": "UserMessage", "content": [{"type": "text", "text": "fix it"}]}}
    reason = {"type": "item_completed", "item": {"type": "HookPrompt", "fragments": [{"text": "go on"}]}}
    call = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}
    path = tmp_path / "rollout.jsonl"

    def stop(*payloads: dict[str, object]) -> str:
        path.write_text("".join(f"{json.dumps({'type': 'event_msg', 'payload': each})}\n" for each in payloads))
        given = {"session_id": "s1", "cwd": str(tmp_path), "transcript_path": str(path), "stop_hook_active": False}
        return run("hook", "stop", "--agent", "codex", stdin=json.dumps(given)).stdout

    assert stop(asked, call, call, asked, call) == ""
    assert json.loads(stop(asked, asked, call, reason, call, call))["reason"] == NUDGE


def test_hermes_has_two_hooks_of_ours_in_one_list(run, home: Path) -> None:
    path = home / ".hermes/config.yaml"
    path.parent.mkdir()
    path.write_text("model: {provider: custom}\n")
    run("config", "set", "recall.on_prompt", "true")
    assert run("setup", "hermes", "--yes").returncode == 0
    hooks = yaml.safe_load(path.read_text())["hooks"]["pre_llm_call"]
    assert [hook["command"].partition(" hook ")[2] for hook in hooks] == [
        "session-start --agent hermes",
        "prompt --agent hermes",
    ]
    assert run("setup", "hermes", "--yes", "--json").stdout.count('"diff"') == 0  # again is nothing
    run("config", "set", "recall.on_prompt", "false")
    run("setup", "hermes", "--yes")
    assert path.read_text().count("--agent hermes") == 2  # one of them ends the session
    assert run("setup", "hermes", "--remove", "--yes").returncode == 0
    assert path.read_text() == "model: {provider: custom}\n"


def test_a_hermes_that_can_start_no_server_is_said(run, home: Path, tmp_path: Path) -> None:
    """Installed without its extra, as pip does, it goes on without servers; only ``hermes mcp test`` tells."""
    (home / ".hermes").mkdir()
    run("setup", "hermes", "--yes")
    program = tmp_path / "bin/hermes"
    program.parent.mkdir()
    said = "Connection failed: MCP server 'lessonbook' requires the 'mcp' Python SDK, but it is not installed."

    def check(text: str) -> str:
        program.write_text(f'#!/bin/sh\ntest "$*" = "mcp test lessonbook" && echo "{text}"\n')
        program.chmod(0o755)
        return run("setup", "hermes", "--check", env={"PATH": f"{program.parent}:/usr/bin:/bin"}).stdout

    assert "its own `mcp` extra is missing" in check(said)
    assert "extra is missing" not in check("Connected, 9 tools")


def test_a_hook_a_person_wrote_for_another_event_of_the_list_stays_the_only_one(run, home: Path) -> None:
    path = home / ".hermes/config.yaml"
    path.parent.mkdir()
    mine = "hooks:\n  pre_llm_call:\n    - command: lessonbook hook session-start --no-learned\n"
    path.write_text(mine)
    told = run("setup", "hermes", "--yes").stdout
    assert "runs a hook of lessonbook at hooks.pre_llm_call already" in told
    assert path.read_text().count("session-start") == 1


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "ramabana"])
def test_a_server_is_told_where_the_person_moved_our_folders(
    run, home: Path, tmp_path: Path, name: str, homes: SimpleNamespace
) -> None:
    """Codex and Hermes hand it nothing of what they were started with, so it would keep lessons elsewhere."""
    homes.fresh(home)
    before = homes.snapshot(home)
    moved = {"LESSONBOOK_CONFIG": str(tmp_path / "own.toml"), "XDG_DATA_HOME": str(tmp_path / "data")}
    set_ = {**moved, "XDG_STATE_HOME": f"{home}/.local/state"}  # where it would be anyway
    assert run("setup", name, "--yes", env=set_).returncode == 0
    written = homes.snapshot(home)
    (text,) = [each for _, _, data in written.values() if (each := data.decode()).count(str(tmp_path / "own.toml"))]
    assert str(tmp_path / "data") in text and "XDG_STATE_HOME" not in text
    rows = json.loads(run("setup", name, "--check", "--json", env=set_).stdout)["checks"]
    assert next(row["ok"] for row in rows if row["what"] == "MCP server started")
    assert run("setup", name, "--yes", "--json", env=set_).stdout.count('"diff"') == 0
    run("setup", name, "--yes")  # they are where they belong again
    assert str(tmp_path) not in "".join(d.decode() for p, (_, _, d) in homes.snapshot(home).items()).replace(
        str(home), ""
    )
    run("setup", name, "--remove", "--yes")
    assert homes.snapshot(home) == before


def test_pi_declares_the_tools_its_model_is_to_see(run, home: Path) -> None:
    """By default it declares no tool of a server, and does not even name them."""
    (home / ".pi/agent").mkdir(parents=True)
    run("setup", "pi", "--yes")
    server = json.loads((home / ".pi/agent/mcp.json").read_text())["mcpServers"]["lessonbook"]
    assert server["toolExposure"] == dict.fromkeys(("learn", "recall", "remember", "read_skill"), "direct")


@pytest.mark.parametrize("agent", ["copilot", "gemini"])
def test_a_reason_to_go_on_is_no_prompt_of_the_persons(run, home: Path, tmp_path: Path, agent: str) -> None:
    """Copilot CLI and Gemini CLI call the hook of a prompt with it, and would recall for what we said ourselves."""
    config = home / ".config/lessonbook/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[memory]\nbackend = "local"\n[recall]\non_prompt = true\n')
    run("learn", "Record a preference of the person with the learn tool.", cwd=tmp_path)

    def asked(prompt: str) -> str:
        given = {"sessionId": "s1", "session_id": "s1", "cwd": str(tmp_path), "prompt": prompt}
        return run("hook", "prompt", "--agent", agent, stdin=json.dumps(given)).stdout

    assert "a preference of the person" in asked("Which preference do I record?")
    assert asked(NUDGE) == ""
