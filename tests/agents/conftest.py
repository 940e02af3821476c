"""Agents' own programs, installed once, and a home in which there is something to be briefed of."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from realagents.programs import NAMED, PROGRAMS, InstallError, Program, install, wanted


@pytest.fixture
def installed() -> Callable[[str], Program]:
    """``installed("claude")``: its program, installed where that was asked for; else the test is skipped."""

    def get(name: str) -> Program:
        program = PROGRAMS[name]
        if not wanted(program):
            pytest.skip(f"{name} is not named in {NAMED}: `make test-agents` runs it")
        try:
            install(program)
        except InstallError as error:
            pytest.fail(str(error))
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
