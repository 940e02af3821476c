"""The lessons a book has accepted and still holds: when, what each is about, and the text that says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lessonbook.book.candidates import LESSON, Message
from lessonbook.book.content import AGENTS
from lessonbook.book.decided import brought_text, keys_of
from lessonbook.book.history import Step, accepted, history
from lessonbook.book.repository import open_book
from lessonbook.core.paragraphs import split
from lessonbook.system.gitbatch import Change, compare, read_objects, read_tree

ABOUT = "Evidence-about"
"""The trailer that names the calls a lesson is about, where its key says more than that."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One candidate that is accepted now."""

    id: str
    at: int
    """When it was accepted, in epoch seconds."""
    title: str
    keys: frozenset[str]
    """What it is about, as its proposer put it; none where no proposer wrote it."""
    about: frozenset[str] = frozenset()
    """The keys of the calls it is about; ``keys`` where it says nothing else."""
    rule: str = ""
    """The paragraph it brought, where ``AGENTS.md`` of HEAD still holds it as it was."""
    skills: tuple[str, ...] = ()
    """Names of the skills it brought that HEAD still holds."""


def accepted_lessons(folder: Path) -> tuple[Accepted, ...]:
    """Return the book's accepted lessons, oldest first; none where there is no repository.

    Raises ``StoreError`` where git refuses the repository and ``SetupError`` where there is no git.
    """
    book = open_book(folder)
    if book is None or book.head is None:
        return ()
    steps = accepted(history(book))
    changed = compare(book.folder, ((step.commit, step.parent) for step in steps.values()))
    tree = read_tree(book.folder, book.head)
    wanted = {entry.oid for changes in changed.values() for one in changes for entry in (one.old, one.new) if entry}
    agents = tree.get(AGENTS)
    blobs = {
        oid: item.data for oid, item in read_objects(book.folder, wanted | ({agents.oid} if agents else set())).items()
    }
    text = blobs.get(agents.oid, b"").decode("utf-8", "replace") if agents else ""
    held = {paragraph.text.strip() for paragraph in split(text.replace("\r\n", "\n"))} - {""}
    found = [_lesson(id, step, changed.get(step.commit, ()), blobs, held, tree) for id, step in steps.items()]
    return tuple(sorted(found, key=lambda one: (one.at, one.id)))


def _lesson(
    id: str,
    step: Step,
    changes: Iterable[Change],
    blobs: Mapping[str, bytes],
    held: set[str],
    tree: Mapping[bytes, object],
) -> Accepted:
    every = tuple(changes)
    rule = brought_text([change for change in every if change.path == AGENTS], blobs).strip()
    paths = [change.path.decode("utf-8", "replace").split("/") for change in every if change.path in tree]
    skills = dict.fromkeys(parts[1] for parts in paths if parts[0] == "skills" and parts[2:] == ["SKILL.md"])
    keys = keys_of(step.message)
    return Accepted(
        id=id,
        at=step.at,
        title=step.message.subject.removeprefix(f"{LESSON}: "),
        keys=keys,
        about=_about(step.message) or keys,
        rule=rule if rule in held else "",
        skills=tuple(skills),
    )


def _about(message: Message) -> frozenset[str]:
    return frozenset(value for key, value in message.trailers if key == ABOUT and value)
