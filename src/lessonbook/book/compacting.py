"""Proposes a shorter ``AGENTS.md`` as one more candidate, written by the editor model (contract §2.4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessonbook.book import accepting, blame, pins
from lessonbook.book.candidates import COMPACTION, Waiting, is_proposers, read_waiting
from lessonbook.book.content import AGENTS, refusal
from lessonbook.book.inclusion import print_of
from lessonbook.book.marks import FOLDED
from lessonbook.book.offer import new_ids
from lessonbook.book.picking import Pick, Target
from lessonbook.book.queue import NO_ID, book_locked, opened
from lessonbook.book.repository import PENDING_REFS, REJECTED_REFS, Book, exists, find, open_book, pending_refs
from lessonbook.book.sentences import LEARNED_MAX, NOT_PENDING, STALE
from lessonbook.book.settling import move
from lessonbook.core import compaction
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.compaction_reply import Compacted, compacted
from lessonbook.core.errors import InputError, LessonbookError, ModelError, StoreError, reason
from lessonbook.core.ports import Chat, Reply
from lessonbook.core.screen import quoted
from lessonbook.system import git
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import NewCommit, RefMove, Write, write_commits

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class _Case:
    """What is compacted: HEAD's ``AGENTS.md``, or what it would be with the folded candidate accepted."""

    book: Book
    head: str
    folded: str | None
    print: str
    """What the folded candidate comes to (``inclusion.print_of``)."""
    pick: Pick
    mark: bytes
    text: str
    plan: compaction.Plan

    @property
    def limit(self) -> int:
        """How many characters may follow the byte order mark."""
        return LEARNED_MAX - bool(self.mark)


def compact(folder: Path, id: str | None, chat: Chat, now: int, random_hex: Callable[[], str]) -> dict[str, Any]:
    """Ask ``chat`` for a shorter ``AGENTS.md`` and propose it: ``{ok, id, before, after}`` in characters.

    With ``id`` that candidate is folded in: accepting the compaction accepts it too. Holds the book's lock while the
    model answers, as a batch does. Never raises: ``{ok: False, error}``, with nothing changed. ``now`` in epoch
    seconds; ``random_hex`` returns six hex digits.
    """
    try:
        return proposed(folder, id, chat, now, random_hex)
    except LessonbookError as error:
        return {"ok": False, "error": str(error)}


def proposed(folder: Path, id: str | None, chat: Chat, now: int, random_hex: Callable[[], str]) -> dict[str, Any]:
    """Do what ``compact`` does, and raise what is wrong: a kind of ``LessonbookError`` per thing to do about it."""
    if id is not None and not is_candidate_id(id):
        raise InputError(NO_ID.format(id=quoted(id)))
    try:
        if not exists(folder) or open_book(folder) is None:
            raise InputError(NOT_PENDING.format(id=id) if id else _nothing(folder))
        with book_locked(folder):
            return _compact(opened(folder), id, chat, now, random_hex)
    except OSError as error:
        raise StoreError(f"{folder} cannot be worked on: {reason(error)}") from error


def _compact(book: Book, id: str | None, chat: Chat, now: int, random_hex: Callable[[], str]) -> dict[str, Any]:
    refs, rejected = pending_refs(book, REJECTED_REFS)
    if id:
        find(refs, id)
    waiting = read_waiting(book, refs)
    for w in waiting:
        if w.proposal.subject.startswith(COMPACTION):
            raise InputError(f"a compaction is already pending as {w.id}; accept or reject it first")
    case = _case(book, next((w for w in waiting if w.id == id), None), now)
    said = _asked(chat, compaction.prompt(case.plan, case.limit))
    point("compact.answered")
    result = compacted(case.plan, said, case.limit)
    before, after = (compaction.length(text) + bool(case.mark) for text in (case.text, result.text))
    commit = write_commits(book.folder, [_commit(case, result, before, after, now)], now)[0]
    point("compact.written")
    taken = {ref.id for ref in refs} | {ref.removeprefix(REJECTED_REFS)[:22] for ref in rejected}
    new = new_ids(now, 1, {name for name in taken if is_candidate_id(name)}, random_hex)[0]
    move(book, [RefMove(PENDING_REFS + new, None, commit)], "lessonbook: compact")
    return {"ok": True, "id": new, "before": before, "after": after}


def _case(book: Book, w: Waiting | None, now: int) -> _Case:
    if book.head is None:
        raise InputError(_nothing(book.folder))
    head = accepting.head_of(book)
    target = accepting.target_of(book, head, [w] if w else [], w.changes if w else ())
    old = _agents(target)
    pick = _picked(w, target) if w else Pick()
    target.advance(pick)
    entry = target.tree.get(AGENTS)
    if entry is None:
        raise InputError(_nothing(book.folder))
    if entry.mode != "100644":
        raise InputError("AGENTS.md is not a regular file in HEAD, and only a regular one is compacted")
    text = _agents(target)
    hands = blame.hands(book, head, old)
    if w:
        # Its time counts from when it is accepted, which the compaction's acceptance will be.
        hands = blame.laid_over(old, hands, text, blame.Hand(is_proposers(w.proposal), now))
    mark = _MARK if target.text(AGENTS).startswith(_MARK) else b""
    plan = compaction.plan(text, blame.written(text, hands), LEARNED_MAX - bool(mark), pins.pinned(book))
    told = print_of(w.changes, target.blobs) if w else ""
    return _Case(book, head, w.id if w else None, told, pick, mark, text, plan)


def _picked(w: Waiting, target: Target) -> Pick:
    """What folding the candidate in comes to; refused as accepting it would be, but for its size."""
    why = w.problem or (w.held and f"{w.id} cannot be folded in: {w.held}") or refusal(w.changes)
    if why:
        raise InputError(why)
    pick = Pick() if w.base == w.commit else target.pick(w.changes)
    if pick is None:
        raise InputError(STALE)
    accepting.check_secrets(w, target)
    return pick


def _asked(chat: Chat, prompt: str) -> str:
    from lessonbook.core.clean import clean_line

    try:
        said = chat(prompt)
    except LessonbookError:
        raise
    except Exception as error:  # a caller's own function may raise anything, and the result has to say so
        why = compaction.scrubbed(clean_line(str(error))) or type(error).__name__
        raise ModelError(f"the editor model could not be asked: {why}") from error
    text = said.text if isinstance(said, Reply) else said
    if not isinstance(text, str):
        raise ModelError(f"the editor model answered with {type(text).__name__}, not with text")
    return text


def _commit(case: _Case, result: Compacted, before: int, after: int, now: int) -> NewCommit:
    with_it = f" with {case.folded}" if case.folded else ""
    lines = [f"{COMPACTION}{with_it} ({before:,} to {after:,} characters)", ""]
    if case.folded:
        lines += [f"Includes: {case.folded}", f"{FOLDED}: {case.print}"]
    lines.append(f"{blame.TIMES}: {json.dumps(dict(result.times), separators=(',', ':'))}")
    data = case.mark + result.text.encode("utf-8", "surrogateescape")
    writes = [write for write in case.pick.writes if write.path != AGENTS]
    author = f"{git.NAME} <{git.EMAIL}> {now} +0000".encode()
    return NewCommit(case.head, author, ("\n".join(lines) + "\n").encode(), (*writes, Write(AGENTS, data)))


def _agents(target: Target) -> str:
    return target.text(AGENTS).removeprefix(_MARK).decode("utf-8", "surrogateescape")


def _nothing(folder: Path) -> str:
    return f"{folder} has no committed AGENTS.md to compact"
