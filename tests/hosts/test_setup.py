"""``lessonbook setup``: only our entries, a way back to the very bytes, and nothing of a person's touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from lessonbook.hosts.agents.registry import AGENTS, agents
from lessonbook.system import config_text

HOOKED = [name for name in AGENTS if name not in ("ramabana",)]


def changed(before: dict[str, tuple[str, int, bytes]], after: dict[str, tuple[str, int, bytes]]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.mark.parametrize("fill", ["used", "fresh"])
def test_every_file_goes_back_to_its_bytes(run, home: Path, homes, fill: str) -> None:
    getattr(homes, fill)(home)
    before = homes.snapshot(home)
    done = run("setup", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    after = homes.snapshot(home)
    assert len(changed(before, after)) >= 15
    for name in before:
        assert name in after and (before[name][2] in (after[name][2], b"") or "essonbook" in after[name][2].decode())
    assert run("setup", "--yes").stdout.rstrip().endswith("tries it out" + _todos())
    assert homes.snapshot(home) == after
    assert run("setup", "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before
    assert not list((home / ".local/state/lessonbook").rglob("setup/*"))


def _todos() -> str:
    return "".join(f"\n{agent.title}: {agent.todo}" for agent in agents() if agent.todo)


def one_line(text: str) -> bool:
    """Whether it holds, on one line, a table or list that an entry of ours goes into."""
    return any(name in text for name in ('"hooks":', '"stop":', '"mcpServers": {}'))


def test_other_entries_comments_and_line_ends_stay(run, home: Path, homes) -> None:
    homes.used(home)
    assert run("setup", "--yes").returncode == 0
    for name, text in homes.USED.items():
        new = (home / name).read_bytes().decode()
        lines = iter(line.rstrip(",\r ") for line in new.split("\n"))
        kept = [line.rstrip(",\r ") for line in text.split("\n") if line.strip() and not one_line(line)]
        assert text.count("\n") < 2 or all(line in lines for line in kept), name  # each of them, in this order
        assert ("\r\n" in text) == ("\r\n" in new) and text.startswith("\ufeff") == new.startswith("\ufeff")
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert list(servers) == ["tickets", "lessonbook"] and servers["lessonbook"]["args"][-1] == "mcp"
    assert Path(servers["lessonbook"]["command"]).is_absolute()
    codex = tomllib.loads((home / ".codex/config.toml").read_text())
    assert list(codex["mcp_servers"]) == ["docs", "lessonbook"] and "trusted_hash" in str(codex["hooks"]["state"])
    assert len(codex["hooks"]["state"]) == 1  # trust is the person's to give
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]["Stop"]
    assert hooks[0]["hooks"][0]["command"] == "say done" and "hook stop" in hooks[1]["hooks"][0]["command"]
    gemini = config_text.parsed("json", (home / ".gemini/settings.json").read_bytes())
    assert gemini["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] == 10_000
    assert "trust" not in gemini["mcpServers"]["lessonbook"]
    hermes = yaml.safe_load((home / ".hermes/config.yaml").read_text())
    assert [hook["timeout"] for hook in hermes["hooks"]["pre_llm_call"]] == [5, 10]
    assert not (home / ".hermes/shell-hooks-allowlist.json").exists()


def test_a_file_others_changed_meanwhile_loses_only_what_is_ours(run, home: Path, homes) -> None:
    homes.used(home)
    assert run("setup", "--yes").returncode == 0
    later = {}
    for name in (".claude.json", ".claude/settings.json", ".codex/hooks.json", ".cursor/hooks.json"):
        value = json.loads((home / name).read_text())
        value["added later"] = {"by": "the agent"}
        later[name] = value
        (home / name).write_text(json.dumps(value, indent=1))
    with (home / ".codex/config.toml").open("a") as file:
        file.write('\n[mcp_servers.lessonbook.tools.learn]\napproval_mode = "approve"\n\n[new]\na = 1\n')
    assert run("setup", "--remove", "--yes").returncode == 0
    for name in later:
        text = (home / name).read_text()
        assert "essonbook" not in text
        old = json.loads(homes.USED[name])
        assert json.loads(text) == {**old, "added later": {"by": "the agent"}}
    codex = tomllib.loads((home / ".codex/config.toml").read_text())
    assert codex == {**tomllib.loads(homes.USED[".codex/config.toml"]), "new": {"a": 1}}


def test_a_second_setup_after_others_changed_a_file_keeps_their_change(run, home: Path, homes) -> None:
    homes.used(home)
    assert run("setup", "claude", "--yes").returncode == 0
    path = home / ".claude/settings.json"
    path.write_text(path.read_text().replace('"model": "opus"', '"model": "haiku"'))
    run("config", "set", "recall.on_prompt", "true")
    assert run("setup", "claude", "--yes").returncode == 0
    assert "UserPromptSubmit" in path.read_text()
    assert run("setup", "claude", "--remove", "--yes").returncode == 0
    assert path.read_text() == homes.USED[".claude/settings.json"].replace('"opus"', '"haiku"')


def test_the_prompt_hook_comes_and_goes_with_its_setting(run, home: Path, homes) -> None:
    homes.used(home)
    path = home / ".claude/settings.json"
    run("setup", "--yes")
    without = homes.snapshot(home)
    run("config", "set", "recall.on_prompt", "true")
    run("setup", "--yes")
    assert "hook prompt --agent claude" in path.read_text()
    run("config", "set", "recall.on_prompt", "false")
    run("setup", "--yes")
    assert homes.snapshot(home) == without


def test_a_dry_run_and_a_run_that_nobody_agreed_to_write_nothing(run, home: Path, homes) -> None:
    homes.used(home)
    before = homes.snapshot(home)
    dry = run("setup", "--dry-run")
    assert dry.returncode == 0 and "+++ " in dry.stdout and homes.KEY not in dry.stdout
    asked = run("setup")
    assert asked.returncode == 2 and "say --yes" in asked.stderr
    document = json.loads(run("setup", "--dry-run", "--json").stdout)
    assert document["ok"] and not document["written"] and len(document["agents"]) == len(AGENTS)
    assert homes.KEY not in json.dumps(document)
    assert homes.snapshot(home) == before


def test_dotfiles_stay_links_and_keep_their_mode(run, home: Path, homes) -> None:
    homes.used(home)
    dotfiles = home / "dotfiles"
    dotfiles.mkdir()
    for name in (".claude/settings.json", ".codex/config.toml", ".hermes/config.yaml"):
        target = dotfiles / Path(name).name
        (home / name).rename(target)
        target.chmod(0o600)
        (home / "chain").unlink(missing_ok=True)
        (home / name).symlink_to(target)
    before = homes.snapshot(home)
    assert run("setup", "--yes").returncode == 0
    assert (home / ".claude/settings.json").is_symlink() and "essonbook" in (dotfiles / "settings.json").read_text()
    assert (dotfiles / "settings.json").stat().st_mode & 0o777 == 0o600
    assert run("setup", "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (".claude/settings.json", '{"hooks": [', "is not JSON"),
        (".claude.json", "not json", "is not JSON"),
        (".claude.json", '{"mcpServers": []}', "holds no table"),
        (".codex/config.toml", "model = ", "is not valid TOML"),
        (".codex/config.toml", 'mcp_servers = {a = {command = "b"}}\n', "cannot be changed safely"),
        (".hermes/config.yaml", "a: [", "is not YAML"),
        (".hermes/config.yaml", "a: 1\n---\nb: 2\n", "more than one"),
        (".config/ramabana/AGENTS.md", "<!-- lessonbook: begin -->\nmy words\n", "do not pair"),
    ],
)
def test_a_file_that_cannot_be_changed_is_left_with_what_to_add_by_hand(
    run, home: Path, homes, name: str, text: str, told: str
) -> None:
    homes.used(home)
    (home / name).write_text(text)
    done = run("setup", "--yes")
    assert done.returncode == 1 and told in done.stdout and "by hand" in done.stdout
    assert (home / name).read_text() == text
    assert "essonbook" in (home / ".cursor/hooks.json").read_text()  # the others are set up all the same
    assert run("setup", "--remove", "--yes").returncode == 0
    assert (home / name).read_text() == text


@pytest.mark.skipif(os.geteuid() == 0 and not sys.platform.startswith("linux"), reason="needs file modes")
def test_a_read_only_file_is_left_and_its_agents_other_files_go_back(run, home: Path, homes) -> None:
    homes.used(home)
    (home / ".claude/settings.json").chmod(0o444)
    before = homes.snapshot(home)
    done = run("setup", "claude", "--yes")
    assert done.returncode == 1 and "is read-only" in done.stderr
    assert homes.snapshot(home) == before


def test_a_dangling_link_is_said_and_left(run, home: Path, homes) -> None:
    homes.fresh(home)
    (home / ".claude.json").symlink_to(home / "nowhere")
    before = homes.snapshot(home)
    done = run("setup", "claude", "--yes")
    assert done.returncode == 1 and "leads nowhere" in done.stderr
    assert homes.snapshot(home) == before


def test_what_a_person_wrote_in_our_name_stays_theirs(run, home: Path, homes) -> None:
    homes.fresh(home)
    mine = {"mcpServers": {"lessonbook": {"command": "my-own-wrapper"}}}
    (home / ".claude.json").write_text(json.dumps(mine))
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "lessonbook hook session-start"}]}]}}
    (home / ".claude/settings.json").write_text(json.dumps(hook))
    (home / ".config/opencode/plugins").mkdir()
    (home / ".config/opencode/plugins/lessonbook.js").write_text("// mine\n")
    before = homes.snapshot(home)
    done = run("setup", "claude", "opencode", "--yes")
    assert done.stdout.count("left as it is") == 3
    assert json.loads((home / ".claude.json").read_text()) == mine
    settings = json.loads((home / ".claude/settings.json").read_text())
    assert settings["hooks"]["SessionStart"] == hook["hooks"]["SessionStart"] and "Stop" in settings["hooks"]
    assert run("setup", "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before


def test_an_entry_edited_by_hand_is_kept_and_still_goes(run, home: Path, homes) -> None:
    homes.used(home)
    before = homes.snapshot(home)
    run("setup", "claude", "--yes")
    path = home / ".claude/settings.json"
    path.write_text(path.read_text().replace('"timeout": 10', '"timeout": 42'))
    edited = path.read_bytes()
    done = run("setup", "claude", "--yes")
    assert "changed by hand" in done.stdout and path.read_bytes() == edited
    run("setup", "claude", "--remove", "--yes")
    assert homes.snapshot(home) == before


def test_a_persons_own_hook_put_into_our_group_is_not_taken_along(run, home: Path, homes) -> None:
    homes.fresh(home)
    run("setup", "claude", "--yes")
    path = home / ".claude/settings.json"
    value = json.loads(path.read_text())
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine"})
    path.write_text(json.dumps(value))
    done = run("setup", "claude", "--remove", "--yes")
    assert "changes of yours" in done.stdout and "mine" in path.read_text()


def test_a_command_that_moved_is_replaced_not_added(run, home: Path, homes) -> None:
    homes.used(home)
    before = homes.snapshot(home)
    old = home / ".local" / "old" / "bin"
    old.mkdir(parents=True)
    (old / "python").symlink_to(sys.executable)
    (old / "lessonbook").write_text("#!/bin/sh\n")
    (old / "lessonbook").chmod(0o755)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [str(old / "python"), "-m", "lessonbook", "setup", "--yes"]
    assert subprocess.run(command, env=env, capture_output=True, check=False).returncode == 0
    assert str(old) in (home / ".claude.json").read_text()
    positions = [hook["hooks"][0]["command"] for hook in hooks_of(home)]
    assert run("setup", "--yes").returncode == 0
    after = homes.snapshot(home)
    assert not any(str(old).encode() in data for _, _, data in after.values())
    assert [
        hook["hooks"][0]["command"].replace(str(Path(sys.executable).parent), str(old)) for hook in hooks_of(home)
    ] == positions
    assert run("setup", "--remove", "--yes").returncode == 0
    assert homes.snapshot(home) == before
    run("setup", "--yes")
    assert homes.snapshot(home) == after


def hooks_of(home: Path) -> list[dict[str, list[dict[str, str]]]]:
    return list(json.loads((home / ".codex/hooks.json").read_text())["hooks"]["Stop"])


def test_without_a_receipt_what_bears_our_mark_goes(run, home: Path, homes) -> None:
    homes.used(home)
    run("setup", "claude", "codex", "opencode", "--yes")
    for path in (home / ".local/state/lessonbook/setup").glob("*.json"):
        path.unlink()
    assert run("setup", "claude", "codex", "opencode", "--remove", "--yes").returncode == 0
    assert not (home / ".config/opencode/plugins/lessonbook.js").exists()
    for name in (".claude/settings.json", ".codex/hooks.json", ".claude.json", ".codex/config.toml"):
        assert "essonbook" not in (home / name).read_text()


def test_moved_configuration_folders_are_followed(run, home: Path, homes) -> None:
    places = {
        "CLAUDE_CONFIG_DIR": ("claude", {".claude.json", "settings.json"}),
        "CODEX_HOME": ("codex", {"config.toml", "hooks.json"}),
        "GEMINI_CLI_HOME": ("gemini", {".gemini/settings.json"}),
        "COPILOT_HOME": ("copilot", {"mcp-config.json", "hooks/lessonbook.json"}),
        "PI_CODING_AGENT_DIR": ("pi", {"mcp.json", "extensions/lessonbook.ts"}),
        "HERMES_HOME": ("hermes", {"config.yaml"}),
    }
    for variable, (name, files) in places.items():
        folder = home / "moved" / name
        assert run("setup", name, "--yes", env={variable: str(folder)}).returncode == 0
        assert {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} == files
        assert run("setup", name, "--remove", "--yes").returncode == 0  # without the variable, too
        assert not any(p.is_file() for p in folder.rglob("*"))


def test_no_agent_and_an_unknown_one_are_said(run) -> None:
    none = run("setup", env={"PATH": "/nowhere"})
    assert none.returncode == 2 and "No coding agent was found" in none.stderr
    assert run("setup", "vim").returncode == 2


def test_autolearn_turns_the_tool_and_a_memory_on(run, home: Path, homes) -> None:
    homes.fresh(home)
    done = run("setup", "claude", "--yes", "--autolearn")
    assert done.returncode == 0 and "autolearn.review" in done.stderr
    assert run("config", "get", "autolearn.enabled").stdout == "true\n"
    assert run("config", "get", "memory.backend").stdout == "mnemopi\n"


@pytest.mark.parametrize("name", HOOKED)
def test_every_agent_names_how_it_runs_alone_and_what_it_says(name: str) -> None:
    (agent,) = agents([name])
    assert agent.headless and agent.dialect
    for event in agent.dialect.events:
        assert json.loads(json.dumps(agent.said(event, {"session": "s", "cwd": "/", "prompt": "p"})))


def test_without_the_servers_extra_it_is_said(run, home: Path, homes, tmp_path: Path) -> None:
    homes.fresh(home)
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    path = os.pathsep.join([str(blocked), *sys.path])
    told = run("setup", "claude", "--yes", env={"PYTHONPATH": path})
    assert told.returncode == 0 and "need the extra `mcp`" in told.stderr
    assert "need the extra" not in run("setup", "--remove", "--yes", env={"PYTHONPATH": path}).stderr
    assert "need the extra" not in run("setup", "claude", "--yes").stderr
