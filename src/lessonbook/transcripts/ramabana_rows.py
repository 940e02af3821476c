"""Which lines of a Ramabana history are turns, and the turns that stand at known places."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from lessonbook.transcripts.lines import LINE_MAX, read_objects
from lessonbook.transcripts.values import text


def is_turn(row: dict[str, Any]) -> bool:
    """Whether the row is a finished turn."""
    if not isinstance(row.get("prompt"), str) or "type" in row or "role" in row:
        return False
    return isinstance(row.get("activity"), list) or {"session", "turn_id", "state"} <= row.keys()


def rows_at(file: BinaryIO, places: Sequence[int], session: str) -> Iterator[dict[str, Any]]:
    """Yield the turns of one session on the lines that begin at ``places``."""
    for place in places:
        file.seek(place)
        for item in read_objects(io.BytesIO(file.readline(LINE_MAX + 1))):
            if isinstance(item, dict) and is_turn(item) and text(item.get("session")) == session:
                yield item
