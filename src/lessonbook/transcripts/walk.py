"""From files and folders to sessions in order of time, with one report for every file met."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lessonbook.core.errors import LessonbookError, reason
from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.aliens import name_alien, side_file
from lessonbook.transcripts.lines import HEAD_BYTES, is_compressed, opened
from lessonbook.transcripts.registry import READERS, reader_of
from lessonbook.transcripts.values import epoch

_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{10,40})"')
_OTHER_TIME = re.compile(
    rb'"(?:startTime|session_start|started_at|created|at|timestamp)"\s*:\s*"?([0-9][0-9T:.Z+-]{8,40})'
)
"""How formats name a time that do not stamp each record."""
_LEFT_OUT = frozenset((".git", "node_modules", "__pycache__", ".venv"))
_LATE = float("inf")


@dataclass(frozen=True, slots=True)
class Found:
    """One file: the reader that claims it, or the report that says why none does."""

    path: str
    reader: TranscriptReader | None
    report: ReadReport | None = None
    started: float | None = None
    ended: float | None = None


def default_roots(home: str, env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return ``(agent, path)`` for every folder or file the agents write sessions to and that is there."""
    every = ((reader.agent, root) for reader in READERS for root in reader.roots(home, dict(env)))
    # Not Path.exists, which raises where we may not look or a variable names something too long.
    return [(agent, root) for agent, root in every if os.path.exists(root)]  # noqa: PTH110


def read_paths(paths: Sequence[Path], seen: Seen | None = None) -> Iterator[Session | ReadReport]:
    """Yield the sessions of files and folders, and after each file's sessions its report.

    Files come in order of their first record (a copy after what it copies), those without any time and those that are
    no session of ours last. A sub-agent's session names the root session as its parent. Nothing in a file, and no file
    that cannot be read, raises; a path that does not exist is a report as well. ``seen`` carries what earlier calls
    read.
    """
    yield from read_found(find(paths), seen)


def read_found(found: Iterable[Found], seen: Seen | None = None) -> Iterator[Session | ReadReport]:
    """Yield what ``read_paths`` does, for files that ``find`` found."""
    known = Seen() if seen is None else seen
    yield from rooted(item for one in found for item in _read(one, known))


def rooted(items: Iterable[Session | ReadReport]) -> Iterator[Session | ReadReport]:
    """Yield the items; a sub-agent's session names the root session as its parent."""
    roots = Roots()
    for item in items:
        yield roots.placed(item) if isinstance(item, Session) else item


class Roots:
    """Which sessions belong to which, as they are met in order."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def placed(self, session: Session) -> Session:
        """Return the session; a sub-agent's names the root session as its parent."""
        if session.parent_id is None:
            return session
        root = self._parents.get(session.parent_id, session.parent_id)
        self._parents[session.id] = root
        return replace(session, parent_id=root)


def _read(one: Found, seen: Seen) -> Iterator[Session | ReadReport]:
    if one.reader is None:
        yield one.report or ReadReport(one.path, None)
    else:
        yield from one.reader.read(one.path, seen)


def find(paths: Sequence[Path]) -> list[Found]:
    """Return every file below ``paths`` once, in the order to read them; folders are searched to the bottom."""
    met: set[str] = set()
    shut: list[OSError] = []
    found = [_look(file) for path in paths for file in _files(path, met, shut)]
    found += [_problem(str(error.filename), None, _unreadable(error)) for error in shut]
    return sorted(found, key=_order)


def _order(one: Found) -> tuple[bool, float, float, str]:
    started = _LATE if one.started is None else one.started
    return one.reader is None, started, started if one.ended is None else one.ended, one.path


def _files(path: Path, met: set[str], shut: list[OSError]) -> Iterator[str]:
    if not path.is_dir():
        if _new(str(path), met):
            yield str(path)
        return
    for folder, folders, names in os.walk(path, onerror=shut.append, followlinks=True):
        if not _new(folder, met):  # a link back up, or a folder named twice
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(names):
            if _new(file := f"{folder}{os.sep}{name}", met):
                yield file


def _new(path: str, met: set[str]) -> bool:
    real = os.path.realpath(path)
    if real in met:
        return False
    met.add(real)
    return True


def _look(path: str) -> Found:
    """Judge one file by its first bytes, or by its name alone where there may be very many of its kind."""
    side = side_file(path)
    if side is not None:
        return _problem(path, *side)
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return _problem(path, None, "Not a regular file.")
        with Path(path).open("rb") as file:
            raw = file.read(HEAD_BYTES)
        reader = reader_of(path, raw)
        if reader is None:
            return _problem(path, *name_alien(path, raw))
        head, tail = _ends(path, raw)
    except FileNotFoundError:
        return _problem(path, None, "There is no such file or folder.")
    except OSError as error:
        return _problem(path, None, _unreadable(error))
    times, late = _times(head), _times(tail)
    return Found(path, reader, started=times[0] if times else None, ended=late[-1] if late else None)


def _times(data: bytes) -> list[float]:
    found = _TIME.findall(data) or _OTHER_TIME.findall(data)
    return [at for at in (_epoch(one.decode("ascii", "replace")) for one in found) if at is not None]


def _epoch(said: str) -> float | None:
    try:
        return epoch(float(said))
    except ValueError:
        return epoch(said)


def _ends(path: str, raw: bytes) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a file's text; of a compressed one only the first."""
    if is_compressed(path, raw):
        try:
            with opened(path) as stream:
                return stream.read(HEAD_BYTES), b""
        except LessonbookError:  # no library for it: its reader says so
            return b"", b""
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - HEAD_BYTES))
        return raw, file.read(HEAD_BYTES)


def _problem(path: str, agent: str | None, problem: str) -> Found:
    return Found(path, None, ReadReport(path, agent, problem=problem))


def _unreadable(error: OSError) -> str:
    return f"It cannot be read: {reason(error)}."
