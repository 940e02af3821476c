"""Rejects a candidate and remembers why (``remembered`` says how), and puts one back in the queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lessonbook.book import queue, recording
from lessonbook.book.recording import REASON_MAX

__all__ = ["REASON_MAX", "reject", "unreject"]


def reject(folder: Path, id: str, now: int, reason: str | None = None, commit: str | None = None) -> dict[str, Any]:
    """Drop the candidate and remember it with the reason, cleaned and without secrets: ``{ok, id}``.

    ``{ok, id, reason}`` where a reason is kept, as it is kept. ``commit`` is as for ``queue.accept``. Never raises:
    ``{ok: False, id, error}``.
    """
    return queue.reject(folder, id, now, reason, commit)


def unreject(folder: Path, id: str) -> dict[str, Any]:
    """Put a rejected candidate back in the queue under its id: ``{ok, id}``; never raises."""
    return queue.told(folder, id, recording.unreject, lock=True)
