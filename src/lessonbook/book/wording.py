"""The words for what the queue holds and what was done to it, the same in every host (contract §2.5)."""

from __future__ import annotations

from typing import Any

from lessonbook.core.candidate import Candidate


def row_text(c: Candidate) -> str:
    """Return one row of the list: ``<id>  <files>  <subject>``, and why it is stale where it is."""
    parts = [f"{c.id}  {', '.join(c.files)}  {c.subject}"]
    if c.stale:
        parts.append(f"(stale: {c.stale})")
    if c.includes:
        parts.append(f"(includes {', '.join(c.includes)}; accepting it drops them)")
    return " ".join(parts).replace("\n", "\\n")


def done_text(cmd: str, told: dict[str, Any]) -> str:
    """Return what ``accept`` or ``reject`` (``cmd``) did, from its result."""
    text = f"{cmd}ed {told['id']}"
    if told.get("commit"):
        text += f" as {told['commit']}"
    elif cmd == "accept":
        text += "; HEAD already held it"
    if told.get("moved"):
        text += f"; moved {', '.join(told['moved'])} onto it"
    if told.get("stale"):
        text += f"; {', '.join(told['stale'])} no longer apply: reject them"
    return text
