"""The words for what the queue holds and what was done to it, the same in every host (contract §2.5)."""

from __future__ import annotations

from lessonbook.core.pending import Candidate, Twin
from lessonbook.core.screen import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lessonbook.book.remembered import Rejected
    from lessonbook.book.verifying import Verified


def row_text(c: Candidate) -> str:
    """Return one row of the list: ``<id>  <files>  <subject>``, and why it is stale where it is."""
    row = f"{c.id}  {', '.join(c.files)}  {c.subject}"
    return " ".join([row, *(f"({note})" for note in notes(c))]).replace("\n", "\\n")


def notes(c: Candidate) -> list[str]:
    """Return what a row of the list adds: why it is stale, what it includes, what to look at, what it is like."""
    found = [f"stale: {c.stale}"] if c.stale else []
    if c.over:
        found.append(f"over: {c.over:,} characters")
    if c.includes:
        found.append(f"includes {', '.join(c.includes)}; accepting it drops them")
    if c.signs:
        found.append(f"look: {', '.join(dict.fromkeys(sign.kind for sign in c.signs))}")
    if c.twins:
        more = f", and {len(c.twins) - 1} more" if len(c.twins) > 1 else ""
        found.append(f"like {twin_text(c.twins[0])}{more}")
    return found


def twin_text(twin: Twin) -> str:
    """Return which candidate a near twin is, and what became of it."""
    return f"{twin.id}, {twin.became}" + (f": {twin.reason}" if twin.reason else "")


def look_lines(c: Candidate) -> list[str]:
    """Return what to look at before deciding, a line each: signs of poisoning and near twins."""
    signs = [
        f"  Look: {sign.kind}, {sign.path} line {sign.line}: {sign.why} {sign.excerpt}".rstrip() for sign in c.signs
    ]
    return signs + [f"  Like: {twin_text(twin)}" for twin in c.twins]


def commit_line(c: Candidate) -> str:
    """Return the line that says which commit is shown, for who wants to decide on exactly that."""
    return f"  Commit: {c.commit}"


def undone_text(told: dict[str, Any]) -> str:
    """Return what ``undo`` did, from its result."""
    text = f"took back {told['id']} as {told['commit']}; {' and '.join(told['pending'])} wait for review again"
    if told["moved"]:
        text += f"; moved {', '.join(told['moved'])} onto it"
    if told["stale"]:
        text += f"; {', '.join(told['stale'])} no longer apply: reject them"
    return text.replace(f"{told['id']} wait for", f"{told['id']} waits for") if len(told["pending"]) == 1 else text


def rejected_text(row: Rejected) -> str:
    """Return one row of what was rejected: ``<id>  <files>  <subject>``, and why."""
    return f"{row.id}  {', '.join(row.files)}  {row.subject}" + (f" (rejected: {row.reason})" if row.reason else "")


def verified_text(found: Verified) -> str:
    """Return what ``verify`` found: how much came through the queue, and each change that did not."""
    text = f"{_count(found.accepted, 'change')} on HEAD came through the queue"
    if found.by_originals:
        text += f", {found.by_originals} by the originals, going by the subject"
    if not found.outside:
        return f"{text}; none went round it"
    rows = [f"{o.commit[:7]}  {_day(o.at)}  {o.author}  {', '.join(o.files)}  {o.subject}" for o in found.outside]
    return "\n".join([f"{text}; {_count(len(rows), 'change')} went round it:", *rows])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _day(at: int) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


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
    lines += [f"not accepted {short(row['id'])}: {row['error']}" for row in told["refused"]]
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
