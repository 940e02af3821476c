"""What the agents have in common: a base whose modules say only what is their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lessonbook.core.agent_run import Apart, Permission, Ran, Task
from lessonbook.core.errors import InputError


class Agent:
    """Base of the modules beside this one; see ``core.ports.AgentRunner``."""

    name = ""
    reader = ""
    bounded = False
    permissions = frozenset(Permission)
    hosts: tuple[str, ...] = ()
    transcripts = ""
    writes: tuple[str, ...] | None = None
    """What the person says that it may write to beside the folder of a run; ``None`` where they do not say."""

    def __init__(self, program: Sequence[str] = (), more: Sequence[str] = ()) -> None:
        """``program`` starts it where its own name does not; ``more`` are words of the person's."""
        self.program = tuple(program) or (self.name,)
        self.more = tuple(more)

    def words(self, task: Task) -> Sequence[str]:
        """Return the command."""
        if task.permission not in self.permissions:
            able = ", ".join(sorted(self.permissions))
            raise InputError(f"{self.name} cannot be kept to {task.permission.value!r}; it can to {able}.")
        return [*self.program, *self.own_words(task), *self.more, *self.last_words(task)]

    def own_words(self, task: Task) -> Sequence[str]:
        """Return the options."""
        return ()

    def last_words(self, task: Task) -> Sequence[str]:
        """Return what has to come last: the prompt, where it is not read from standard input."""
        return ()

    def environment(self, task: Task) -> Mapping[str, str]:
        """Return the variables it needs."""
        return {}

    def apart(self, task: Task, env: Mapping[str, str]) -> Apart | None:
        """Return what keeps it to the folder of the run: nothing, unless its module knows how, or the person says."""
        return None if self.writes is None else Apart(writes=self.writes)

    def data(self, task: Task) -> bytes:
        """Return what it reads on standard input."""
        return b""

    def told(self, task: Task, code: int, out: str, err: str) -> Ran:
        """Return how it ended: exit code 0 and any text is a success, where an agent says no more."""
        from lessonbook.system.agents.telling import failed

        reply = out.strip()
        return failed(self.name, code, err or out) if code or not reply else Ran(reply)


def as_data(prompt: str) -> bytes:
    """Return a prompt for standard input."""
    return prompt.encode("utf-8", "replace")


def linked(folder: Path, own: Path, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the links by which ``folder`` has those of the ``names`` that there are in ``own``."""
    return tuple((str(folder / name), str(own / name)) for name in names if (own / name).exists())
