"""What hooks note of a session in the state folder: the repository at its start, its end, and our own answers.

One folder per session, ``sessions/<agent>/<session>/``, with ``start.json`` (contract §4), ``end.json`` (for the batch)
and ``asked.json`` (what we said in it, so that nothing is said twice). Nothing a session said is in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import dumps, loads
from pathlib import Path

from lessonbook.core.errors import LessonbookError
from lessonbook.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = "sessions"
START, END, ASKED = "start.json", "end.json", "asked.json"
KEPT_DAYS = 90
"""How long the notes of a session stay."""
_MOST = 200
"""How many old folders one end of a session clears away at most."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", re.ASCII)


def session_folder(state: Path, agent: str, session: str) -> Path:
    """Return the folder of one session; an id that is no plain file name goes by its digest."""
    if not _PLAIN.fullmatch(session):
        from hashlib import sha256

        session = f"x{sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    return state / FOLDER / agent / session


def read(folder: Path, name: str) -> dict[str, Any]:
    """Return one note of a session; nothing where it is not there or is damaged."""
    try:
        found = loads(files.read_bytes(folder / name) or b"{}")
    except (LessonbookError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_start(folder: Path) -> list[dict[str, Any]]:
    """Return what was noted of each repository before a session's first turn; nothing where that is not there."""
    try:
        found = loads(files.read_bytes(folder / START) or b"[]")
    except (LessonbookError, ValueError, RecursionError):
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def write(folder: Path, name: str, value: object) -> bool:
    """Write one note whole; say whether it was written. Never raises: no session may fail by it."""
    try:
        files.write_atomic(
            folder / name, f"{dumps(value, ensure_ascii=False)}\n".encode("utf-8", "replace"), new_mode=0o600
        )
    except LessonbookError:
        return False
    return True


def remember(folder: Path, name: str, value: object) -> None:
    """Note one thing among what was said in a session, where it is not noted so."""
    asked = read(folder, ASKED)
    if asked.get(name) != value:
        write(folder, ASKED, {**asked, name: value})


def note_start(folder: Path, cwd: Path) -> None:
    """Note the repository of ``cwd`` as it is before the first turn; nothing outside one, or where it is noted."""
    if (folder / START).exists():
        return
    from lessonbook.system.repository_state import repository_state

    found = repository_state(cwd)
    if found is not None:
        write(folder, START, [found])


def note_end(folder: Path, agent: str, session: str, data: Mapping[str, Any], now: float) -> None:
    """Note that a session ended, with its transcript where that file is there."""
    transcript = data.get("transcript")
    there = isinstance(transcript, str) and "\0" not in transcript and Path(transcript).is_file()
    if isinstance(transcript, str) and transcript and not there:
        return  # an agent's own command, such as a list of servers, that only looked like a session
    row = {"agent": agent, "session": session, "at": int(now)}
    row |= {"cwd": data["cwd"]} if isinstance(data.get("cwd"), str) else {}
    row |= {"transcript": transcript} if there else {}
    write(folder, END, row)


def ended(state: Path) -> Iterator[dict[str, Any]]:
    """Yield what was noted of every session that ended, in no order: for the batch that reads them."""
    try:
        folders = list((state / FOLDER).glob(f"*/*/{END}"))
    except OSError:
        return
    for path in folders:
        if row := read(path.parent, END):
            yield row


def clear_old(state: Path, now: float) -> None:
    """Remove the notes of sessions that began long ago. Never raises."""
    before, left = now - KEPT_DAYS * 86_400, _MOST
    try:
        for folder in (state / FOLDER).glob("*/*"):
            if left and folder.stat().st_mtime < before:
                left -= 1
                for path in list(folder.iterdir()):
                    files.remove(path, up_to=state / FOLDER)
    except (OSError, LessonbookError):
        return
