"""Puts candidates in the queue: each one commit on its own pending branch, HEAD and the working files untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lessonbook.book.candidates import LESSON
from lessonbook.book.content import AGENTS, expected
from lessonbook.book.queue import book_locked
from lessonbook.book.repository import PENDING_REFS, REJECTED_REFS, Book, pending_refs
from lessonbook.book.settling import move
from lessonbook.book.start import ready
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.expiry import without
from lessonbook.core.paragraphs import join, split
from lessonbook.system import git
from lessonbook.system.gitbatch import NewCommit, RefMove, Write, read_objects, read_tree, write_commits


@dataclass(frozen=True, slots=True)
class Offer:
    """One change to propose: a paragraph for ``AGENTS.md``, whole files, or both; all text cleaned and redacted."""

    title: str
    """One line; the commit's subject is ``Lesson from a replay: <title>``."""
    rule: str | None = None
    """The paragraph to put at the end of ``AGENTS.md``, or in the place of the one that it ``retires``."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Whole files by path, such as ``skills/sizes/SKILL.md``."""
    trailers: tuple[tuple[str, str], ...] = ()
    """What it rests on, as ``(Key, one line)``: the evidence a person can check."""
    retires: str | None = None
    """The paragraph of ``AGENTS.md`` to take out; one that is not there leaves the file as it is."""
    removes: tuple[str, ...] = ()
    """Files to take out, by path."""


def offer(
    folder: Path,
    offers: Sequence[Offer],
    now: int,
    random_hex: Callable[[], str],
    wait: float = 10.0,
    *,
    unless: Callable[[], bool] | None = None,
) -> list[str]:
    """Put all ``offers`` in the queue of the book, all or none, and return their ids, which sort in the given order.

    A missing folder or repository is made, with a first commit of our own identity. ``random_hex`` returns six hex
    digits. Waits up to ``wait`` seconds for a running batch. ``unless`` is asked last, the book's lock held: when it
    says yes (another program offered the same meanwhile), nothing is offered and the answer is empty. Raises
    ``InputError`` for a text that holds a secret, an unexpected file name or an offer of nothing; ``BusyError``,
    ``StoreError``, ``SetupError``. Nothing is written then.
    """
    for item in offers:
        check(item)
    if not offers:
        return []
    with book_locked(folder, wait):
        if unless is not None and unless():
            return []
        return queued(ready(folder, now), offers, now, random_hex)


def queued(book: Book, offers: Sequence[Offer], now: int, random_hex: Callable[[], str]) -> list[str]:
    """Put offers that ``check`` let through into the queue of an open book, its lock held; see ``offer``."""
    head = book.head or ""
    refs, rejected = pending_refs(book, REJECTED_REFS)
    taken = {ref.id for ref in refs} | {ref.removeprefix(REJECTED_REFS)[:22] for ref in rejected}
    ids = new_ids(now, len(offers), {id for id in taken if is_candidate_id(id)}, random_hex)
    agents = _agents(book, head)
    made = write_commits(book.folder, [_commit(item, head, agents, now) for item in offers], now)
    moves = [RefMove(PENDING_REFS + id, None, commit) for id, commit in zip(ids, made, strict=True)]
    move(book, moves, "lessonbook: offer")
    return ids


def _agents(book: Book, head: str) -> bytes:
    entry = read_tree(book.folder, head).get(AGENTS)
    if entry is None:
        return b""
    found = read_objects(book.folder, [entry.oid]).get(entry.oid)
    if found is None:
        raise StoreError(f"AGENTS.md of HEAD cannot be read: it is damaged or missing in {book.folder}.")
    return found.data


def new_ids(now: int, count: int, taken: set[str], random_hex: Callable[[], str]) -> list[str]:
    """Return ``count`` new ids in rising order, none of them ``taken``.

    Ids sort by when they were proposed, so a second that already has ids is left to them and the next one is used.
    """
    moment = datetime.fromtimestamp(now, UTC)
    stamps = {id[:15] for id in taken}
    while f"{moment:%Y%m%d-%H%M%S}" in stamps:
        moment += timedelta(seconds=1)
    found: set[str] = set()
    while len(found) < count:
        found.add(random_hex())
    return [f"{moment:%Y%m%d-%H%M%S}-{tail}" for tail in sorted(found)]


def _commit(item: Offer, head: str, agents: bytes, now: int) -> NewCommit:
    writes = [Write(path.encode(), text.encode()) for path, text in item.files.items()]
    writes += [Write(path.encode()) for path in item.removes]
    if item.retires:
        writes.append(Write(AGENTS, _changed(agents, item.retires, item.rule)))
    elif item.rule:
        writes.append(Write(AGENTS, _appended(agents, item.rule)))
    author = f"{git.NAME} <{git.EMAIL}> {now} +0000".encode()
    return NewCommit(head, author, _message(item).encode(), tuple(writes))


def _appended(agents: bytes, rule: str) -> bytes:
    end = b"\r\n" if b"\r\n" in agents else b"\n"
    paragraph = end.join(line.encode() for line in rule.strip().splitlines()) + end
    before = agents.rstrip(b"\r\n")
    return before + end + end + paragraph if before else paragraph


def _changed(agents: bytes, paragraph: str, rule: str | None) -> bytes:
    """The file with ``rule`` in the place of a paragraph, or without it; with ``rule`` at its end where it has none."""
    text = agents.decode("utf-8", "surrogateescape")
    wanted = paragraph.replace("\r\n", "\n").strip()
    found = [one for one in split(text) if one.text.replace("\r\n", "\n").strip() == wanted]
    if not found:
        return _appended(agents, rule) if rule else agents
    text = without(text, [one.line + 1 for one in found[1 if rule else 0 :]])
    if not rule:
        return text.encode("utf-8", "surrogateescape")
    end = "\r\n" if "\r\n" in text else "\n"
    new = end.join(rule.strip().splitlines()) + (end if found[0].text.endswith("\n") else "")
    parts = [replace(one, text=new) if one.line == found[0].line else one for one in split(text)]
    return join(parts).encode("utf-8", "surrogateescape")


def _message(item: Offer) -> str:
    lines = [f"{LESSON}: {_one_line(item.title)}"]
    if item.trailers:
        lines += ["", *(f"{key}: {_one_line(value)}" for key, value in item.trailers)]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


def check(item: Offer) -> None:
    """Raise ``InputError`` for an offer of nothing, an unexpected file name, a secret, or text that cannot be kept."""
    from lessonbook.core.redact import redact

    if not _one_line(item.title) or not (
        item.files or item.removes or item.retires or (item.rule and item.rule.strip())
    ):
        raise InputError("An offer needs a title, and a rule or a file.")
    for path in (*item.files, *item.removes):
        if not expected(path.encode("utf-8", "surrogateescape")) or (path == AGENTS.decode() and item.rule):
            raise InputError(f"{path!r} is not a file that can be offered to a book.")
    for text in _texts(item):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError("An offer's text holds a character that cannot be stored; clean it first.") from error
        if redact(text).count:
            raise InputError(f"The offer {redact(item.title).text!r} holds what looks like a secret; redact it first.")


def _texts(item: Offer) -> Iterator[str]:
    yield item.title
    yield item.rule or ""
    yield from item.files
    yield from item.files.values()
    for key, value in item.trailers:
        if not key.replace("-", "").isalnum() or not key.isascii():
            raise InputError(f"{key!r} cannot be the name of a trailer.")
        yield f"{key}: {value}"
