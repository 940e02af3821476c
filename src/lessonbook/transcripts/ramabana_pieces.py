"""A Ramabana history in pieces: cut where one session's rows end and another's begin, each row read once."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import msgspec

from lessonbook.core.errors import LessonbookError
from lessonbook.core.pieces import Part, Piece
from lessonbook.core.seen import Recording
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.lines import LINE_MAX, Marked, Skip, opened, read_objects
from lessonbook.transcripts.ramabana_beside import Beside
from lessonbook.transcripts.ramabana_rows import is_turn, rows_at
from lessonbook.transcripts.ramabana_talk import AGENT, RamabanaTalk
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import text

_LOOKED_AT = 32
"""Lines after which a piece ends anyway: a session that goes on behind it is gathered from both."""


class _Row(msgspec.Struct):
    session: Any = None


def pieces(path: str, size: int) -> Iterator[Piece]:
    """Yield pieces of ``size`` bytes or a little more; none for a compressed file or one that is no longer."""
    if path.endswith(".zst"):
        return
    try:
        with opened(path) as file:
            total, start = file.seek(0, io.SEEK_END), 0
            while start + size < total and (cut := _cut(file, start + size)) is not None:
                yield Piece(start, cut)
                start = cut
            if start:
                yield Piece(start, None)
    except LessonbookError:  # whoever reads the file says so
        return


def read_piece(path: str, piece: Piece) -> Iterator[Part | ReadReport]:
    """Yield each session's part, then the report of the piece's lines."""
    tally, held = Tally(path, AGENT), dict[str, _Held]()
    beside = Beside(Path(path).parent)
    try:
        with opened(path) as file:
            marked = Marked(file, piece.start, piece.end)
            for item in read_objects(marked):
                if isinstance(item, Skip):
                    tally.skipped[item.reason] += 1
                elif is_turn(item):
                    tally.types[f"turn/{text(item.get('state'))}".rstrip("/")] += 1
                    id = text(item.get("session"))
                    one = held.get(id) or held.setdefault(id, _Held(path, id, beside))
                    one.take(item, marked.start)
                else:
                    tally.types[text(item.get("type")) or "none"] += 1
    except LessonbookError as error:
        tally.problem = str(error)
    else:
        for one in held.values():
            yield one.part()
    yield tally.report()


def gather(path: str, key: str, rows: Sequence[int]) -> Part:
    """Return the part of one session that has rows in several pieces. Raises ``StoreError``."""
    one = _Held(path, key, Beside(Path(path).parent))
    with opened(path) as file:
        for place in rows:
            for row in rows_at(file, (place,), key):
                one.take(row, place)
    return one.part()


def named(talk: RamabanaTalk, path: str, id: str) -> Session:
    """Return the session of a talk; one without an id is called as its file."""
    return talk.freeze(id or PurePath(path).name.partition(".")[0])


@dataclass(slots=True)
class _Held:
    """What a piece holds of one session."""

    path: str
    id: str
    beside: Beside
    seen: Recording = field(default_factory=Recording)
    rows: array[int] = field(default_factory=lambda: array("q"))
    copies: int = 0
    talk: RamabanaTalk | None = None

    def take(self, row: dict[str, Any], place: int) -> None:
        if self.talk is None:
            self.talk = RamabanaTalk(self.seen, self.path, self.id, self.beside)
        if not self.rows or self.rows[-1] != place:
            self.rows.append(place)
        self.copies += not self.talk.turn(row)

    def part(self) -> Part:
        session = named(self.talk, self.path, self.id) if self.talk is not None else None
        kept = session if session is not None and session.turns else None
        return Part(self.id, self.rows, self.copies, kept, self.seen.asked())


def _cut(file: BinaryIO, at: int) -> int | None:
    """Return where a session's first row begins, soon behind ``at``; else where a line does, ``None`` for nowhere."""
    file.seek(at)
    while (line := file.readline(LINE_MAX)) and not line.endswith(b"\n"):
        pass
    first = place = file.tell()
    before: object = None
    for _ in range(_LOOKED_AT):
        line = file.readline(LINE_MAX)
        if not line.endswith(b"\n"):
            break
        session = _session(line)
        if session and before and session != before:
            return place
        before, place = session, place + len(line)
    return first if line else None


def _session(line: bytes) -> str:
    try:
        return text(msgspec.json.decode(line, type=_Row).session)
    except (ValueError, RecursionError):
        return ""
