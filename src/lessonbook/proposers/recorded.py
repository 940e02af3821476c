"""Lessons the agent itself recorded, or a person noted with ``#``, in several sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from lessonbook.core.session import Call, CallStatus, Session, Turn
from lessonbook.proposers.corrected import cluster
from lessonbook.proposers.draft import Draft, Lesson, by_project, draft, names_project
from lessonbook.proposers.echo import echoed
from lessonbook.proposers.incident import History, Incident, cut, where
from lessonbook.proposers.mining import Mined
from lessonbook.proposers.wording import rule, safe, sentence

RECORDED = "recorded"

_LEAST = 2
_ALIKE = 0.6
_LONGEST = 400
_TOOLS = re.compile(
    r"(?:\w+__)*(?:learn|remember|save_memory|store_memory|add_memory|create_memory|memory_add|memory_store|retain)\Z"
)
_FIELDS = ("memory", "fact", "lesson", "text", "content", "note")
_NOTE = re.compile(r"\A\s*#\s*(?![#\s])([^\n]{8,300})\s*\Z")
_NOTE_TAG = re.compile(r"<user-memory-input>\s*(.{8,300}?)\s*</user-memory-input>", re.DOTALL)


def incidents(session: Session) -> Iterator[Incident]:
    """Yield each lesson recorded in the session that was not shown to it before."""
    for turn in session.turns:
        for call in turn.calls:
            text = _recorded(call)
            if text and not _recalled(text, session, turn, call):
                yield Incident(where(session, turn, call), RECORDED, said=cut(text))
        match = _NOTE.match(turn.prompt) or _NOTE_TAG.search(turn.prompt)
        if match and not session.parent_id and not echoed(match[1], session, turn.n - 1):
            yield Incident(where(session, turn), RECORDED, said=cut(match[1]))


def drafts(found: Sequence[Incident], history: History) -> Iterator[Draft]:
    """Yield a draft for each lesson recorded in two sessions or more."""
    for group in cluster(found, _ALIKE):
        projects = by_project(group)
        general = len(projects) > 1 and not names_project(group[0].said)
        for part in [group] if general else projects:
            if history.count(part) >= _LEAST:
                yield draft(_lesson(part), part, history, general)


class Recorded(Mined):
    """Finds lessons that were recorded again and again."""

    def __init__(self) -> None:
        super().__init__(RECORDED, ((incidents, drafts),))


def _recorded(call: Call) -> str:
    if call.status is CallStatus.FAILED or call.status is CallStatus.DENIED or not _records(call.name):
        return ""
    texts = (call.args.get(name) for name in _FIELDS)
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return text if len(text) <= _LONGEST else ""


@lru_cache(maxsize=1_024)
def _records(tool: str) -> bool:
    return _TOOLS.match(tool) is not None


def _recalled(text: str, session: Session, turn: Turn, call: Call) -> bool:
    """Whether the lesson was on the screen before the agent recorded it."""
    before = turn.calls[: turn.calls.index(call)]
    earlier = tuple(one for one in session.turns if one.n < turn.n)
    shown = replace(session, turns=(*earlier, replace(turn, calls=before)))
    return echoed(text, shown, turn.n)


def _lesson(group: Sequence[Incident]) -> Lesson:
    shown = min(group, key=lambda incident: len(incident.said))
    text = rule(sentence(shown.said))
    return Lesson(RECORDED, f"{RECORDED} | {safe(shown.said, 80).casefold()}", text, text, certainty=0.8)
