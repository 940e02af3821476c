"""The words for what the queue holds and what was done to it, the same in every host (contract §2.5)."""

from __future__ import annotations

from lessonbook.core.pending import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def row_text(c: Candidate) -> str:
    """Return one row of the list: ``<id>  <files>  <subject>``, and why it is stale where it is."""
    parts = [f"{c.id}  {', '.join(c.files)}  {c.subject}"]
    if c.stale:
        parts.append(f"(stale: {c.stale})")
    if c.over:
        parts.append(f"(over: {c.over:,} characters)")
    if c.includes:
        parts.append(f"(includes {', '.join(c.includes)}; accepting it drops them)")
    return " ".join(parts).replace("\n", "\\n")


_DONE = {"accept": "accepted", "reject": "rejected", "edit": "edited", "split": "split"}


def done_text(cmd: str, told: dict[str, Any]) -> str:
    """Return what ``accept``, ``reject``, ``edit`` or ``split`` (``cmd``) did, from its result."""
    text = f"{_DONE[cmd]} {told['id']}"
    if cmd == "edit":
        return text + _edited(told)
    if cmd == "split":
        return f"{text} into {', '.join(part['id'] for part in told['parts'])}"
    if told.get("commit"):
        text += f" as {told['commit']}"
    elif cmd == "accept":
        text += "; HEAD already held it"
    if told.get("rest"):
        text += f"; still waiting under that id: {', '.join(told['rest'])}"
    return text + _others(told)


def many_text(told: dict[str, Any]) -> str:
    """Return what accepting many did: a line per candidate, then what became of the others."""
    lines = [done_text("accept", row) for row in told["accepted"]]
    lines += [f"not accepted {row['id']}: {row['error']}" for row in told["refused"]]
    others = _others(told).removeprefix("; ")
    return "\n".join([*lines, *([others] if others else [])]) or "nothing to accept"


def _others(told: dict[str, Any]) -> str:
    text = f"; moved {', '.join(told['moved'])} onto it" if told.get("moved") else ""
    return f"{text}; {', '.join(told['stale'])} no longer apply: reject them" if told.get("stale") else text


def _edited(told: dict[str, Any]) -> str:
    if not told["changed"]:
        return ": it is what was proposed, so nothing changed"
    count = told["redacted"]
    secrets = f"; {count:,} secret{' was' if count == 1 else 's were'} redacted" if count else ""
    return f"; it changes {', '.join(told['files'])}{secrets}"
