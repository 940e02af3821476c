"""Keeps every call that met a defect of a tool, beside how far transcripts were read: both are kept, or neither is.

So a reading that was cut off is done again, and what an agent removed from its history meanwhile still counts. Texts
come in scrubbed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lessonbook.core.defect import Defect, DefectKind, Proof, Sighting, Told
from lessonbook.system.cursors import Cursors, cursors

_TABLES = """
CREATE TABLE IF NOT EXISTS defect (id TEXT PRIMARY KEY, kind TEXT, tool TEXT, error TEXT, proof TEXT, said TEXT,
    asked TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sighting (agent TEXT, session TEXT, place TEXT, defect TEXT, root TEXT, version TEXT,
    model TEXT, project TEXT, at REAL, PRIMARY KEY (agent, session, place)) WITHOUT ROWID;
"""


class Sightings:
    """What is known of defects. Made by ``sightings``."""

    def __init__(self, kept: Cursors) -> None:
        self.cursors = kept
        """How far transcripts were read; committed with what is kept here."""

    def told(self) -> list[Told]:
        """Return every defect that was ever met; none of a kind that only a later version of ours knows."""
        rows = self.cursors.run("SELECT id, kind, tool, error, proof, said, asked FROM defect ORDER BY id")
        return [
            Told(id, Defect(DefectKind(kind), tool, error, Proof(proof)), said, asked)
            for id, kind, tool, error, proof, said, asked in rows
            if kind in iter(DefectKind) and proof in iter(Proof)
        ]

    def all(self) -> list[Sighting]:
        """Return every call that met one."""
        columns = "defect, agent, session, place, root, version, model, project, at"
        return [Sighting(*row) for row in self.cursors.run(f"SELECT {columns} FROM sighting")]

    def tell(self, one: Told) -> None:
        """Keep a defect; one that is known keeps what was said first."""
        defect = one.defect
        values = (one.id, str(defect.kind), defect.tool, defect.error, str(defect.proof), one.said, one.asked)
        self.cursors.run("INSERT OR IGNORE INTO defect VALUES (?,?,?,?,?,?,?)", values)

    def see(self, one: Sighting) -> None:
        """Keep a call that met a defect; the same call counts once, however often it is read."""
        values = (one.agent, one.session, one.place, one.defect, one.root, one.version, one.model, one.project, one.at)
        self.cursors.run("INSERT OR REPLACE INTO sighting VALUES (?,?,?,?,?,?,?,?,?)", values)

    def forget(self, now: float, span: float) -> None:
        """Drop what was seen more than ``span`` seconds before the last that was seen, and defects not seen since.

        Counted from there and not from ``now``: a clock that is years ahead for an hour must not cost everything.
        """
        newest = "SELECT max(at) FROM sighting WHERE at <= ?"
        self.cursors.run(f"DELETE FROM sighting WHERE at < ({newest}) - ?", (now, span))
        self.cursors.run("DELETE FROM defect WHERE id NOT IN (SELECT defect FROM sighting)")


@contextmanager
def sightings(path: Path | None) -> Iterator[Sightings]:
    """Open what is kept in ``path``; raises what ``cursors`` raises. Nothing is kept before its ``commit``."""
    with cursors(path, _TABLES) as kept:
        yield Sightings(kept)
