"""``setup --check`` and ``--plugin``: everything is tried for real, and what a host distrusts is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lessonbook.hosts.agents.registry import AGENTS, agents
from lessonbook.hosts.registry import VERBS

SERVER = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, result = asked["method"], {}
    if method == "tools/list":
        result = {"tools": [{"name": "recall", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        result = {"content": [{"type": "text", "text": "none"}], "isError": len(sys.argv) > 1}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def rows(run, *words: str, **more: object) -> dict[tuple[str, str], dict[str, object]]:
    done = run("setup", *words, "--check", "--json", **more)
    document = json.loads(done.stdout)
    found = {(row["agent"], row["what"]): row for row in document["checks"]}
    assert document["ok"] == all(row["ok"] for row in document["checks"]) == (done.returncode == 0)
    return found


def test_every_hook_of_every_agent_is_run_as_it_stands_in_its_file(run, home: Path, homes) -> None:
    homes.used(home)
    assert run("setup", "--yes").returncode == 0
    before = homes.snapshot(home)
    found = rows(run)
    for agent in agents():
        hooks = [what for name, what in found if name == agent.name and what.endswith(" run")]
        events = agent.dialect.events if agent.dialect else {}
        assert {f"{event} run" for event in events if event != "prompt"} == set(hooks)
        assert all(found[agent.name, what]["ok"] for what in hooks), found
    assert homes.snapshot(home) == before
    assert not (home / ".local/state/lessonbook/sessions").exists()  # trying leaves no session behind
    assert found["claude", "MCP server"]["ok"]
    assert found["claude", "MCP server started"]["ok"] == ("mcp" in VERBS), str(found["claude", "MCP server started"])


def test_a_server_is_started_and_a_tool_called(run, home: Path, tmp_path: Path, homes) -> None:
    homes.fresh(home)
    run("setup", "claude", "--yes")
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    path = home / ".claude.json"
    value = json.loads(path.read_text())

    def with_server(*words: str) -> dict[str, object]:
        value["mcpServers"]["lessonbook"] = {"command": words[0], "args": list(words[1:])}
        path.write_text(json.dumps(value))
        return rows(run, "claude")["claude", "MCP server started"]

    good = with_server(sys.executable, str(script))
    assert good["ok"] and "recall works" in str(good["found"])
    failing = with_server(sys.executable, str(script), "fail")
    assert not failing["ok"] and "none of its tools works" in str(failing["found"])
    noisy = with_server(sys.executable, "-c", "print('hello')")
    assert not noisy["ok"] and "no message" in str(noisy["found"])
    dead = with_server(sys.executable, "-c", "import sys; sys.exit('no disk')")
    assert not dead["ok"] and "no disk" in str(dead["found"])
    assert not with_server("/no/such/program")["ok"]


def test_what_is_missing_is_wrong(run, home: Path, homes) -> None:
    homes.fresh(home)
    found = rows(run, "claude")
    assert {row["ok"] for row in found.values()} == {False}
    assert all("run `lessonbook setup`" in str(row["found"]) for row in found.values())


def test_a_hook_that_codex_has_not_been_told_to_trust_is_said(run, home: Path, homes) -> None:
    homes.used(home)
    run("setup", "codex", "--yes")
    no_codex = {"PATH": "/usr/bin:/bin"}
    done = run("setup", "codex", "--check", env=no_codex)
    assert done.stdout.count("without a word: you have not approved it") == 3 and done.returncode == 1
    told = run("doctor", env=no_codex)
    assert told.returncode == 1 and "Codex skips our SessionStart hook" in told.stdout
    hooks = home / ".codex/hooks.json"
    with (home / ".codex/config.toml").open("a") as config:
        for event, number in (("session_start", 0), ("stop", 1), ("session_end", 0)):
            config.write(f'[hooks.state."{hooks}:{event}:{number}:0"]\ntrusted_hash = "sha256:1"\n')
    assert "without a word" not in run("setup", "codex", "--check", env=no_codex).stdout
    with (home / ".codex/config.toml").open("a") as config:
        config.write("[features]\nhooks = false\n")
    assert "runs no hook at all" in run("setup", "codex", "--check", env=no_codex).stdout


def test_a_hook_that_hermes_did_not_ask_about_yet_is_said(run, home: Path, homes) -> None:
    homes.used(home)
    run("setup", "hermes", "--yes")
    told = run("setup", "hermes", "--check").stdout
    assert "pre_llm_call hook until you agree" in told and "on_session_end hook until you agree" in told
    import yaml

    hooks = yaml.safe_load((home / ".hermes/config.yaml").read_text())["hooks"]
    agreed = [{"event": event, "command": hook["command"]} for event, list_ in hooks.items() for hook in list_]
    (home / ".hermes/shell-hooks-allowlist.json").write_text(json.dumps({"approvals": agreed}))
    assert "until you agree" not in run("setup", "hermes", "--check").stdout


@pytest.mark.parametrize(
    ("name", "file", "value", "told"),
    [
        ("claude", ".claude/settings.json", {"disableAllHooks": True}, "disableAllHooks is on"),
        ("copilot", ".copilot/config.json", {"disableAllHooks": True}, "disableAllHooks is on"),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, "enabled is false"),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"disabled": ["lessonbook"]}}, "names our hooks"),
    ],
)
def test_hooks_that_are_switched_off_are_said(
    run, home: Path, homes, name: str, file: str, value: object, told: str
) -> None:
    homes.fresh(home)
    (home / file).write_text(json.dumps(value))
    run("setup", name, "--yes")
    assert told in run("setup", name, "--check").stdout


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_plugin_is_built_from_the_very_entries(run, home: Path, tmp_path: Path, homes, name: str) -> None:
    homes.fresh(home)
    run("setup", name, "--yes")
    folder = tmp_path / "market"
    done = run("setup", "--plugin", name, str(folder), "--json")
    assert done.returncode == 0 and len(json.loads(done.stdout)["files"]) == 5
    plugin = folder / "plugins/lessonbook"
    hooks = home / (".claude/settings.json" if name == "claude" else ".codex/hooks.json")
    assert json.loads((plugin / "hooks/hooks.json").read_text())["hooks"] == json.loads(hooks.read_text())["hooks"]
    server = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["lessonbook"]
    assert server["args"][-1] == "mcp"
    again = run("setup", "--plugin", name, str(folder))
    assert again.returncode == 0
    (folder / "mine.txt").write_text("x")
    assert run("setup", "--plugin", name, str(folder)).returncode == 2


def test_no_other_agent_takes_a_plugin(run, tmp_path: Path) -> None:
    for name in [*(set(AGENTS) - {"claude", "codex"}), "vim"]:
        assert run("setup", "--plugin", name, str(tmp_path / name)).returncode == 2
