"""One program launched another way: ``uv run pytest`` for ``pytest``, ``venv/bin/python app.py`` for ``python app.py``.

What a program cannot import is a matter of how it was launched, or of what is installed. Only where nothing changed
between a failure and the run that worked was it the launch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lessonbook.core.checks import is_check
from lessonbook.core.effect import command_changes
from lessonbook.core.failure import Failure
from lessonbook.core.shell import Command
from lessonbook.proposers.moves import Move, move_between, overrides, sets_up

_ADDED_MOST = 4
_LONGEST = 40
_INTERPRETERS = frozenset({"python", "node"})
_RUNNERS = frozenset({"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "pixi", "conda", "micromamba"})
_AT_ONCE = frozenset({"npx", "bunx", "uvx"})
_LOOKED_UP = re.compile(r"\w+=")
_SESSIONS = ("nox", "tox", "hatch test")
"""Runners of a Python project that name neither the program nor the tests they run."""


def as_launched(command: Command) -> Command:
    """Return the command with what it finds modules by as its first words: ``PYTHONPATH=src pytest``."""
    return replace(command, words=(*command.environment, *command.words), environment=())


def relaunched(failure: Failure, failed: Command, commands: Sequence[Command]) -> tuple[Move | None, Command | None]:
    """Return what was changed to launch ``failed`` again, and the command that did; nothing once anything changed.

    A command without a move is the same one run again: whatever mended it, it was not the launch.
    """
    for command in commands:
        again = as_launched(command)
        if again.words == failed.words and again.place == failed.place:
            return None, again
        move = _launch(failure, failed, command)
        if move is not None:
            return move, again
        if command_changes(command):
            break
    return None, None


def _launch(failure: Failure, failed: Command, command: Command) -> Move | None:
    again = as_launched(command)
    if failed.words == again.words:
        return move_between(failed, again, failure.trouble)
    core = _core(failed)
    if core in ("pytest", "unittest") and not _names(command, core):
        return _session(failed, command, core)
    front = _front(failed, again, core)
    if front is None:
        return None if failure.unrun else move_between(failed, again, failure.trouble)
    runs = is_check(command) or command_changes(command)
    return (
        front if runs and (_names(command, core) or (core in _INTERPRETERS and "run" in command.words[1:2])) else None
    )


def _front(failed: Command, again: Command, core: str) -> Move | None:
    """The words that were put before ``core``, or in their place; it and the rest has to be the same."""
    before = _at(failed, core)
    if failed.words[: before + 1] == again.words[: before + 1]:
        return None
    most = min(len(failed.words), len(again.words))
    back = next((n for n in range(most) if failed.words[-1 - n] != again.words[-1 - n]), most)
    dropped, added = failed.words[: len(failed.words) - back], again.words[: len(again.words) - back]
    if len(added) > _ADDED_MOST or any(map(overrides, added)) or sets_up(dropped, added):
        return None
    same = bool(dropped and added) and _base(dropped[-1]) == _base(added[-1])
    shared = any(not word.startswith("-") and len(word) > 1 for word in failed.words[len(dropped) :])
    fits = len(dropped) <= _ADDED_MOST and all(len(word) <= _LONGEST for word in (*dropped, *added))
    return Move(dropped, added) if fits and (same or shared) else None


def _session(failed: Command, command: Command, core: str) -> Move | None:
    known = next((name for name in _SESSIONS if name in (command.family, command.program)), None)
    return Move(failed.words[: _at(failed, core) + 1], tuple(known.split())) if known else None


def _at(failed: Command, core: str) -> int:
    return next((n for n, word in enumerate(failed.words) if _base(word) == core), 0)


def launched_same(move: Move, failed: Sequence[str], worked: Sequence[str]) -> bool:
    """Whether a move only names what launches the program, so that the word behind it has to be told, too."""
    if move.dropped and move.added and _base(move.dropped[-1]) == _base(move.added[-1]):
        return False
    behind = failed[len(move.dropped) : len(move.dropped) + 1]
    return bool(behind) and tuple(behind) == tuple(worked[len(move.added) : len(move.added) + 1])


def _core(failed: Command) -> str:
    """What was to be run, whatever launches it: the program, or the module of ``python -m``."""
    words = list(failed.words)
    while len(words) > 1 and (words[0] == "source" or _LOOKED_UP.match(words[0])):
        words = words[3:] if words[0] == "source" else words[1:]
    while len(words) > 1 and (words[0] in _AT_ONCE or (words[1] == "run" and words[0] in _RUNNERS)):
        words = words[1:] if words[0] in _AT_ONCE else words[2:]
        words = words[next((n for n, word in enumerate(words) if not word.startswith("-")), 0) :]
    named = next(iter(words), failed.words[0])
    module = _base(named) == "python" and words[1:2] == ["-m"] and len(words) > 2
    return _base(words[2] if module else named)


def _names(command: Command, core: str) -> bool:
    return any(_base(word) == core for word in command.words)


def _base(word: str) -> str:
    """The name of a program: no folder, and no version."""
    return re.sub(r"[\d.]+\Z", "", word.rsplit("/", 1)[-1])
