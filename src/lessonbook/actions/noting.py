"""What is noted of a session, file by file: the one thing that is done here, on every core and on a cluster alike.

``mine`` takes plain values and returns plain values; it depends on nothing but the files, so where and when it is done
makes no difference. What depends on the order of files (copies of records, who is whose sub-agent) is for
``actions.noted``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from lessonbook.core.briefing import CLOSING, OPENING, REMINDER, without_briefings
from lessonbook.core.errors import StoreError
from lessonbook.core.pieces import Part, Piece
from lessonbook.core.ports import DividedReader, Proposer, TranscriptReader
from lessonbook.core.seen import Recording, Seen
from lessonbook.core.session import CallStatus, ReadReport, Session
from lessonbook.core.tidy import RECALL_CLOSING, RECALL_OPENING
from lessonbook.proposers.means import Means
from lessonbook.proposers.registry import PROPOSERS
from lessonbook.transcripts.registry import READERS

Noter = Callable[[Session], Any]
"""Returns what is to be kept of a session: pure, small, and such that it can be sent to another process."""
_OURS = ((OPENING, CLOSING), (REMINDER, CLOSING), (RECALL_OPENING, RECALL_CLOSING))
"""The first and last lines of what hooks put into sessions."""
REPLAYS = "/lessonbook/nights/work/"
"""What stands in the folder of every session that was a replay of the night's."""


@dataclass(frozen=True, slots=True)
class Noted:
    """One session without its turns, how its calls ended, and what each noter returned of it."""

    session: Session
    turns: int
    statuses: Counter[CallStatus]
    notes: tuple[Any, ...]
    """Empty for a replay of the night's, which is nobody's session."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A file, or a piece of one, or the rows that one session has in several pieces."""

    path: str
    agent: str
    size: int
    """How long the file was when it was found: who sees a shorter one sees another file."""
    piece: Piece | None = None
    key: str | None = None
    rows: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """What ``mine`` is given: some units, and what is noted of each session in them."""

    units: tuple[Unit, ...]
    noters: tuple[Noter, ...]


@dataclass(frozen=True, slots=True)
class PartNoted:
    """What a piece has of one session, ``part`` without the session."""

    part: Part
    noted: Noted | None


@dataclass(frozen=True, slots=True)
class Mined:
    """What one unit came to."""

    unit: Unit
    items: tuple[Noted | PartNoted | ReadReport, ...] = ()
    asked: frozenset[bytes] = frozenset()
    remembered: frozenset[bytes] = frozenset()
    """What of ``Seen`` the reading asked for, and what it put there."""
    missed: bool = False
    """Whether the file could not be seen from where this was to be done."""


def mine(work: Work, seen: Seen | None = None) -> list[Mined]:
    """Read the units and note what is asked for. Whole files are read with ``seen``, where it is given."""
    return [_mined(unit, work.noters, seen) for unit in work.units]


def _mined(unit: Unit, noters: Sequence[Noter], seen: Seen | None) -> Mined:
    if seen is None and not _sees(unit):
        return Mined(unit, missed=True)
    reader = _readers()[unit.agent]
    if unit.key is not None or unit.piece is not None:
        assert isinstance(reader, DividedReader)
        return Mined(unit, tuple(_parts(unit, reader, noters)))
    recording = Recording()
    items = reader.read(unit.path, recording if seen is None else seen)
    noted = tuple(item if isinstance(item, ReadReport) else note(item, noters) for item in items)
    return Mined(unit, noted, recording.asked(), recording.remembered())


def _parts(unit: Unit, reader: DividedReader, noters: Sequence[Noter]) -> Iterator[PartNoted | ReadReport]:
    if unit.key is not None:
        try:
            found: Iterator[Part | ReadReport] = iter([reader.gather(unit.path, unit.key, unit.rows)])
        except StoreError as error:
            found = iter([ReadReport(unit.path, unit.agent, problem=str(error))])
    else:
        assert unit.piece is not None
        found = reader.read_piece(unit.path, unit.piece)
    for one in found:
        if isinstance(one, ReadReport):
            yield one
        else:
            noted = note(one.session, noters) if one.session is not None else None
            yield PartNoted(replace(one, session=None), noted)


def note(session: Session, noters: Sequence[Noter]) -> Noted:
    """Return what is noted of one session."""
    own = in_their_own_words(session)
    notes = () if is_replay(session) else tuple(noter(own) for noter in noters)
    statuses = Counter(call.status for turn in session.turns for call in turn.calls)
    return Noted(replace(session, turns=()), len(session.turns), statuses, notes)


def is_replay(session: Session) -> bool:
    """Whether it is nobody's session: a request that the night ran once more."""
    return REPLAYS in (session.cwd or "")


def in_their_own_words(session: Session) -> Session:
    """Return the session without the texts of ours that its prompts quote: nobody typed those."""
    said = (text for turn in session.turns for text in (turn.prompt, *turn.steered))
    if not any(opening in text for text in said for opening, _ in _OURS):
        return session
    turns = (
        replace(turn, prompt=_typed(turn.prompt), steered=tuple(filter(None, map(_typed, turn.steered))))
        for turn in session.turns
    )
    return replace(session, turns=tuple(turns))


def _typed(prompt: str) -> str:
    for opening, closing in _OURS:
        prompt = without_briefings(prompt, opening, closing)
    return prompt.strip()


def _sees(unit: Unit) -> bool:
    try:
        return Path(unit.path).stat().st_size >= unit.size
    except OSError:
        return False


def proposers_note(names: tuple[str, ...], session: Session) -> list[Any]:
    """Return what each of the proposers named notes of a session."""
    return [proposer.note(session) for proposer in _proposers(names)]


@cache
def _proposers(names: tuple[str, ...]) -> list[Proposer]:
    return [PROPOSERS[name](Means()) for name in names]


@cache
def _readers() -> dict[str, TranscriptReader]:
    return {reader.agent: reader for reader in READERS}
