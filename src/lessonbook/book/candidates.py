"""Reads what waits: each pending branch as one change against the newest commit of its line that HEAD reaches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property

from lessonbook.book.repository import PIN_REFS, Book, PendingRef, asking_refs, here_only, opening
from lessonbook.core.value import Value
from lessonbook.system import git
from lessonbook.system.gitbatch import AUTHOR, CHANGES, OBJECTS, Change, Found, compare, read_objects, spared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


LESSON = "Lesson from a replay"
COMPACTION = "Compact learned AGENTS.md"
"""How the subjects of a proposer's commits start; the originals tell its paragraphs from a person's by them."""
EXPIRY = "Expire what nothing used"
"""The subject of a commit that removes what nothing used; its trailers ``Expired`` name what went."""
EDITED = "Edited-by"
"""The trailer that names who changed a candidate before it was accepted."""

_DATE = re.compile(rb"> (\d{1,12}) ")
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*): *(.*)")


class Message(Value):
    """A commit's author line and message, to the byte, and what they say."""

    author: bytes
    encoding: bytes | None
    raw: bytes

    @cached_property
    def text(self) -> str:
        """The message; what does not decode is replaced."""
        try:
            return self.raw.decode((self.encoding or b"utf-8").decode("ascii"), "replace")
        except (LookupError, ValueError):  # a codec that is unknown, or none for text
            return self.raw.decode("utf-8", "replace")

    @cached_property
    def subject(self) -> str:
        """The first paragraph in one line."""
        return " ".join(self.text.lstrip("\n").partition("\n\n")[0].split())

    @property
    def at(self) -> int:
        """When it was authored, in epoch seconds; 0 where the line does not say."""
        match = _DATE.search(self.author)
        return int(match[1]) if match else 0

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        """The ``Key: value`` lines of the last paragraph, in order."""
        body, _, last = self.text.strip().rpartition("\n\n")
        found = (_TRAILER.fullmatch(line) for line in last.split("\n")) if body else ()
        return tuple((match[1], match[2].strip()) for match in found if match)


class Waiting(Value):
    """One candidate with all that picking it needs."""

    id: str
    ref: str
    commit: str
    base: str | None
    """The newest commit of its line that HEAD reaches; the candidate's own commit where HEAD holds it already."""
    direct: bool
    """Whether it is one commit straight on ``base``."""
    proposal: Message
    changes: tuple[Change, ...]
    held: str | None
    """Why its branch may be neither moved nor removed (it is checked out somewhere); else ``None``."""
    problem: str | None
    """Why it can never be picked, such as that it is a merge; else ``None``."""


class Asked:
    """All that listing a book asks git, started at once: by when it is known what to ask, the programs are there."""

    def __init__(self, folder: Path) -> None:
        """Start them in ``folder``, which holds a repository. Raises ``SetupError`` where there is no git."""
        self._all = ExitStack()
        with self._all:
            here = here_only(folder)
            self.book = self._all.enter_context(opening(folder))
            self.refs = self._all.enter_context(asking_refs(folder, PIN_REFS))
            self.commits = self._all.enter_context(git.Started(folder, *OBJECTS, env=here))
            self.changes = self._all.enter_context(git.Started(folder, *CHANGES, env=here))
            self._all = self._all.pop_all()

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *error: object) -> None:
        """End what was not needed."""
        self._all.close()


def read_waiting(book: Book, refs: Sequence[PendingRef], asked: Asked | None = None) -> list[Waiting]:
    """Return the candidates of these branches, in the given order, in four processes whatever their number.

    Two are enough where every candidate is one commit on HEAD, and ``asked`` may have started those.
    """
    if not refs:
        return []
    tips = list(dict.fromkeys(ref.commit for ref in refs))
    found = read_objects(book.folder, tips, asked.commits if asked else None)
    commits = [tip for tip in tips if tip in found and found[tip].kind == "commit"]
    parents: dict[str, list[str] | None] = {tip: parents_of(found[tip].data) for tip in commits}
    if any(parents.get(tip) != [book.head] for tip in tips):
        parents = spared(lambda some: _parents(book, some), tips)
    lines = {tip: _line(tip, parents) for tip in tips}
    found |= read_objects(
        book.folder, (commit for line, *_ in lines.values() for commit in line if commit not in found)
    )
    changed = compare(book.folder, ((tip, lines[tip][1]) for tip in commits), asked.changes if asked else None)
    return [_waiting(book, ref, lines[ref.commit], found, changed.get(ref.commit)) for ref in refs]


def parents_of(data: bytes) -> list[str]:
    """Return the ids of the parents a raw commit object names."""
    head = data.partition(b"\n\n")[0]
    return [line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent ")]


def is_proposers(message: Message) -> bool:
    """Return whether a commit of this message wrote the proposer's words, and only its (contract §2.4).

    What a person edited before it was accepted (trailer ``Edited-by``) holds a person's words, no one knows which.
    """
    return message.subject.startswith((LESSON, COMPACTION)) and all(key != EDITED for key, _ in message.trailers)


def message_of(data: bytes) -> Message:
    """Return the author line, encoding and message of a raw commit object."""
    head, _, message = data.partition(b"\n\n")
    fields: dict[bytes, bytes] = {}
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        fields.setdefault(key, value)
    return Message(fields.get(b"author", b""), fields.get(b"encoding"), message)


_MISSING = "its commit is missing from the repository"
_DAMAGED = "the repository is damaged where it is kept (`git fsck` names the objects), so it cannot be read"
_Line = tuple[tuple[str, ...], str | None, str | None]


def _parents(book: Book, tips: Sequence[str]) -> dict[str, list[str] | None]:
    """The parents of every commit that a tip reaches and HEAD does not; ``None`` for a tip that HEAD reaches."""
    asked = [*tips, *([f"^{book.head}"] if book.head else [])]
    data = "".join(f"{name}\n" for name in asked).encode()
    out = git.run(book.folder, "rev-list", "--parents", "--ignore-missing", "--stdin", data=data)
    walked = {line[0]: line[1:] for line in (row.split() for row in out.decode().splitlines())}
    return dict.fromkeys(tips) | walked


def _line(tip: str, parents: Mapping[str, list[str] | None]) -> _Line:
    """The commits from ``tip`` down to what HEAD reaches, that base, and what is wrong with them."""
    if tip not in parents:
        return (tip,), None, _DAMAGED
    line, at = [], tip
    while (above := parents.get(at)) is not None:
        line.append(at)
        if len(above) > 1:
            return tuple(line), above[0], "it is a merge of several commits, which has no single change to pick"
        if not above:
            why = "it has no parent commit" if len(line) == 1 else "it shares no history with HEAD"
            return tuple(line), None, f"{why}, so there is nothing to pick it from"
        at = above[0]
    return tuple(line) or (tip,), at, None


def _waiting(
    book: Book, ref: PendingRef, told: _Line, found: Mapping[str, Found], changes: tuple[Change, ...] | None
) -> Waiting:
    line, base, problem = told
    commits = [found[commit] for commit in line if commit in found]
    messages = [message_of(commit.data) for commit in commits if commit.kind == "commit"]
    proposal = next((m for m in messages if m.subject.startswith((LESSON, COMPACTION))), None)
    proposal = proposal or (messages[0] if messages else Message(b"", None, b"(its commit cannot be read)"))
    if not messages:
        problem = f"its branch leads to a {commits[0].kind}, not to a commit" if commits else problem or _MISSING
    elif book.head is None:
        problem = "HEAD has no commit yet, so there is nothing to pick it onto"
    elif not AUTHOR.match(proposal.author):
        problem = problem or "its author line is damaged"
    elif changes is None:
        problem = problem or _DAMAGED
    return Waiting(ref.id, ref.ref, ref.commit, base, len(line) == 1, proposal, changes or (), ref.held, problem)
