"""opencode's database: sessions, messages and parts as rows, most of each in a column of JSON."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lessonbook.core.errors import StoreError
from lessonbook.core.seen import Seen
from lessonbook.system.sqlite_rows import BROKEN, Damaged, Source, opened
from lessonbook.transcripts.lines import Skip, read_objects
from lessonbook.transcripts.opencode_talk import OpencodeTalk
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import mapping, text

DAMAGED_ROW = "row of a database that cannot be read"
CHANGED = "Its program wrote to it while it was read; read it again."
_WANTED = ("id", "parent_id", "directory", "title", "version", "revert", "time_created")


def read_database(path: str, seen: Seen, tally: Tally) -> Iterator[OpencodeTalk]:
    """Yield the sessions of a database, one at a time. Raises ``StoreError`` where it cannot be read as a whole."""
    try:
        with opened(Path(path)) as source:
            tables = source.tables()
            for session in _sessions(source, tables, tally):
                talk = OpencodeTalk(seen, path, text(session.get("id")))
                talk.info(session)
                _fill(source, tables, text(session.get("id")), talk, tally)
                yield talk
            if source.changed:
                tally.problem = CHANGED
    except BROKEN as error:
        raise StoreError(f"{path} is damaged: {error}.") from error


def _sessions(source: Source, tables: dict[str, tuple[str, ...]], tally: Tally) -> list[dict[str, Any]]:
    """Return the rows of the sessions in order of time; where there is no such table, the ids messages name."""
    if "session" not in tables:
        rows = list(source.rows("message", ("session_id",))) if "session_id" in tables.get("message", ()) else []
        ids = dict.fromkeys(row["session_id"] for row in rows if not isinstance(row, Damaged))
        return [{"id": id} for id in ids if isinstance(id, str)]
    found = []
    for row in source.rows("session", [name for name in _WANTED if name in tables["session"]]):
        if isinstance(row, Damaged):
            tally.skipped[DAMAGED_ROW] += 1
        else:
            tally.types["session"] += 1
            found.append({**row, "revert": _object(row.get("revert"), None)})
    return sorted(found, key=lambda row: row["time_created"] if isinstance(row.get("time_created"), int) else 0)


def _fill(source: Source, tables: dict[str, tuple[str, ...]], session: str, talk: OpencodeTalk, tally: Tally) -> None:
    if not {"id", "session_id", "data"} <= set(tables.get("message", ())):
        return
    for message in _rows(source, "message", "session_id", session, tables, tally):
        parts = _rows(source, "part", "message_id", text(message.get("id")), tables, tally)
        tally.types[text(message.get("role")) or "none"] += 1
        talk.message(message, parts)


def _rows(
    source: Source, table: str, column: str, value: str, tables: dict[str, tuple[str, ...]], tally: Tally
) -> list[dict[str, Any]]:
    """Return the objects of the rows that name ``value``, in order of time; a damaged one costs only itself."""
    if column not in tables.get(table, ()):
        return []
    order = [name for name in ("time_created", "id") if name in tables[table]]
    found = []
    for number in source.numbers(table, column, value, order):
        row = source.row(table, number, ("id", "data"))
        if row is None:
            tally.skipped[DAMAGED_ROW] += 1
            continue
        item = _object(row.get("data"), tally)
        if table == "part":
            tally.types[f"part/{text(item.get('type'))}"] += 1
        found.append({**item, "id": text(row.get("id")) or text(item.get("id"))})
    return found


def _object(data: object, tally: Tally | None) -> dict[str, Any]:
    """Return the object of a JSON column; what is wrong with it is counted where there is a tally."""
    if not isinstance(data, str) or not data:
        return {}
    items = list(read_objects(io.BytesIO(data.replace("\n", " ").encode("utf-8", "replace"))))
    if tally is not None:
        tally.skipped.update(item.reason for item in items if isinstance(item, Skip))
    return mapping(next((item for item in items if isinstance(item, dict)), None))
