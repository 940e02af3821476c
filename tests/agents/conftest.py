"""Agents' own programs, installed once, and a home in which there is something to be briefed of."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from realagents.programs import PROGRAMS, InstallError, Program, install, is_there, named


@pytest.fixture
def installed() -> Callable[[str], Program]:
    """``installed("claude")``: its program; where it must run here it is installed, else the test may be skipped."""

    def get(name: str) -> Program:
        program = PROGRAMS[name]
        if name in named():
            try:
                install(program)
            except InstallError as error:
                pytest.fail(str(error))
        elif not is_there(program):
            pytest.skip(f"{name} is not installed: `make test-agents` does it")
        return program

    return get


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with one commit, for agents to work in."""
    folder = tmp_path / "crane"
    folder.mkdir()
    (folder / "README.md").write_text("# Crane\n")
    git = [shutil.which("git") or "git", "-C", str(folder), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return folder
