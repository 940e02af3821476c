"""Installs the agents' own programs, at the versions named here, into a folder of the checkout, and finds them there.

``python -m realagents claude codex`` does it by hand. What is there already is used. Nothing outside the folder
changes, and no script of a package runs but those named here, without which it would not start.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".realagents"
NAMED = "LESSONBOOK_TEST_AGENTS"
"""The environment variable with the names of the agents that must run: they are installed where they are not yet."""
USUAL = ("claude", "codex")
"""Those that run where it is not set, if they are installed."""
_ENV = dict(os.environ)  # as it was before any test moved the home folder: registries are configured there
_SECONDS = 900
_BUN = ("bun/install.js",)


class InstallError(Exception):
    """An agent's program cannot be had here; the message says why."""


@dataclass(frozen=True)
class Program:
    """What to install for one agent, with exact versions, and the name of its command."""

    agent: str
    command: str
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    """Scripts of its packages that put its program in place."""

    @property
    def folder(self) -> Path:
        """Where it is installed."""
        return FOLDER / self.agent

    @property
    def bin(self) -> Path:
        """The folder of its commands."""
        return self.folder / ("node_modules/.bin" if self.npm else "bin")

    @property
    def versions(self) -> str:
        """What is installed, in words."""
        return " ".join((*self.npm, *self.pip))


PROGRAMS: Mapping[str, Program] = {
    program.agent: program
    for program in (
        Program(
            "claude",
            "claude",
            npm=("@anthropic-ai/claude-code@2.1.332",),
            scripts=("@anthropic-ai/claude-code/install.cjs",),
        ),
        Program("codex", "codex", npm=("@openai/codex@0.171.0",)),
        Program("gemini", "gemini", npm=("@google/gemini-cli@0.61.0",)),
        Program("copilot", "copilot", npm=("@github/copilot@1.0.102",)),
        Program("opencode", "opencode", npm=("opencode-ai@1.18.33",), scripts=("opencode-ai/postinstall.mjs",)),
        Program("pi", "pi", npm=("@earendil-works/pi-coding-agent@1.6.0", "bun@1.4.5"), scripts=_BUN),
        Program("omp", "omp", npm=("@oh-my-pi/pi-coding-agent@18.2.3", "bun@1.4.5"), scripts=_BUN),
        Program("hermes", "hermes", pip=("hermes-agent[mcp]==0.19.0",)),
    )
}


def named() -> list[str]:
    """Return the agents the environment says must run; ``all`` stands for every one."""
    words = _ENV.get(NAMED, "").replace(",", " ").split()
    return list(PROGRAMS) if words == ["all"] else words


def wanted(program: Program) -> bool:
    """Whether it is to run: it is named, or none is and it is one of the usual that are installed."""
    if NAMED in _ENV:
        return program.agent in named()
    return program.agent in USUAL and is_there(program)


def is_there(program: Program) -> bool:
    """Whether this very version is installed."""
    stamp = program.folder / ".installed"
    return stamp.is_file() and stamp.read_text() == program.versions


def install(program: Program) -> None:
    """Install it, unless it is there. Raises ``InstallError``."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{program.agent}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_there(program):
            return
        shutil.rmtree(program.folder, ignore_errors=True)
        program.folder.mkdir()
        if program.npm:
            _with_npm(program)
        else:
            _with_pip(program)
        (program.folder / ".installed").write_text(program.versions)


def _with_npm(program: Program) -> None:
    if shutil.which("npm") is None:
        raise InstallError(f"{program.agent} needs npm, which is not on the search path")
    quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    _run(["npm", "install", "--prefix", str(program.folder), *quiet, *program.npm])
    for script in program.scripts:
        path = program.folder / "node_modules" / script
        _run(["node", path.name], path.parent)


def _with_pip(program: Program) -> None:
    _run([sys.executable, "-m", "venv", str(program.folder)])
    _run([str(program.bin / "python"), "-m", "pip", "install", "--quiet", *program.pip])


def _run(command: list[str], folder: Path = ROOT) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=_ENV,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise InstallError(f"{' '.join(command)} failed: {said[-1] if said else done.returncode}")
