"""What nights leave in the state folder: ``nights/<night>/`` with a note and a record, work folders, and the tries.

Work folders are kept for a look, and cleaned by age; notes and records stay a year.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lessonbook.core.errors import LessonbookError
from lessonbook.core.night import Try, as_document, tries_of
from lessonbook.system import files
from lessonbook.system.clones import discard

NIGHTS, WORK, TRIES, LOCK = "nights", "work", "tried.json", "nightly.lock"
NOTE, RECORD, BEGUN = "note.md", "record.json", "begun"
_DAY = 86_400
_NOTES_DAYS = 365
_STAMP = "%Y%m%d-%H%M%S"


@dataclass(frozen=True, slots=True)
class Folder:
    """The nights of one state folder."""

    state: Path

    @property
    def top(self) -> Path:
        """Where everything about nights lies."""
        return self.state / NIGHTS

    @property
    def lock(self) -> Path:
        """The lock file of a running night."""
        return self.top / LOCK

    def work(self, night: str) -> Path:
        """The work folder of one night."""
        return self.top / WORK / night

    def tries(self) -> dict[str, Try]:
        """Return every session's tries."""
        try:
            return tries_of(json.loads(files.read_bytes(self.top / TRIES) or b"{}"))
        except (ValueError, RecursionError):
            return {}

    def keep_tries(self, tries: Mapping[str, Try]) -> None:
        """Write every session's tries, whole. Raises ``StoreError``."""
        _write(self.top / TRIES, as_document(tries))

    def begin(self, now: float) -> str:
        """Begin a night and return its name; no other has it. Call it with the lock held. Raises ``StoreError``."""
        for leftover in (*self.top.glob(".*.tmp"), *self.top.glob("*-*/.*.tmp")):  # of nights that were killed
            files.remove(leftover, up_to=self.top)
        files.make_folder(self.top / WORK)
        second = int(now)
        while (self.top / (name := _name(second))).exists():
            second += 1
        files.write_atomic(self.top / name / BEGUN, b"", new_mode=0o600)
        return name

    def end(self, night: str, note: str, record: Mapping[str, Any]) -> None:
        """Keep a night's note and record, the record last: a night with one is whole. Raises ``StoreError``."""
        files.write_atomic(self.top / night / NOTE, f"{note}\n".encode("utf-8", "replace"), new_mode=0o600)
        _write(self.top / night / RECORD, record)
        files.remove(self.top / night / BEGUN)

    def cut_off(self) -> list[str]:
        """Return the nights that began and never ended, oldest first; while the lock is held no other one runs."""
        return sorted(path.parent.name for path in self.top.glob(f"*/{BEGUN}"))

    def forget_cut_off(self, night: str) -> None:
        """Say no more of a night that was cut off."""
        files.remove(self.top / night / BEGUN, up_to=self.top)

    def clean(self, now: float, keep_days: int) -> list[str]:
        """Remove work folders older than ``keep_days`` days, and notes of a year ago; return the nights cleaned."""
        gone = []
        for folder in sorted(self.top.glob(f"{WORK}/*")):
            if _age(folder.name, now) >= keep_days * _DAY:
                discard(folder)
                gone.append(folder.name)
        for folder in self.top.glob("*-*"):
            if _age(folder.name, now) > _NOTES_DAYS * _DAY:
                discard(folder)
        return gone


def _name(second: int) -> str:
    return f"{datetime.fromtimestamp(second, UTC):{_STAMP}}"


def _age(name: str, now: float) -> float:
    """How many seconds ago the night called ``name`` began; what is not called so is left alone."""
    try:
        return now - datetime.strptime(name, _STAMP).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return -1.0


def _write(path: Path, document: Mapping[str, Any]) -> None:
    data = json.dumps(document, ensure_ascii=False, indent=1, default=str)
    files.write_atomic(path, f"{data}\n".encode("utf-8", "replace"), new_mode=0o600)


def records(state: Path, most: int) -> list[dict[str, Any]]:
    """Return the records of the last nights that ended, newest first, at most so many. Never raises."""
    found = []
    for path in sorted((state / NIGHTS).glob(f"*/{RECORD}"), reverse=True)[:most]:
        try:
            record = json.loads(files.read_bytes(path) or b"{}")
        except (LessonbookError, ValueError, RecursionError):
            continue
        found += [record] if isinstance(record, dict) else []
    return found


def last_record(state: Path) -> dict[str, Any] | None:
    """Return the record of the last night that ended; ``None`` where there is none. Never raises."""
    for path in sorted((state / NIGHTS).glob(f"*/{RECORD}"), reverse=True):
        try:
            found = json.loads(files.read_bytes(path) or b"{}")
        except (LessonbookError, ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None
