"""Offers a skill an agent wrote for review, once: what waits, stands in HEAD or was rejected is not offered again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lessonbook.book.candidates import Waiting, message_of, read_waiting
from lessonbook.book.decided import KEY
from lessonbook.book.offer import Offer, check, queued
from lessonbook.book.queue import book_locked
from lessonbook.book.remembered import candidate_commit, id_of_ref, reason_of
from lessonbook.book.repository import REJECTED_REFS, Book, pending_refs
from lessonbook.book.start import ready
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.skill import Skill, parsed, updated
from lessonbook.system.gitbatch import read_objects, read_tree

if TYPE_CHECKING:
    from lessonbook.core.skill import Action


def offer_skill(
    folder: Path,
    skill: Skill,
    action: Action,
    trailers: tuple[tuple[str, str], ...],
    now: int,
    random_hex: Callable[[], str],
    wait: float = 10.0,
) -> str:
    """Put the skill into the book's queue and return the candidate's id; the id it has where it waits already.

    ``update`` keeps the frontmatter keys of the book's skill that it does not set. Raises ``InputError`` where a person
    rejected it, the book holds it, another change of that skill waits, or ``action`` does not fit what the book holds;
    else as ``offer``.
    """
    key = _key(skill)
    with book_locked(folder, wait):
        book = ready(folder, now)
        waits = _waiting(book, skill, key)
        if waits:
            return waits
        text = _text(book, skill, action)
        path = f"skills/{skill.name}/SKILL.md"
        item = Offer(f"Skill {skill.name}", files={path: text}, trailers=((KEY, key), *trailers))
        check(item)
        return queued(book, [item], now, random_hex)[0]


def _key(skill: Skill) -> str:
    told = f"{skill.description}\0{skill.body}".encode()
    return f"skill {skill.name}: {hashlib.sha256(told).hexdigest()[:16]}"


def _waiting(book: Book, skill: Skill, key: str) -> str | None:
    """The id under which this very skill waits. Raises ``InputError`` for another of its name, or a rejected one."""
    refs, rejected = pending_refs(book, REJECTED_REFS)
    path = f"skills/{skill.name}/SKILL.md".encode()
    waiting = [w for w in read_waiting(book, refs) if any(change.path == path for change in w.changes)]
    same = next((w for w in waiting if _keyed(w, key)), None)
    if same:
        return same.id
    if waiting:
        raise InputError(
            f'another change of skill "{skill.name}" waits for review as {waiting[0].id}; '
            "a person has to decide on that first."
        )
    for id, reason in _rejected(book, rejected, key):
        raise InputError(f"a person rejected this very skill, as {id}{f' ({reason})' if reason else ''}.")
    return None


def _keyed(w: Waiting, key: str) -> bool:
    return (KEY, key) in w.proposal.trailers


def _rejected(book: Book, refs: Mapping[str, str], key: str) -> Iterator[tuple[str, str]]:
    """The ids under which a skill of this key was rejected, each with the reason."""
    records = read_objects(book.folder, refs.values())
    commits = {ref: candidate_commit(oid, records.get(oid)) for ref, oid in refs.items()}
    found = read_objects(book.folder, commits.values())
    for ref, commit in commits.items():
        if commit in found and (KEY, key) in message_of(found[commit].data).trailers:
            yield id_of_ref(ref), reason_of(records.get(refs[ref]))


def _text(book: Book, skill: Skill, action: Action) -> str:
    """The whole new file. Raises ``InputError`` where the action does not fit what HEAD holds."""
    tree = read_tree(book.folder, book.head) if book.head else {}
    entry = tree.get(f"skills/{skill.name}/SKILL.md".encode())
    if entry is None:
        return skill.text
    found = read_objects(book.folder, [entry.oid]).get(entry.oid)
    if found is None:
        raise StoreError(f'skill "{skill.name}" of HEAD cannot be read: it is damaged or missing in {book.folder}.')
    old = found.data.decode("utf-8", "replace")
    held = parsed(skill.name, old)
    if (held.description, held.body) == (skill.description, skill.body):
        raise InputError(f'the book holds skill "{skill.name}" just like this.')
    if action == "create":
        raise InputError(f'the book holds a skill "{skill.name}" already; use the action "update" to change it.')
    return updated(skill, old).text
