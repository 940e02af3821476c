"""What a book's HEAD went through, step by step: its commits down the first parent, newest first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lessonbook.book.candidates import Message, message_of
from lessonbook.book.marks import ACCEPTED, UNDO, UNDONE, UNDONE_COMMIT, id_of, value_of
from lessonbook.book.repository import Book
from lessonbook.system import git
from lessonbook.system.gitbatch import read_objects

_COMMITTER = re.compile(rb"^committer (.*) (\d{1,12}) [+-]\d{4}$", re.MULTILINE)
_OURS = f"{git.NAME} <{git.EMAIL}>".encode()


@dataclass(frozen=True, slots=True)
class Step:
    """One commit on HEAD."""

    commit: str
    parents: tuple[str, ...]
    message: Message
    at: int
    """When it was committed, in epoch seconds: for an accepted candidate, when it was accepted."""
    ours: bool
    """Whether it was committed under the name of our own commits."""

    @property
    def parent(self) -> str | None:
        """The commit it came after on HEAD."""
        return self.parents[0] if self.parents else None

    @property
    def accepted(self) -> str | None:
        """The candidate it accepted, where it says so."""
        return id_of(self.message, ACCEPTED)


def history(book: Book) -> list[Step]:
    """Return every step of HEAD, newest first, in two processes; none before the first commit."""
    if book.head is None:
        return []
    out = git.run(book.folder, "rev-list", "--first-parent", "--parents", book.head).decode()
    rows = [line.split() for line in out.splitlines()]
    found = read_objects(book.folder, (row[0] for row in rows))
    return [_step(row, found[row[0]].data) for row in rows if row[0] in found]


def accepted(steps: Sequence[Step]) -> dict[str, Step]:
    """Return, by id, the step that accepted each candidate which is accepted now: none that was undone since.

    Of one that was accepted in parts it is the last part.
    """
    here = {step.commit for step in steps}
    told: dict[str, Step] = {}
    taken_back, by_id = set[str](), Counter[str]()
    for step in steps:
        back = id_of(step.message, UNDONE) if step.ours else None
        commit = value_of(step.message, UNDONE_COMMIT)
        if back and commit in here:
            taken_back.add(commit or "")
        elif back:
            by_id[back] += 1  # a person rewrote the commits since, so only the id says which
        elif step.accepted and by_id[step.accepted]:
            by_id[step.accepted] -= 1
        elif step.accepted and step.commit not in taken_back:
            told.setdefault(step.accepted, step)
    return told


def undone(steps: Sequence[Step], id: str) -> Step | None:
    """Return the newest step that took the candidate back."""
    return next((step for step in steps if step.ours and id_of(step.message, UNDONE) == id), None)


def taken_back(data: bytes) -> str | None:
    """Return the commit that a raw commit of ``undoing`` takes back.

    ``None`` for any other commit, and for one that a person has amended since: it may hold their words then.
    """
    committer = _COMMITTER.search(data.partition(b"\n\n")[0])
    if not committer or committer[1] != _OURS:
        return None
    message = message_of(data)
    return value_of(message, UNDONE_COMMIT) if message.subject.startswith(UNDO) else None


def _step(row: list[str], data: bytes) -> Step:
    head = data.partition(b"\n\n")[0]
    committer = _COMMITTER.search(head)
    who, at = (committer[1], int(committer[2])) if committer else (b"", 0)
    return Step(row[0], tuple(row[1:]), message_of(data), at, who == _OURS)
