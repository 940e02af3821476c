"""What an agent's set-up consists of: entries of ours in files of its own. Values only; nothing here touches a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from lessonbook.core.value import Value


class Agent(Protocol):
    """What set-up needs to know of one coding agent; ``hosts.agents`` describes each."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def programs(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def folder(self) -> Callable[[Where], Path]: ...  # noqa: D102
    @property
    def entries(self) -> Callable[[Where, Wanted], Sequence[Entry]]: ...  # noqa: D102
    @property
    def doubts(self) -> Callable[[Where, bool], Iterable[str]]: ...  # noqa: D102

    def said(self, event: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the agent sends its hook for ``event``."""
        ...


class Where(Value):
    """The surroundings that decide where an agent keeps its files."""

    home: Path
    env: Mapping[str, str]
    search: Callable[[str], str | None]
    """Finds a program on the search path."""

    def moved(self, variable: str, below: str) -> Path:
        """Return the folder an environment variable names, else the one below the home folder."""
        named = self.env.get(variable, "")
        return Path(named) if named.startswith("/") else self.home / below


class Wanted(Value):
    """What is to be set up: the command that starts us, and whether prompts are answered too."""

    command: tuple[str, ...]
    """The words that start lessonbook, the first an absolute path."""
    prompt: bool = False
    env: Mapping[str, str] = {}
    """What of the environment moves our own folders; several agents hand a server next to nothing of theirs."""

    def hook(self, event: str, agent: str) -> str:
        """Return the command line of one hook, as a shell or a splitter reads it."""
        from shlex import join

        return join((*self.command, "hook", event, "--agent", agent))

    @property
    def server(self) -> tuple[str, ...]:
        """The words that start the MCP server."""
        return (*self.command, "mcp")


class Entry(Value):
    """One entry of ours.

    ``form`` is ``json``, ``toml`` or ``yaml`` for an entry inside a file, ``text`` for a file that is ours as a whole,
    and ``block`` for a marked block in a Markdown file. ``value`` is the text in the last two.
    """

    path: Path
    form: str
    what: str
    """What it is for, as a person is told: ``MCP server``, ``session-start``."""
    value: Any
    keys: tuple[str, ...] = ()
    item: bool = False
    """Whether ``value`` is one item of the list ``keys`` that others may have items in, too."""
    mark: str = ""
    """What every version of this entry holds and nothing else does, by which it is known again."""
    fixed: tuple[tuple[tuple[str, ...], Any], ...] = ()
    """Other entries the file needs to be valid, such as a version number; added only where they are missing."""

    @property
    def address(self) -> str:
        """Where it stands in the file, for people."""
        return ".".join(self.keys)


def marked(value: Any, mark: str) -> bool:
    """Whether any text in ``value`` holds ``mark``."""
    if isinstance(value, str):
        return mark in value
    if isinstance(value, Mapping):
        return any(marked(inner, mark) for inner in value.values())
    return isinstance(value, (list, tuple)) and any(marked(inner, mark) for inner in value)
