"""What a tool is: how it is described to an agent, what it takes, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from lessonbook.core.errors import InputError
from lessonbook.core.value import Value
from lessonbook.hosts.mcp.arguments import checked
from lessonbook.hosts.mcp.schemas import Schema
from lessonbook.hosts.mcp.surroundings import Here

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Answer(Value):
    """What a tool says: the text an agent reads, and the same for a program. ``data`` says everything by itself.

    Some clients show an agent the one, some the other.
    """

    text: str
    data: Mapping[str, Any] = _NOTHING
    is_error: bool = False


Given: TypeAlias = "dict[str, Any]"
Run: TypeAlias = Callable[[Here, Given], Answer]


class Tool(Value):
    """One tool. ``run`` gets arguments that fit ``parameters``, and may take its time: it has a thread of its own.

    ``destructive`` is whether it takes away or replaces what is there, ``idempotent`` whether the same call again
    changes nothing more.
    """

    name: str
    title: str
    description: str
    parameters: Schema
    answers: Schema
    run: Run
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    """Whether it asks somebody else: a server with a model of its own."""
    is_checked: bool = True
    """False for a tool that checks its arguments by itself."""

    def call(self, here: Here, given: Mapping[str, object] | None) -> Answer:
        """Check the arguments and run. Raises ``LessonbookError`` whose message is for the agent."""
        if not self.is_checked:
            return self.run(here, dict(given or {}))
        try:
            arguments = checked(self.parameters, given)
        except InputError as error:
            raise InputError(f"{error} Nothing was {'read' if self.read_only else 'stored or changed'}.") from error
        return self.run(here, arguments)
