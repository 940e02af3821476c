"""Reads the original's bank: its SQLite files, whichever version wrote them and whoever has them open. Writes nothing.

A bank is one file: ``mnemopi.db``, which all projects share, and ``banks/<bank>/mnemopi.db`` beside it for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lessonbook.core.care import Imported
from lessonbook.core.errors import StoreError
from lessonbook.memory.importing.mnemopi_tables import MEMORIES, SHARED, TABLES, finished
from lessonbook.memory.importing.values import ReadProblem
from lessonbook.system.sqlite_rows import BROKEN, MAGIC, Damaged, Source, opened

NAME = "mnemopi.db"
_BANKS = "banks"
_CHANGED = "its program wrote to it meanwhile; import it once more, what is there already is not stored twice"
_NOT_THERE = "it has none of the tables a mnemopi bank has"


def matches(path: Path, head: bytes) -> bool:
    """Whether a file is a bank of the original: a SQLite database with its tables. ``head`` is how it begins."""
    if not head.startswith(MAGIC) or path.name == NAME:
        return path.name == NAME  # what is wrong with it, reading says
    try:
        with opened(path) as source:
            return not source.tables().keys().isdisjoint(MEMORIES)
    except (*BROKEN, StoreError):
        return False


def read(path: Path) -> Iterator[Imported | ReadProblem]:
    """Yield every memory of the file and, for a main file, of the banks beside it; a problem for what is lost.

    Never raises for what is in a file. Holds a few hundred rows at a time.
    """
    for file in (path, *_others(path)):
        try:
            yield from _file(file)
        except (*BROKEN, StoreError) as error:
            yield ReadProblem(str(file), f"it cannot be read ({_said(error)})")


def _others(path: Path) -> list[Path]:
    if path.name != NAME or _is_bank(path):
        return []
    return sorted(path.parent.glob(f"{_BANKS}/*/{NAME}"))


def _file(path: Path) -> Iterator[Imported | ReadProblem]:
    bank = path.parent.name if _is_bank(path) else SHARED
    with opened(path) as source:
        tables = source.tables()
        if tables.keys().isdisjoint(MEMORIES):
            yield ReadProblem(str(path), _NOT_THERE)
        memories = [name for name in MEMORIES if name in tables]
        for name in filter(tables.__contains__, TABLES):
            yield from _table(source, path, bank, name, tables[name], memories)
        if source.changed:
            yield ReadProblem(str(path), _CHANGED)


def _table(
    source: Source, path: Path, bank: str, table: str, columns: tuple[str, ...], memories: list[str]
) -> Iterator[Imported | ReadProblem]:
    @lru_cache(maxsize=1024)
    def known(id: str) -> bool:
        return any(source.has(name, id) for name in memories)

    for row in source.rows(table, columns):
        if isinstance(row, Damaged):
            yield ReadProblem(f"{path}, {table} {row.where}", f"the file is damaged there ({row.said})")
            continue
        draft = TABLES[table](row, bank)
        where = f"{path}, {table} row {row['rowid']}"
        found = finished(draft, row, table, bank, known)
        if found is None:
            yield ReadProblem(where, "it has no text")
            continue
        yield found
        if draft.lost:
            yield ReadProblem(where, f"{draft.lost} cannot be read; its text was")


def _said(error: Exception) -> str:
    return "it is damaged" if isinstance(error, UnicodeError) else str(error).rstrip(".")


def _is_bank(path: Path) -> bool:
    return path.absolute().parent.parent.name == _BANKS
