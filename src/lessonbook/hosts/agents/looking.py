"""Looks into an agent's files, for what keeps our entries from having an effect; whatever is wrong there is nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.system import config_text
from lessonbook.system.files import read_bytes


def table(path: Path, form: str) -> dict[str, Any]:
    """Return what the file holds; nothing where it is not there or cannot be read."""
    try:
        found = config_text.parsed(form, read_bytes(path) or b"")
    except LessonbookError:
        return {}
    return found if isinstance(found, dict) else {}


def inside(value: Any, *keys: str) -> Any:
    """Return what stands at ``keys``; ``None`` where nothing does."""
    return config_text.lookup(value, keys)
