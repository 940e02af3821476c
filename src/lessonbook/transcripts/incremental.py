"""Reads what is new since the last time: files that changed, and in them the turns that were not told or have grown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lessonbook.core.cursor import Change, Resume
from lessonbook.core.errors import StoreError
from lessonbook.core.ports import ResumableReader, TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session, Turn
from lessonbook.system.cursors import Cursors
from lessonbook.transcripts.walk import Found, rooted

UNCHANGED = "file that has not changed"
TOLD = "turn told before"


def new_found(found: Iterable[Found], cursors: Cursors, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
    """Yield what ``read_found`` does, but only the turns that are new, or have grown since they were told.

    A turn keeps its number in its session. The caller commits ``cursors`` once it has made use of what it got; without
    that, the next reading tells it all again. A copy of a turn in another file is known by its time and its words.
    """
    known = Seen() if seen is None else seen
    yield from rooted(item for one in found for item in _new(one, cursors, known))


def _new(one: Found, cursors: Cursors, seen: Seen) -> Iterator[Session | ReadReport]:
    if one.reader is None:
        yield one.report or ReadReport(one.path, None)
        return
    path = Path(one.path)
    try:
        change, resume = cursors.look(path)
        mark = cursors.mark_of(path)
    except StoreError as error:
        yield ReadReport(one.path, one.reader.agent, problem=str(error))
        return
    if change is Change.SAME:
        yield ReadReport(one.path, one.reader.agent, skipped={UNCHANGED: 1})
        return
    told = 0
    for item in _items(one.reader, one.path, resume, seen):
        if isinstance(item, ReadReport):
            if item.problem is None:
                cursors.note(path, item.resume, mark)
            yield replace(item, skipped={**item.skipped, **({TOLD: told} if told else {})})
            continue
        before = resume.turns.get(item.id, 0) if resume is not None else 0
        turns = [replace(turn, n=turn.n + before) for turn in item.turns]
        new = tuple(turn for turn in turns if cursors.tell(_key(item, turn), _look(turn)))
        told += len(turns) - len(new)
        if new:
            yield replace(item, turns=new)


def _items(reader: TranscriptReader, path: str, resume: Resume | None, seen: Seen) -> Iterator[Session | ReadReport]:
    if resume is not None and isinstance(reader, ResumableReader):
        return reader.resume(path, resume, seen)
    return reader.read(path, seen)


def _key(session: Session, turn: Turn) -> str:
    """What tells a turn from every other; a copy of it in a resumed or forked session is the same turn."""
    whose = session.id if turn.started is None else ""
    n = turn.n if turn.started is None else 0
    return f"{session.agent}\0{whose}\0{n}\0{turn.started}\0{turn.prompt}"


def _look(turn: Turn) -> str:
    """What of a turn makes it worth telling again: all but the moment it ended, which any later record may move."""
    calls = "\0".join(f"{call.id} {call.status}" for call in turn.calls)
    return f"{turn.state}\0{turn.reply}\0{calls}\0{turn.steered}\0{turn.usage}"
