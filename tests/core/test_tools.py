from __future__ import annotations

import pytest

from lessonbook.core.session import CallKind
from lessonbook.core.tools import command_of, kind_of, unwrap


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", CallKind.SHELL),
        ("shell_command", CallKind.SHELL),
        ("exec_command", CallKind.SHELL),
        ("Read", CallKind.READ),
        ("Grep", CallKind.SEARCH),
        ("Glob", CallKind.LIST),
        ("MultiEdit", CallKind.EDIT),
        ("apply_patch", CallKind.EDIT),
        ("Write", CallKind.WRITE),
        ("WebFetch", CallKind.WEB),
        ("Task", CallKind.TASK),
        ("Agent", CallKind.TASK),
        ("AskUserQuestion", CallKind.ASK),
        ("Skill", CallKind.SKILL),
        ("mcp__github__list_issues", CallKind.MCP),
        ("TodoWrite", CallKind.OTHER),
        ("write_stdin", CallKind.OTHER),
        ("", CallKind.OTHER),
    ],
)
def test_kinds(name: str, kind: CallKind) -> None:
    assert kind_of(name) is kind


@pytest.mark.parametrize(
    ("command", "script"),
    [
        (["bash", "-lc", "make test && ls"], "make test && ls"),
        (["/bin/zsh", "-l", "-c", "ls"], "ls"),
        (["pwsh", "-NoProfile", "-Command", "Get-Item x"], "Get-Item x"),
        (["git", "commit", "-m", "two words"], "git commit -m 'two words'"),
        (["bash", "run.sh"], "bash run.sh"),
        (["bash", "-c", "echo $1", "name", "arg"], "bash -c 'echo $1' name arg"),
        ("bash -lc 'make test'", "make test"),
        ("/bin/sh -c \"echo 'a b'\"", "echo 'a b'"),
        ("bash -c 'never closed", "bash -c 'never closed"),
        ("bash --norc -c x", "x"),
        ("bash --version", "bash --version"),
        ("grep -c x file", "grep -c x file"),
        ("make test", "make test"),
        ("bash -c 'a' && b", "bash -c 'a' && b"),
    ],
)
def test_unwrapping(command: str | list[str], script: str) -> None:
    assert unwrap(command) == script


def test_the_command_of_a_call() -> None:
    assert command_of({"command": ["bash", "-lc", "ls"]}) == "ls"
    assert command_of({"cmd": "rg --files"}) == "rg --files"
    assert command_of({"script": "make"}) == "make"
    assert command_of({"command": "  "}) is None
    assert command_of({"command": [1, 2]}) is None
    assert command_of({}) is None
