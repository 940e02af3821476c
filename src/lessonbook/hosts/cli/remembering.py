"""Opens the memory of the folder a command was called in, with advice where none is on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time

from lessonbook.core.errors import SetupError
from lessonbook.core.ports import Delivering, Memory
from lessonbook.hosts.cli.here import folder, setup
from lessonbook.system import background

NO_MEMORY = "No memory is on; `lessonbook config set memory.backend mnemopi` keeps lessons in one file on this machine."


@contextmanager
def opened(cwd: Path | None, *, delivers: bool = True) -> Iterator[Memory]:
    """Give the project's memory and close it afterwards. Raises ``SetupError`` with advice where none is on.

    What it has to deliver to a server is delivered when this command has ended, by another, unless not ``delivers``.
    """
    from lessonbook.memory.registry import open_memory
    from lessonbook.system.projects import identify

    _, settings = setup()
    if settings.memory_backend == "off":
        raise SetupError(NO_MEMORY)
    here = folder(cwd)
    memory = open_memory(settings, identify(here), time, here)
    if isinstance(memory, Delivering):
        memory.delivery.delivers_itself = False
    try:
        yield memory
    finally:
        try:
            if delivers and isinstance(memory, Delivering) and memory.delivery.waiting():
                background.start(background.DELIVER)
        finally:
            memory.close()


@contextmanager
def opened_for(cwd: Path | None, action: str, id: str = "ID") -> Iterator[Memory]:
    """Give the project's memory where it offers an action of ``lessonbook memory``; ``id`` is the lesson meant.

    Raises ``SetupError``, with what to do instead, where it does not.
    """
    from lessonbook.memory.offers import instead

    with opened(cwd) as memory:
        said = instead(memory.name, action)
        if said is not None:
            settings = setup()[1]
            names = {"place": getattr(memory, "place", ""), "schema": f"lessonbook_{settings.postgres_team}", "id": id}
            raise SetupError(said.format(**names))
        yield memory
