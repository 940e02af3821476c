"""The files lessons can be read from. A new kind is one module with ``matches`` and ``read``, and one line here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from lessonbook.core.errors import InputError, StoreError, reason
from lessonbook.core.screen import quoted
from lessonbook.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from lessonbook.core.care import Imported
    from lessonbook.memory.importing.values import ReadProblem

    class Reader(Protocol):
        """What the module of a kind has. ``head`` is the first ``HEAD_BYTES`` of the file."""

        def matches(self, path: Path, head: bytes) -> bool:
            """Whether a file is of the kind."""
            ...

        def read(self, path: Path) -> Iterator[Imported | ReadProblem]:
            """Yield its lessons, and a problem for whatever cannot be read. Never raises for what is in the file."""
            ...


HEAD_BYTES = 64 * 1024
_DEEP = 6
"""Levels below a folder that are looked through: an agent's folder has its banks four below it."""


class Kind(Value):
    """One kind of file: what sentences call it, its module, and the names such files have in a folder."""

    label: str
    module: str
    names: tuple[str, ...] = ()
    inside: str = ""
    """The folder beside such a file whose files its reader reads with it."""


KINDS: dict[str, Kind] = {
    "lessonbook": Kind("an export of lessonbook", "json_lines"),
    "local": Kind("learned.md", "learned_md", ("learned.md", "learned.archive.md")),
    "mnemopi": Kind("a mnemopi bank of oh-my-pi", "mnemopi_db", ("mnemopi.db",), inside="banks"),
    "bank": Kind("a bank of lessonbook", "bank_db", ("bank.db",)),
}


def reader(kind: str) -> Reader:
    """Return the module that reads a kind of ``KINDS``. Raises ``InputError``, with the choices, for any other."""
    if kind not in KINDS:
        raise InputError(f"There is no kind {quoted(kind)} to import; there are {', '.join(KINDS)}.")
    found: Reader = import_module(f"lessonbook.memory.importing.{KINDS[kind].module}")
    return found


def kind_of(path: Path) -> str | None:
    """Return which kind a file is, by its content before its name; ``None`` where it is none. Raises ``StoreError``."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {reason(error)}.") from error
    return next((kind for kind in KINDS if reader(kind).matches(path, head)), None)


def sources(path: Path) -> list[tuple[str, Path]]:
    """Return what can be imported from a file or from everything below a folder, with its kind.

    In a folder a file is known by its name. Raises ``InputError`` where there is nothing to import, and ``StoreError``
    where a file cannot be read.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.is_dir():
        found = list(_below(path))
    elif path.is_file():
        kind = kind_of(path)
        found = [(kind, path)] if kind else []
    else:
        raise InputError(f"{path} is neither a file nor a folder.")
    if not found:
        known = ", ".join(kind.label for kind in KINDS.values())
        raise InputError(f"{path} holds nothing that can be imported; what can be is: {known}.")
    return found


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of known names below a folder; not those that another's reader reads with it."""
    names = {name: kind for kind, about in KINDS.items() for name in about.names}
    top = len(folder.parts)
    for place, folders, files in os.walk(folder):
        here = Path(place)
        mine = sorted(names.keys() & set(files))
        read_already = {KINDS[names[name]].inside for name in mine}
        folders[:] = sorted(set(folders) - read_already) if len(here.parts) - top < _DEEP else []
        yield from ((names[name], here / name) for name in mine)
