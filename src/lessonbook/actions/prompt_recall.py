"""Recalls the lessons that fit what a person just typed, for hosts that let a hook add to a prompt. Off by default."""

from __future__ import annotations

from pathlib import Path
from time import time

from lessonbook.core.briefing import MAX_CHARS
from lessonbook.core.tidy import RECALL_CLOSING, RECALL_OPENING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.system.settings import Settings

_LIMIT = 5
_SECONDS = 2
"""How long a server may take: a person waits for the prompt to go through."""
_QUERY = 2_000


def recall_for_prompt(settings: Settings, cwd: Path, prompt: str) -> str:
    """Return the lessons that fit ``prompt`` as one text within a briefing's bounds; empty where there are none.

    Raises what the memory raises.
    """
    if not (settings.recall_on_prompt and settings.learning and settings.memory_backend != "off" and prompt.strip()):
        return ""
    from lessonbook.actions.recall import as_line, recall
    from lessonbook.memory.registry import open_memory
    from lessonbook.system.projects import identify

    told = settings.hindsight
    quick = settings.but(hindsight=told.but(recall_seconds=min(told.recall_seconds, _SECONDS)))
    memory = open_memory(quick, identify(cwd), time, cwd)
    try:
        found = recall(memory, prompt[:_QUERY], _LIMIT)
    finally:
        memory.close()
    lines: list[str] = []
    left = MAX_CHARS - len(RECALL_OPENING) - len(RECALL_CLOSING) - 2
    for line in map(as_line, found):
        cost = len(line.encode("utf-8", "replace")) + line.count('"') + line.count("\\") + 2
        if cost <= left:
            left -= cost
            lines.append(line)
    return "\n".join((RECALL_OPENING, *lines, RECALL_CLOSING)) if lines else ""
