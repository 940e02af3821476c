from __future__ import annotations

import pytest

from lessonbook.core.failure import Trouble
from lessonbook.core.shell import simple_commands
from lessonbook.proposers.moves import Move, head, move_between, overrides


def move(failed: str, worked: str, trouble: Trouble | None = Trouble.NOT_INSTALLED) -> Move | None:
    return move_between(simple_commands(failed)[0], simple_commands(worked)[0], trouble)


@pytest.mark.parametrize(
    ("failed", "worked", "expected"),
    [
        ("tok npm test", "npm test", Move(("tok",), ())),
        ("pytest a.py", "python -m pytest a.py", Move((), ("python", "-m"))),
        ("pytest a.py -q", "bin/test a.py", None),
        ("npm test", "cd web && npm test", Move(place="web")),
        ("npm test", "npm test", None),
        ("pytest a.py", "bin/test a.py", Move(("pytest",), ("bin/test",))),
        ("x -A f", "x -e f", Move(("-A",), ("-e",), at_front=False)),
        ("cat a.py", "cat b.py", None),
        ("git push", "git pull", None),
        ("git push", "git push --force", None),
        ("cat a.py", "rm -r b.py", None),
        ("pytest", "pip install pytest", None),
        ("pip install x", "uv pip install x", Move((), ("uv",))),
        ("pip install xy", "uv add xy", Move(("pip", "install"), ("uv", "add"))),
    ],
)
def test_moves(failed: str, worked: str, expected: Move | None) -> None:
    assert move(failed, worked) == expected


def test_a_folder_cures_only_what_a_folder_can() -> None:
    assert move("git -C a status", "git status", Trouble.BAD_OPTION) is None
    assert move("cd a && go vet", "go vet", Trouble.WRONG_FOLDER) == Move(place=".")


def test_another_program_is_no_move_where_the_first_one_ran() -> None:
    assert move("ls a/b", "mkdir a/b", Trouble.NO_FILE) is None


@pytest.mark.parametrize("word", ["--force", "-f", "--no-verify", "--hard", "--yes", "--allow-dirty"])
def test_overrides(word: str) -> None:
    assert overrides(word)
    assert not overrides(f"x{word}")


@pytest.mark.parametrize(
    ("commands", "most", "expected"),
    [
        (["npm run a", "npm run b", "npm run c"], 4, "npm run …"),
        (["npm run a", "npm run a"], 4, "npm run a"),
        (["npm run a", "npm run a"], 2, "npm run …"),
        (["ls a/b", "ls a/c"], 4, "ls …"),
        (["a", "b"], 4, ""),
    ],
)
def test_head(commands: list[str], most: int, expected: str) -> None:
    assert head([tuple(command.split()) for command in commands], most) == expected
