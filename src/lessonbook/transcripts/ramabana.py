"""Ramabana: one history file for all sessions, a row for each finished turn; long results and facts lie beside it.

Sessions are mixed in the file, so it is read twice: once for where each session's rows are, then session by session.
In pieces (``ramabana_pieces``) it is read once, and what of a session stands in several is read again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from lessonbook.core.cursor import Resume
from lessonbook.core.errors import LessonbookError
from lessonbook.core.pieces import Part, Piece
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts import ramabana_pieces
from lessonbook.transcripts.documents import head_keys
from lessonbook.transcripts.lines import Marked, Skip, head_objects, opened, read_objects
from lessonbook.transcripts.ramabana_beside import Beside
from lessonbook.transcripts.ramabana_rows import is_turn, rows_at
from lessonbook.transcripts.ramabana_talk import AGENT, COPY, RamabanaTalk
from lessonbook.transcripts.reports import Tally
from lessonbook.transcripts.values import text


class RamabanaReader:
    """Reads ``~/.config/ramabana/*-history.jsonl``."""

    agent = AGENT

    def matches(self, path: str, head: bytes) -> bool:
        """Whether the file looks like a history of turns."""
        return any(map(is_turn, head_objects(head))) or _begins_turn(head)

    def roots(self, home: str, env: dict[str, str]) -> Sequence[str]:
        """Return its configuration folder, under ``XDG_CONFIG_HOME`` where set."""
        return [f"{env.get('XDG_CONFIG_HOME') or f'{home}/.config'}/ramabana"]

    def read(self, path: str, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield the sessions of the file, then one report. Never raises for what is in it.

        With ``seen``, turns another file already gave are left out and counted.
        """
        return self.resume(path, Resume(), seen)

    def resume(self, path: str, at: Resume, seen: Seen | None = None) -> Iterator[Session | ReadReport]:
        """Yield what ``read`` does, for the rows from ``at`` on."""
        tally = Tally(path, AGENT)
        known = seen if seen is not None else Seen()
        beside = Beside(Path(path).parent)
        turns = dict(at.turns)
        try:
            with opened(path) as file:
                marked = Marked(file, at.offset)
                for id, places in _survey(marked, tally).items():
                    talk = RamabanaTalk(known, path, id, beside)
                    for row in rows_at(file, places, id):
                        tally.skipped[COPY] += not talk.turn(row)
                    session = ramabana_pieces.named(talk, path, id)
                    if session.turns:
                        unended = sum(place >= marked.whole for place in places)  # read again once its line has ended
                        turns[session.id] = turns.get(session.id, 0) + len(session.turns) - unended
                        yield tally.add(session)
                tally.resume = Resume(marked.whole, turns)
        except LessonbookError as error:
            tally.problem = str(error)
        yield tally.report()

    def pieces(self, path: str, size: int) -> Iterator[Piece]:
        """Yield pieces of about ``size`` bytes, cut between sessions where it can be."""
        return ramabana_pieces.pieces(path, size)

    def read_piece(self, path: str, piece: Piece) -> Iterator[Part | ReadReport]:
        """Yield what each session has in the piece, then one report."""
        return ramabana_pieces.read_piece(path, piece)

    def gather(self, path: str, key: str, rows: Sequence[int]) -> Part:
        """Return what one session has at ``rows``. Raises ``StoreError``."""
        return ramabana_pieces.gather(path, key, rows)


def _begins_turn(head: bytes) -> bool:
    """Whether a row that is longer than what is looked at of a file begins like a turn."""
    keys = head_keys(head) if b"\n" not in head else frozenset()
    return {"session", "turn_id", "state"} <= keys and keys.isdisjoint(("type", "role", "details"))


def _survey(marked: Marked, tally: Tally) -> dict[str, array[int]]:
    """Return where each session's rows begin, sessions in the order of their first row; what is skipped is counted."""
    places: dict[str, array[int]] = {}
    for item in read_objects(marked):
        if isinstance(item, Skip):
            tally.skipped[item.reason] += 1
        elif is_turn(item):
            tally.types[f"turn/{text(item.get('state'))}".rstrip("/")] += 1
            found = places.setdefault(text(item.get("session")), array("q"))
            if not found or found[-1] != marked.start:
                found.append(marked.start)
        else:
            tally.types[text(item.get("type")) or "none"] += 1
    return places
