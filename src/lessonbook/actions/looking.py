"""One candidate with all that a person looks at before deciding, everything of one and the same commit."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from lessonbook.actions.grounds import Grounds, grounds
from lessonbook.actions.review import NamedBook, in_terminal
from lessonbook.book import editing
from lessonbook.book.candidates import LESSON
from lessonbook.book.content import AGENTS, DATED
from lessonbook.book.marks import UNDO
from lessonbook.book.provenance import author_of
from lessonbook.book.reviewing import explained
from lessonbook.book.sentences import LEARNED_MAX
from lessonbook.core.candidate import Candidate
from lessonbook.core.embed import embedded
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.patch import FilePatch, Row, read_patch
from lessonbook.core.value import Value


class Line(Value):
    """One line of a file as it will be; ``brought`` where the candidate brings it."""

    text: str
    brought: bool


class Result(Value):
    """One file as accepting makes it: the lines a briefing would hold of it, and how a briefing calls it.

    ``most`` is how many characters it may have, ``None`` where that is not limited; ``problem`` says why there are no
    lines.
    """

    path: str
    how: str
    lines: tuple[Line, ...]
    characters: int
    most: int | None = None
    problem: str = ""


class Look(Value):
    """A candidate as it is shown. ``print`` stays the same while it proposes the same, wherever it is moved."""

    book: NamedBook
    row: Candidate
    files: tuple[FilePatch, ...]
    results: tuple[Result, ...]
    grounds: Grounds
    author: str
    committer: str
    print: str


def look(book: NamedBook, id: str) -> Look:
    """Return the candidate as it is now. Raises ``InputError`` where it does not wait (any more)."""
    told, row = explained(book.folder, id)
    if row is None:
        raise InputError(in_terminal(str(told["error"])))
    diff = str(told["diff"])
    files = read_patch(diff)
    author, committer = author_of(book.folder, row.commit)
    return Look(
        book=book,
        row=row,
        files=files,
        results=tuple(_results(book, row, files)),
        grounds=grounds(row.trailers),
        author=author,
        committer=committer,
        print=_print(row, diff),
    )


def _print(row: Candidate, diff: str) -> str:
    """What stays while a candidate is only moved: its lines without their places, and what it says of itself."""
    lines = [line for line in diff.split("\n") if line[:1] in "+-" or line.startswith("diff ")]
    told = "\0".join([row.subject, *(f"{key}:{value}" for key, value in row.trailers), *lines, str(row.stale)])
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _results(book: NamedBook, row: Candidate, files: tuple[FilePatch, ...]) -> Iterator[Result]:
    told = _drafts(book, row)
    if not told["ok"]:
        yield Result("", "", (), 0, problem=in_terminal(str(told["error"])))
        return
    brought = {file.path: {row.new.text for row in _come(file) if row.new} for file in files}
    for path, data in told["files"].items():
        if path in told["conflicts"]:
            why = "The book has changed in the same place since this was proposed. Edit shows both sides."
            yield Result(path, "", (), 0, problem=why)
            continue
        yield _result(path, data.decode("utf-8", "replace"), brought.get(path, set()))


def _come(file: FilePatch) -> Iterator[Row]:
    return (row for hunk in file.hunks for row in hunk if row.kind in ("added", "changed"))


def _drafts(book: NamedBook, row: Candidate) -> dict[str, Any]:
    try:
        return editing.drafts(book.folder, row.id, row.commit)
    except LessonbookError as error:  # such as a file that is damaged: the change itself is shown all the same
        return {"ok": False, "error": str(error)}


def _result(path: str, text: str, marked: set[str]) -> Result:
    how, shown, most = "", text, None
    if path == AGENTS.decode():
        how, shown, most = "in full, as far as the briefing has room", embedded(text), LEARNED_MAX
    elif DATED.match(path.encode()):
        how, shown = "under its date, the newest first", embedded(text)
    elif path.endswith("/SKILL.md"):
        how = "by its name and description; the agent reads the rest when it needs it"
    else:
        how = "not by itself; the skill it belongs to can name it"
    wanted = marked | {embedded(line) for line in marked if line.strip()} if shown is not text else marked
    lines = tuple(Line(line, bool(line.strip()) and line in wanted) for line in shown.strip("\n").split("\n"))
    return Result(path, how, lines, len(text), most)


def title(row: Candidate) -> str:
    """Return what a candidate is called: its subject as a heading, or its id where it has none."""
    return heading(row.subject) or row.id


def heading(subject: str) -> str:
    """Return a subject as a heading: without the words that every lesson starts with."""
    undone = UNDO if subject.startswith(UNDO) else ""
    return undone + subject.removeprefix(undone).removeprefix(f"{LESSON}: ").strip()
