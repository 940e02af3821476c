"""A verb costs nothing until it is asked for: what the start of the command imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lessonbook.hosts.registry import HOOKS, VERBS

HEAVY = {
    "rich", "argcomplete", "yaml", "tomlkit", "msgspec", "sqlite3", "asyncio", "importlib.metadata", "email",
    "http", "ssl", "logging", "unittest", "concurrent.futures", "multiprocessing", "numpy",
}  # fmt: skip
SCRIPT = """
import atexit, json, os, sys
code = sys.argv.pop(1)
real, os._exit = os._exit, lambda status: (say(), real(status))
def say():
    os.write(2, json.dumps(sorted(sys.modules)).encode())
from lessonbook.hosts.cli.main import main
status = main()
say()
"""


def imported(*words: str) -> set[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "x", *words], input=b"{}", capture_output=True, env=env, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("hook", "session-start"), ("brief",), ("learned", "--help")]
)
def test_nothing_heavy_is_imported(words: tuple[str, ...]) -> None:
    found = imported(*words)
    assert "lessonbook.hosts.cli.main" in found
    assert not HEAVY & found


def test_help_imports_no_verb_and_the_hook_builds_no_parser() -> None:
    assert not {verb.module for verb in VERBS.values()} & imported("--help")
    assert not {"argparse", "tomlkit"} & imported("hook", "session-start")


def test_every_module_of_the_registry_is_there() -> None:
    root = Path(__file__).resolve().parents[2] / "src"
    for verb in [*VERBS.values(), HOOKS]:
        assert (root / f"{verb.module.replace('.', '/')}.py").is_file()
