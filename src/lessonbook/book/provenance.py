"""Who proposed and who accepted what a book holds: each commit, and each line of a file of HEAD."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lessonbook.book.candidates import COMPACTION, EXPIRY, LESSON
from lessonbook.book.content import AGENTS
from lessonbook.book.history import Step, accepted, history
from lessonbook.book.marks import UNDO, value_of
from lessonbook.book.repository import Book, open_book
from lessonbook.core.value import Value
from lessonbook.system import git

ACCEPTED_BY = "Accepted-by"


class Made(Value):
    """A commit on HEAD: who proposed it and when, who accepted it (``""`` where nobody is named) and when."""

    commit: str
    subject: str
    author: str
    proposed_at: int
    accepted_by: str
    at: int
    how: str
    """How it came to HEAD: ``accepted``, ``taken back``, ``expired``, or ``by hand``."""
    id: str | None
    """The candidate it accepted; ``None`` where it accepted none."""
    undoable: bool
    """Whether that candidate counts as accepted now, by this commit, so that it can be taken back."""
    trailers: tuple[tuple[str, str], ...]


class Line(Value):
    """One line of ``AGENTS.md`` on HEAD, with the commit that wrote it; ``None`` where the history is cut off."""

    number: int
    text: str
    made: Made | None


def made(folder: Path) -> tuple[Made, ...]:
    """Return every commit on HEAD, newest first; none where there is no book. Raises as ``history`` does."""
    book = open_book(folder)
    return _made(book) if book is not None else ()


def lines(folder: Path) -> tuple[Line, ...]:
    """Return the lines of ``AGENTS.md`` on HEAD, each with the commit that wrote it; none where there is no such file.

    Raises ``StoreError`` where git cannot read the history.
    """
    book = open_book(folder)
    if book is None or book.head is None:
        return ()
    known = {one.commit: one for one in _made(book)}
    if not git.run(book.folder, "ls-tree", book.head, "--", AGENTS.decode()):
        return ()
    options = ("--porcelain", "--first-parent", "--no-textconv")
    told = git.run(book.folder, "blame", *options, book.head, "--", AGENTS.decode())
    return tuple(_lines(told.decode("utf-8", "replace"), known))


def author_of(folder: Path, commit: str) -> tuple[str, str]:
    """Return who wrote a commit and who committed it, each as ``Name <mail>``."""
    out = git.run(folder, "log", "-1", "--no-walk", "--format=%an <%ae>%x00%cn <%ce>", commit, "--")
    author, _, committer = out.decode("utf-8", "replace").strip("\n").partition("\0")
    return author, committer


def _made(book: Book) -> tuple[Made, ...]:
    steps = history(book)
    standing = {step.commit for step in accepted(steps).values()}
    return tuple(_one(step, step.commit in standing) for step in steps)


def _one(step: Step, undoable: bool) -> Made:
    message = step.message
    author = message.author.rpartition(b">")[0].decode("utf-8", "replace") + ">"
    by = value_of(message, ACCEPTED_BY) or ""
    return Made(
        commit=step.commit,
        subject=message.subject,
        author=author.removeprefix("author "),
        proposed_at=message.at,
        accepted_by=by,
        at=step.at,
        how=_how(step),
        id=step.accepted,
        undoable=undoable,
        trailers=message.trailers,
    )


def _how(step: Step) -> str:
    if step.accepted is not None or step.message.subject.startswith((f"{LESSON}:", COMPACTION)):
        return "accepted"
    if step.ours and step.message.subject.startswith(UNDO):
        return "taken back"
    return "expired" if step.ours and step.message.subject == EXPIRY else "by hand"


def _lines(porcelain: str, known: Mapping[str, Made]) -> list[Line]:
    """Read what ``git blame --porcelain`` tells: a head of commit and numbers, facts, then the line after a tab."""
    found: list[Line] = []
    commit = ""
    for row in porcelain.split("\n"):
        if row.startswith("\t"):
            found.append(Line(len(found) + 1, row[1:].removesuffix("\r"), known.get(commit)))
        elif len(head := row.split(" ")) in (3, 4) and len(head[0]) in (40, 64) and head[1].isdigit():
            commit = head[0]
    return found
