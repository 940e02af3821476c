"""Who wrote whole files of a book, such as a skill's, and when: the proposer, or a person (contract §3).

A file is the proposer's when every commit of HEAD's line that changed it is. Where a person changed it once, if only
by taking a line out or by merging, it is theirs. A file that was removed and came back starts anew. An acceptance that
was taken back (``undoing``) counts as little as the commit that took it back: the file is as it was before both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lessonbook.book.blame import Hand
from lessonbook.book.candidates import is_proposers, message_of
from lessonbook.book.history import taken_back
from lessonbook.book.repository import Book
from lessonbook.system import git
from lessonbook.system.gitbatch import compare, read_objects

COMMITS = 20_000
"""How many commits are looked at, newest first; a file whose start lies before them is a person's."""

_COMMITTED = re.compile(rb"^committer [^\n]*> (\d{1,12}) ", re.MULTILINE)


def authors(book: Book, head: str, paths: Iterable[bytes]) -> dict[bytes, Hand]:
    """Return the hand of each file: whether all of it is the proposer's, and when it was last changed.

    Three git processes whatever their number. A file whose start is not found counts as a person's: what is not known
    is never taken for the proposer's. Raises ``StoreError`` where git cannot read the history.
    """
    found: dict[bytes, Hand] = {}
    open_ = set(paths)
    if not open_:
        return {}
    options = ("--first-parent", "--parents", f"--max-count={COMMITS}")
    rows = [row.split() for row in git.run(book.folder, "rev-list", *options, head).decode().splitlines()]
    changed = compare(book.folder, ((row[0], row[1] if len(row) > 1 else None) for row in rows))
    touching = [row for row in rows if any(change.path in open_ for change in changed.get(row[0], ()))]
    data = {oid: item.data for oid, item in read_objects(book.folder, (row[0] for row in touching)).items()}
    nothing = _taken_back(touching, data)
    for row in touching:
        if row[0] in nothing:
            continue
        step = _step(row, data)
        for change in changed[row[0]]:
            if change.path in open_:
                found[change.path] = _joined(found.get(change.path), step)
                if change.old is None:
                    open_.discard(change.path)
    return found | {path: Hand(False, found[path].at if path in found else 0) for path in open_}


def _taken_back(rows: list[list[str]], data: Mapping[str, bytes]) -> set[str]:
    """The commits that come to nothing: each that takes back another one of the rows, and that other one."""
    known = {row[0] for row in rows}
    undone = {row[0]: taken_back(data.get(row[0], b"")) for row in rows}
    return {commit for pair in undone.items() if pair[1] in known for commit in pair if commit}


def _step(row: list[str], data: Mapping[str, bytes]) -> Hand:
    raw = data.get(row[0], b"")
    head = raw.partition(b"\n\n")[0]
    when = _COMMITTED.search(head)
    # Of a shallow clone's oldest commit nobody knows what it changed.
    cut_off = len(row) == 1 and b"\nparent " in head
    proposed = len(row) <= 2 and not cut_off and is_proposers(message_of(raw))
    return Hand(proposed, int(when[1]) if when else 0)


def _joined(newer: Hand | None, older: Hand) -> Hand:
    return older if newer is None else Hand(newer.proposed and older.proposed, max(newer.at, older.at))
