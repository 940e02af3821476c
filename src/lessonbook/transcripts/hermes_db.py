"""Hermes's database: one row for each session, one for each message. Columns come and go with its versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lessonbook.core.errors import StoreError
from lessonbook.core.seen import Seen
from lessonbook.system.sqlite_rows import BROKEN, Damaged, Source, opened
from lessonbook.transcripts.hermes_talk import HermesTalk
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import text

DAMAGED_ROW = "row of a database that cannot be read"
CHANGED = "Its program wrote to it while it was read; read it again."
_SESSION = (
    *("id", "source", "model", "model_config", "parent_session_id", "started_at", "ended_at", "title", "cwd"),
    *("git_branch", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
    *("estimated_cost_usd", "actual_cost_usd"),
)
_MESSAGE = (
    *("role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp", "finish_reason"),
    *("active", "compacted"),
)


def read_database(path: str, seen: Seen, tally: Tally) -> Iterator[HermesTalk]:
    """Yield the sessions of a database, one at a time. Raises ``StoreError`` where it cannot be read as a whole."""
    try:
        with opened(Path(path)) as source:
            tables = source.tables()
            messages = [name for name in _MESSAGE if name in tables.get("messages", ())]
            for session in _sessions(source, tables.get("sessions", ()), tally):
                talk = HermesTalk(seen, path, text(session.get("id")))
                for name, value in session.items():
                    talk.fact(name, value)
                if "session_id" in tables.get("messages", ()):
                    _fill(source, messages, talk, text(session.get("id")), tally)
                yield talk
            if source.changed:
                tally.problem = CHANGED
    except BROKEN as error:
        raise StoreError(f"{path} is damaged: {error}.") from error


def _sessions(source: Source, columns: tuple[str, ...], tally: Tally) -> list[dict[str, object]]:
    """Return the rows of the sessions, without the prompts they carry, in order of time."""
    found = []
    for row in source.rows("sessions", [name for name in _SESSION if name in columns]) if columns else ():
        if isinstance(row, Damaged):
            tally.skipped[DAMAGED_ROW] += 1
        else:
            tally.types["session"] += 1
            found.append({name: value for name, value in row.items() if name != "rowid"})
    return sorted(found, key=_started)


def _started(row: dict[str, object]) -> float:
    at = row.get("started_at")
    return float(at) if isinstance(at, int | float) else 0.0


def _fill(source: Source, columns: list[str], talk: HermesTalk, session: str, tally: Tally) -> None:
    for number in source.numbers("messages", "session_id", session, ("id",)):
        row = source.row("messages", number, columns)
        if row is None:
            tally.skipped[DAMAGED_ROW] += 1
        else:
            tally.types[text(row.get("role")) or "none"] += 1
            talk.message(row)
