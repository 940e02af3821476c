"""Reads a bank of our own: another machine's, a backup, or one that was set aside because it is damaged.

Every version of its tables is read, row by row past the damage. What is made of the rows (words, vectors, entities,
facts) is left where it is: the bank that takes the lessons makes it anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lessonbook.core.care import Imported
from lessonbook.core.errors import StoreError
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory.importing.values import ReadProblem, count, epoch, finite, imported, part, texts
from lessonbook.system.sqlite_rows import MAGIC, Damaged, Source, opened

NAME = "bank.db"
_MARK, _MARK_AT = b"LBk1", 68
"""The file's application id, and where SQLite keeps it in the header."""
_SHARED = "global"
_TABLE = "lessons"
_T = TypeVar("_T", list[Any], dict[object, object])
_PLAIN = ("title", "key", "cue", "component", "evidence", "branch")


def matches(path: Path, head: bytes) -> bool:
    """Whether a file is a bank of ours, by its mark. ``head`` is how it begins."""
    return head.startswith(MAGIC) and head[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK


def read(path: Path) -> Iterator[Imported | ReadProblem]:
    """Yield every lesson of the file, the forgotten ones too, and a problem for each stretch that cannot be read.

    Never raises for what is in the file. Holds the names of all its lessons at a time, and a few hundred of them whole.
    """
    try:
        with opened(path) as source:
            yield from _lessons(source, path)
    except (sqlite3.Error, StoreError) as error:
        yield ReadProblem(str(path), f"it cannot be read ({str(error).rstrip('.')})")


def _lessons(source: Source, path: Path) -> Iterator[Imported | ReadProblem]:
    tables = source.tables()
    if _TABLE not in tables:
        yield ReadProblem(str(path), "it holds no table of lessons")
        return
    contexts = _contexts(source, tables)
    rows = (row for row in source.rows(_TABLE, tables[_TABLE]) if not isinstance(row, Damaged))
    origins = {_number(row): _origin(row) for row in rows}
    for row in source.rows(_TABLE, tables[_TABLE]):
        if isinstance(row, Damaged):
            yield ReadProblem(f"{path}, {row.where}", f"the file is damaged there ({row.said})")
            continue
        found = imported(_lesson(row, contexts.get(_number(row), ())), _origin(row))
        yield _whole(found, row, origins) if found else ReadProblem(f"{path}, row {_number(row)}", "it has no text")
    if source.changed:
        yield ReadProblem(str(path), "it was written to meanwhile; import it once more, nothing is stored twice")


def _contexts(source: Source, tables: Mapping[str, tuple[str, ...]]) -> Mapping[int, list[str]]:
    """Return the further contexts each lesson was told in; without those that lie on damage."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in source.rows("sightings", tables["sightings"]) if "sightings" in tables else ():
        if not isinstance(row, Damaged) and isinstance(row.get("lesson"), int):
            found[int(str(row["lesson"]))].append(_text(row.get("context")))
    return found


def _lesson(row: Mapping[str, object], contexts: Sequence[str]) -> Lesson:
    told = [text for text in (_text(row.get("context")), *contexts) if text]
    confidence = finite(row.get("confidence"))
    return Lesson(
        text=_text(row.get("text")),
        context="; ".join(told) or None,
        scope=Scope.GLOBAL if row.get("bank") == _SHARED else Scope.PROJECT,
        source=_text(row.get("source")) or "import",
        importance=part(row.get("importance"), 0.5) or 0.0,
        veracity=_text(row.get("veracity")) or "unknown",
        memory_type=_text(row.get("memory_type")),
        metadata=texts(_parsed(row.get("metadata"), dict)),
        tags=tuple(map(str, _parsed(row.get("tags"), list))),
        confidence=confidence,
        valid_until=epoch(row.get("valid_until")),
        **{name: _text(row.get(name)) or None for name in _PLAIN},
    )


def _whole(found: Imported, row: Mapping[str, object], origins: Mapping[int, str]) -> Imported:
    superseding = row.get("superseded_by")
    return found.but(
        bank=_text(row.get("bank")),
        created=epoch(row.get("created")),
        seen=epoch(row.get("seen")),
        recalled=count(row.get("recalled")),
        recalled_at=epoch(row.get("recalled_at")),
        superseded_by=origins.get(superseding) if isinstance(superseding, int) else None,
        invalid=epoch(row.get("invalid")),
        forgotten=epoch(row.get("forgotten")),
        pinned=bool(row.get("pinned")),
    )


def _origin(row: Mapping[str, object]) -> str:
    """Return what names the lesson for good: as our export of it does."""
    own = _text(row.get("origin"))
    return own or f"lessonbook:{_text(row.get('bank'))}:{_number(row)}:{epoch(row.get('created')) or 0.0:.6f}"


def _number(row: Mapping[str, object]) -> int:
    return int(str(row["rowid"]))


def _parsed(text: object, kind: type[_T]) -> _T:
    try:
        found = json.loads(_text(text))
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()


def _text(said: object) -> str:
    """Return a column as text: SQLite keeps any kind of value in any column."""
    if isinstance(said, bytes):
        return said.decode("utf-8", "replace")
    return "" if said is None else str(said)
