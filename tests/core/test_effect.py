from __future__ import annotations

import pytest

from lessonbook.core.effect import changes_state
from lessonbook.core.session import Call, CallKind, CallStatus


def shell(command: str, status: CallStatus = CallStatus.OK) -> Call:
    return Call("c", "Bash", CallKind.SHELL, status, command=command)


@pytest.mark.parametrize(
    "command",
    [
        "npm install",
        "npm ci",
        "git checkout x",
        "git commit -m a",
        "sed -i s/a/b/ f",
        "echo a > f",
        "ruff check --fix .",
        "python make.py",
        "npm run lint:fix",
        "ls && rm f",
        "unknown-program",
        "prettier --write .",
    ],
)
def test_changes(command: str) -> None:
    assert changes_state(shell(command))
    assert not changes_state(shell(command, CallStatus.FAILED))


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "cat a | grep b",
        "git status",
        "git diff HEAD~1",
        "pytest -q",
        "npm test",
        "npm run lint",
        "tsc --noEmit",
        "sed -n 1,3p f",
        "grep x f 2>/dev/null",
        "ls > /dev/null",
        "cd x && git log",
        "uv --version",
        "pip list",
        "",
    ],
)
def test_reads_and_checks_change_nothing(command: str) -> None:
    assert not changes_state(shell(command))


def test_tools() -> None:
    assert changes_state(Call("c", "Edit", CallKind.EDIT, CallStatus.OK))
    assert changes_state(Call("c", "Task", CallKind.TASK, CallStatus.OK))
    assert not changes_state(Call("c", "Read", CallKind.READ, CallStatus.OK))
    assert not changes_state(Call("c", "Edit", CallKind.EDIT, CallStatus.DENIED))
