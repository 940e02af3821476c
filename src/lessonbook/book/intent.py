"""What a book is about to do, on disk until it is done: the branches that move and the paths that follow HEAD."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lessonbook.book.content import refusal
from lessonbook.book.repository import Book
from lessonbook.system import files
from lessonbook.system.gitbatch import Change, Entry, RefMove

_REF = re.compile(r"HEAD\Z|refs/(heads|lessonbook)/[^\0-\x20\x7f~^:?*\[\\]+\Z")
_OID = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\Z")


@dataclass(frozen=True, slots=True)
class Intent:
    """Branches and paths, each with what it is now and what it shall be."""

    moves: tuple[RefMove, ...] = ()
    changes: tuple[Change, ...] = ()


def write(book: Book, moves: Sequence[RefMove], changes: Sequence[Change]) -> None:
    """Keep on disk what is about to be done. Raises ``StoreError``."""
    refs = [[move.ref, move.old, move.new] for move in moves]
    files.remove_leftovers(book.intent)
    files.write_atomic(book.intent, json.dumps({"refs": refs, "files": [_packed(c) for c in changes]}).encode())


def read(book: Book) -> Intent | None:
    """Return what a process was about to do when it died; ``None`` where none did. Nothing of it is taken on trust.

    Whoever could write into the repository could write an intent: it is held to the rules of a candidate, and its
    branches to what git calls a name.
    """
    data = files.read_bytes(book.intent)
    if data is None:
        return None
    try:
        told = json.loads(data)
        told = told if isinstance(told, dict) else {"files": told, "refs": []}  # a list: as version 0.1 wrote it
        changes = tuple(_unpacked(*row) for row in told["files"])
        moves = tuple(RefMove(*row) for row in told["refs"])
        good = all(_is_good(move) for move in moves)
    except (ValueError, TypeError, KeyError):  # damaged, so not ours to act on
        return Intent()
    return Intent(moves, changes) if good and not refusal(changes) else Intent()


def _is_good(move: RefMove) -> bool:
    oids = [oid for oid in (move.old, move.new) if oid is not None]
    return _REF.match(move.ref) is not None and ".." not in move.ref and bool(oids) and all(map(_OID.match, oids))


def _packed(change: Change) -> list[object]:
    return [change.path.hex(), *([side.mode, side.oid] if side else None for side in (change.old, change.new))]


def _unpacked(path: str, old: list[str] | None, new: list[str] | None) -> Change:
    return Change(bytes.fromhex(path), Entry(*old) if old else None, Entry(*new) if new else None)
