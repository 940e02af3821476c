"""All sessions of some files with what is noted of them, in order of the files, wherever the files were read.

What ``mine`` returns of a file holds where no file before it had the same records: then nothing in it is a copy.
Where one had, the file is read again here, with all that was met before. So the result is that of reading one file
after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lessonbook.actions.noting import Mined, Noted, Noter, PartNoted, Unit, Work, mine
from lessonbook.core.ports import DividedReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport
from lessonbook.system.cores import Runner
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.walk import Found

PIECE = 16_000_000
"""How many bytes a piece of a large file has."""
_BATCH = 4_000_000
_BATCH_MOST = 64
"""How many bytes, and how many files, are given to another process at a time where files are small."""
COPY = "copy of a record already read"


@dataclass(slots=True)
class Noting:
    """Notes what ``noters`` ask for of every session in some files that ``find`` found."""

    runner: Runner
    noters: tuple[Noter, ...]
    seen: Seen = field(default_factory=Seen)
    piece: int = PIECE

    def noted(self, files: Iterable[Found]) -> Iterator[Iterator[Noted | ReadReport]]:
        """Yield each file's sessions and its report, in order of the files."""
        does = partial(mine, seen=self.seen) if self.runner.here else mine
        pieces: list[Mined] = []
        for found in self.runner.map(does, self._works(files)):
            for one in found:
                if one.unit.piece is None:
                    yield iter(self._whole(one))
                    continue
                pieces.append(one)
                if one.unit.piece.end is None:
                    yield self._joined(pieces)
                    pieces = []

    def _works(self, files: Iterable[Found]) -> Iterator[Work]:
        """What there is to do, in order: small files together, pieces of large ones each by itself."""
        batch: list[Unit] = []
        for unit in (unit for one in files for unit in _units(one, self.piece)):
            alone = unit.piece is not None or self.runner.here
            if batch and (alone or len(batch) >= _BATCH_MOST or sum(one.size for one in batch) >= _BATCH):
                yield Work(tuple(batch), self.noters)
                batch = []
            if alone:
                yield Work((unit,), self.noters)
            else:
                batch.append(unit)
        if batch:
            yield Work(tuple(batch), self.noters)

    def _whole(self, one: Mined) -> Iterable[Noted | ReadReport]:
        """The items of a file that was read whole; read again here where it has what other files had, too."""
        if one.missed or not self.seen.knows_none_of(one.asked):
            one = self._again(one.unit)
        self.seen.remember(one.remembered)
        return (item for item in one.items if not isinstance(item, PartNoted))

    def _again(self, unit: Unit) -> Mined:
        return mine(Work((Unit(unit.path, unit.agent, unit.size),), self.noters), self.seen)[0]

    def _joined(self, pieces: Sequence[Mined]) -> Iterator[Noted | ReadReport]:
        """The sessions of a file from its pieces, in order of their first lines, and one report."""
        parts = self._completed(pieces)
        met: set[bytes] = set()
        apart = parts is not None
        for one in parts or ():
            apart = apart and met.isdisjoint(one.part.asked)
            met |= one.part.asked
        if parts is None or not apart or not self.seen.knows_none_of(met):
            yield from self._whole(self._again(pieces[0].unit))
            return
        self.seen.remember(met)
        yield from (one.noted for one in parts if one.noted is not None)
        yield _report(pieces, parts)

    def _completed(self, pieces: Sequence[Mined]) -> list[PartNoted] | None:
        """Each session's one part, gathered where it has lines in several pieces; ``None`` where any was not read."""
        by_key: dict[str, list[PartNoted]] = {}
        for piece in pieces:
            for item in piece.items:
                if isinstance(item, PartNoted):
                    by_key.setdefault(item.part.key, []).append(item)
        unit = pieces[0].unit
        rows = {key: [row for one in parts for row in one.part.rows] for key, parts in by_key.items()}
        split = [Unit(unit.path, unit.agent, unit.size, key=key, rows=rows[key]) for key in rows if by_key[key][1:]]
        gathered = [found[0] for found in self.runner.map(mine, [Work((one,), self.noters) for one in split])]
        if any(one.missed or _problem(one) for one in (*pieces, *gathered)):
            return None
        for one in gathered:
            by_key[one.unit.key or ""] = [item for item in one.items if isinstance(item, PartNoted)]
        return [parts[0] for parts in by_key.values()]


def _units(one: Found, most: int) -> Iterator[Unit]:
    """The file, or its pieces where it is large and can be divided."""
    if one.reader is None:
        return
    try:
        size = Path(one.path).stat().st_size
    except OSError:  # gone meanwhile: its reader says so
        size = 0
    agent, divided = one.reader.agent, False
    if size > most and isinstance(one.reader, DividedReader):
        for piece in one.reader.pieces(one.path, most):
            divided = True
            yield Unit(one.path, agent, size, piece)
    if not divided:
        yield Unit(one.path, agent, size)


def _problem(one: Mined) -> bool:
    return any(isinstance(item, ReadReport) and item.problem for item in one.items)


def _report(pieces: Sequence[Mined], parts: Sequence[PartNoted]) -> ReadReport:
    tally = Tally(pieces[0].unit.path, pieces[0].unit.agent)
    for report in (item for piece in pieces for item in piece.items if isinstance(item, ReadReport)):
        tally.skipped.update(report.skipped)
        tally.types.update(report.record_types)
    for one in parts:
        tally.skipped[COPY] += one.part.copies
        if one.noted is not None:
            tally.sessions += 1
            tally.turns += one.noted.turns
            tally.statuses.update(one.noted.statuses)
    return tally.report()
