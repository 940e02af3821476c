"""What a book's HEAD holds: all that a briefing may say. Working files are never read (contract §2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lessonbook.book.content import AGENTS, DATED, expected, shown
from lessonbook.book.repository import open_book
from lessonbook.core.errors import StoreError
from lessonbook.system.gitbatch import read_objects, read_tree


@dataclass(frozen=True, slots=True)
class Head:
    """The accepted state: ``commit`` is ``None`` where there is no repository or no commit yet."""

    commit: str | None = None
    agents: str = ""
    """The text of ``AGENTS.md``; empty where there is none."""
    dated: Mapping[str, str] = field(default_factory=dict)
    """Dated files by name, newest first."""
    skills: Mapping[str, bytes] = field(default_factory=dict)
    """Every file below ``skills/`` by its path, such as ``skills/sizes/SKILL.md``."""


def read(folder: Path) -> Head:
    """Return what HEAD of the book holds, in three git processes; nothing is locked or written.

    Links, submodules and files of unexpected names are left out. Raises ``StoreError`` where git refuses the
    repository or a file of HEAD is damaged, and ``SetupError`` where there is no git.
    """
    book = open_book(folder)
    if book is None or book.head is None:
        return Head()
    tree = read_tree(book.folder, book.head)
    wanted = {path: entry.oid for path, entry in tree.items() if entry.mode.startswith("100") and expected(path)}
    found = read_objects(book.folder, wanted.values())
    unread = [shown(path) for path, oid in wanted.items() if oid not in found]
    if unread:
        raise StoreError(f"{unread[0]} of HEAD cannot be read: it is damaged or missing in {book.folder}.")
    data = {path: found[oid].data for path, oid in wanted.items()}
    dated = sorted((path for path in data if DATED.match(path)), key=_newest_first)
    return Head(
        commit=book.head,
        agents=_text(data.get(AGENTS, b"")),
        dated={path.decode(): _text(data[path]) for path in dated},
        skills={path.decode(): text for path, text in data.items() if path.startswith(b"skills/")},
    )


def _newest_first(path: bytes) -> tuple[int, bytes]:
    return -int(path[-13:-3].replace(b"-", b"")), path


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
