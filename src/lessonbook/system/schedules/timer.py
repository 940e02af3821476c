"""What every timer is: places it is written to, and commands that tell the system of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.system import files
from lessonbook.system.programs import run
from lessonbook.system.settings import environment

SECONDS = 20.0
PASSED_ON = (
    "PATH",
    "LESSONBOOK_CONFIG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "HERMES_HOME",
)
"""The variables that a night needs as they were when it was scheduled: where programs and settings are, no secrets."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be started every day, and when; ``env`` are the variables it is to be started with."""

    words: tuple[str, ...]
    hour: int
    minute: int
    env: Mapping[str, str]

    def __post_init__(self) -> None:
        """Refuse what no timer can hold: a line break in a word or a value."""
        for text in (*self.words, *self.env.values()):
            if "\n" in text or "\r" in text or "\0" in text:
                raise InputError("a folder or variable that the night needs has a line break in its name.")


@dataclass(frozen=True, slots=True)
class Spot:
    """One place a timer is written to. ``name`` is what people call it; ``read`` gives ``None`` where nothing is."""

    name: str
    read: Callable[[], bytes | None]
    write: Callable[[bytes | None], None]
    then: Callable[[bytes | None], bytes]
    """What it is to hold, by what it holds now."""
    without: Callable[[bytes | None], bytes | None] | None = None
    """What it holds without us, where others write there too; ``None``: it is ours alone."""


class Timer(Protocol):
    """One kind of timer."""

    name: str

    def is_here(self) -> bool:
        """Whether this machine has it."""
        ...

    def spots(self, wanted: Wanted) -> list[Spot]:
        """Return where it is written, in the order to write."""
        ...

    def start(self) -> str | None:
        """Tell the system of what was written; return what did not work, in a sentence."""
        ...

    def stop(self) -> str | None:
        """Tell the system, before it is taken back; return what did not work."""
        ...

    def runs(self) -> str | None:
        """Return why the system would not start it, as far as it can be asked; ``None`` where nothing is wrong."""
        ...


def file_spot(path: Path, data: bytes, top: Path) -> Spot:
    """Return the spot of a file that is ours alone; folders that become empty below ``top`` go with it."""

    def write(then: bytes | None) -> None:
        if then is None:
            files.remove(path, up_to=top)
        else:
            files.write_atomic(path, then)

    return Spot(str(path), lambda: files.read_bytes(path), write, lambda _: data)


def said(*words: str, data: bytes = b"") -> tuple[int, bytes, str]:
    """Run a program of the system's and return its exit code and what it wrote; 127 where there is none."""
    try:
        ended = run(words, data, timeout=SECONDS, folder=Path("/"), env={**environment(), "LC_ALL": "C"})
    except LessonbookError as error:
        return 127, b"", str(error)
    return ended.code, ended.out, ended.err.decode("utf-8", "replace").strip()
