"""The agents' own programs read what set-up writes; each is skipped where its program is not on the search path."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

LISTS = {
    "claude": ["mcp", "list"],
    "codex": ["mcp", "list", "--json"],
    "gemini": ["mcp", "list"],
    "copilot": ["mcp", "list"],
    "opencode": ["mcp", "list"],
    "hermes": ["mcp", "list"],
}
QUIET = {
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}


def ask(home: Path, program: str, *words: str) -> str:
    """What one agent's program prints, in a home of its own."""
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("CLAUDE", "CODEX"))}
    done = subprocess.run(
        [program, *words], capture_output=True, text=True, cwd=home, env={**env, **QUIET}, timeout=240, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTS)
def test_the_program_lists_our_server_and_not_after_removal(run, home: Path, name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    assert run("setup", name, "--yes").returncode == 0
    if name == "opencode":  # with a plugin its start waits for a package it installs
        (home / ".config/opencode/plugins/lessonbook.js").unlink()
    assert "lessonbook" in ask(home, name, *LISTS[name])
    assert run("setup", name, "--remove", "--yes").returncode == 0
    assert "lessonbook mcp" not in ask(home, name, *LISTS[name])


@pytest.mark.slow
def test_claude_code_accepts_the_plugin(run, home: Path, tmp_path: Path) -> None:
    run("setup", "--plugin", "claude", str(tmp_path / "market"))
    assert "Validation passed" in ask(home, "claude", "plugin", "validate", str(tmp_path / "market"))
    plugin = tmp_path / "market/plugins/lessonbook"
    assert "Validation passed" in ask(home, "claude", "plugin", "validate", str(plugin))


@pytest.mark.slow
def test_codex_takes_the_plugin_and_says_which_hooks_it_trusts(run, home: Path, tmp_path: Path) -> None:
    run("setup", "--plugin", "codex", str(tmp_path / "market"))
    (home / ".codex").mkdir()
    ask(home, "codex", "plugin", "marketplace", "add", str(tmp_path / "market"))
    assert "Added plugin `lessonbook`" in ask(home, "codex", "plugin", "add", "lessonbook@lessonbook-market")
    run("setup", "codex", "--yes")
    rows = json.loads(run("setup", "codex", "--check", "--json").stdout)["checks"]
    assert sum(row["what"] == "trust" for row in rows) == 3
