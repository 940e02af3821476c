"""A verb costs nothing until it is asked for: what the start of the command imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lessonbook.hosts.cli import brief, learned
from lessonbook.hosts.cli.parser import for_verb
from lessonbook.hosts.registry import HOOKS, VERBS

HEAVY = {
    "rich", "argcomplete", "yaml", "tomlkit", "msgspec", "sqlite3", "asyncio", "importlib.metadata", "email",
    "http", "ssl", "logging", "unittest", "concurrent.futures", "multiprocessing", "numpy",
}  # fmt: skip
# What a person or an agent waits for at every start does without these too: each takes 1 to 7 ms to load, and most
# bring others along. ``make bench`` tells what the commands take; a new name here is a promise, a removed one a cost.
SLOW = {
    "argparse", "dataclasses", "difflib", "gettext", "hashlib", "inspect", "locale", "random", "selectors", "shutil",
    "subprocess", "tempfile", "tomllib", "typing",
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
    "words",
    [("--help",), ("--version",), ("hook", "session-start"), ("brief",), ("learned", "--help"), ("mcp", "--help")],
)
def test_nothing_heavy_is_imported(words: tuple[str, ...]) -> None:
    found = imported(*words)
    assert "lessonbook.hosts.cli.main" in found
    assert not HEAVY & found


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("--version",),
        ("hook", "session-start"),
        ("learned",),
        ("learned", "list"),
        ("--json", "learned"),
        ("brief",),
    ],
)
def test_what_everybody_waits_for_loads_nothing_slow(words: tuple[str, ...], commit) -> None:
    book = commit({"AGENTS.md": "- Run make test.\n"})
    pending(book)
    assert not (HEAVY | SLOW) & imported(*words)


def test_only_a_skill_loads_the_rules_for_skills(home: Path) -> None:
    rules = {"lessonbook.core.frontmatter", "lessonbook.core.skill", "lessonbook.skills.examine"}
    assert not (rules | {"lessonbook.skills.managed"}) & imported("hook", "session-start")
    skill = home / ".claude" / "skills" / "sizes" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: sizes\ndescription: When sizes matter.\n---\n\nLook first.\n")
    found = imported("hook", "session-start")
    assert rules <= found and not (HEAVY | SLOW) & found


@pytest.mark.parametrize(
    ("verb", "module", "words"),
    [
        *(("learned", learned, words) for words in ([], ["list"], ["--json"], ["list", "--json"])),
        *(("brief", brief, words) for words in ([], ["--json"])),
    ],
)
def test_a_plain_form_is_what_the_parser_makes_of_it(verb: str, module: ModuleType, words: list[str]) -> None:
    parsed = vars(for_verb(verb, module).parse_args(words))
    assert parsed.pop("json") == ("--json" in words)
    assert vars(module.plain(words)) == parsed


@pytest.mark.parametrize("words", [["diff"], ["list", "--book", "global"], ["--help"], ["list", "list"], ["lisst"]])
def test_anything_else_is_the_parsers(words: list[str]) -> None:
    assert learned.plain(words) is None and brief.plain(words) is None


def pending(book: Path) -> None:
    """Let one candidate wait, as a batch of the originals leaves it."""
    branch = ["branch", "pending/20261130-210500-3fa2c1"]
    subprocess.run(["git", "-C", str(book), *branch], check=True)


def test_help_imports_no_verb_and_the_hook_builds_no_parser() -> None:
    assert not {verb.module for verb in VERBS.values()} & imported("--help")
    assert not {"argparse", "tomlkit"} & imported("hook", "session-start")


def test_every_module_of_the_registry_is_there() -> None:
    root = Path(__file__).resolve().parents[2] / "src"
    for verb in [*VERBS.values(), HOOKS]:
        assert (root / f"{verb.module.replace('.', '/')}.py").is_file()
