"""Takes out of a book what was proposed and nothing used: one commit on HEAD, and the candidates move onto it.

What a person wrote, and what a person pinned, never leaves. What left is in the history; the commit's trailers
(``Expired``) name it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessonbook.book import accepting, holdings, working
from lessonbook.book.candidates import EXPIRY, Waiting, read_waiting
from lessonbook.book.content import AGENTS
from lessonbook.book.marks import EXPIRED
from lessonbook.book.moving import Moves, moved_commit, moves
from lessonbook.book.picking import Pick, Target
from lessonbook.book.pins import pinned
from lessonbook.book.queue import book_locked, opened
from lessonbook.book.repository import Book, exists, open_book, pending_refs
from lessonbook.book.sentences import UNCOMMITTED_EXPIRY
from lessonbook.book.swapping import swap
from lessonbook.core import expiry
from lessonbook.core.errors import InputError, LessonbookError, reason
from lessonbook.core.expiry import DAYS, DAYS_MOST, Verdict
from lessonbook.system import git
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import Change, Entry, NewCommit, RefMove, Write, blob_id, write_commits
from lessonbook.system.gitindex import read_index


@dataclass(frozen=True, slots=True)
class _Case:
    """What leaves one book, and all it is decided on."""

    book: Book
    head: str
    waiting: Sequence[Waiting]
    target: Target
    pick: Pick
    leaves: Sequence[Verdict]
    days: int


def expire(
    folder: Path,
    now: int,
    days: int = DAYS,
    used: Mapping[str, int] | None = None,
    *,
    worked: bool = True,
    dry_run: bool = False,
    held: bool = False,
) -> dict[str, Any]:
    """Remove from HEAD what was proposed and nothing used for ``days`` days: ``{ok, expired, kept, commit, …}``.

    ``used`` says when each key (``expiry.skill_key``, ``paragraph_key``) was last used and ``now`` is the present, in
    epoch seconds. Where nobody ``worked`` in those days, only dated files leave. ``expired`` and ``kept`` hold rows
    ``{kind, path, line, text, why, since}``; ``commit`` is the new HEAD (7 hex digits), or ``None`` where nothing
    left; ``moved`` and ``stale`` are the ids of candidates. ``dry_run`` only says what would leave, without waiting
    for anybody; ``held`` is for a batch that holds the book's lock already. Never raises: ``{ok: False, error}``, with
    nothing changed.
    """
    try:
        if not 1 <= days <= DAYS_MOST:
            raise InputError(f"what was proposed stays one day at least, and {DAYS_MOST:,} days at most")
        if not exists(folder) or open_book(folder) is None:
            return _told([], None)
        if dry_run:
            book = opened(folder, recover=False)
            return _told(_judged(book, now, days, used or {}, worked), None)
        with nullcontext() if held else book_locked(folder):
            return _expire(opened(folder), now, days, used or {}, worked)
    except LessonbookError as error:
        return {"ok": False, "error": str(error)}
    except OSError as error:
        return {"ok": False, "error": f"{folder} cannot be worked on: {reason(error)}"}


def _expire(book: Book, now: int, days: int, used: Mapping[str, int], worked: bool) -> dict[str, Any]:
    verdicts = _judged(book, now, days, used, worked)
    leaves = [verdict for verdict in verdicts if verdict.leaves]
    if not leaves:
        return _told(verdicts, None)
    head = accepting.head_of(book)
    accepting.check_nothing_in_progress(book)
    waiting = read_waiting(book, pending_refs(book)[0])
    tree = accepting.target_of(book, head, (), ()).tree
    pick = _pick(book, tree, leaves)
    target = accepting.target_of(book, head, waiting, pick.entries)
    with working.index_held(book):
        index = read_index(book.folder)
        dirty = working.uncommitted(book, index, (change.path for change in pick.entries), tree)
        if dirty:
            raise InputError(UNCOMMITTED_EXPIRY.format(folder=book.folder, names=", ".join(dirty)))
        new, found = _commit(_Case(book, head, waiting, target, pick, leaves, days), index, now)
    return _told(verdicts, new, [w.id for w, _ in found.moved], found.stale)


def _judged(book: Book, now: int, days: int, used: Mapping[str, int], worked: bool) -> list[Verdict]:
    if book.head is None:
        return []
    parts = holdings.parts(book, book.head, accepting.target_of(book, book.head, (), ()).tree)
    return expiry.judged(parts, now, days, pinned(book), used, worked=worked)


def _pick(book: Book, tree: Mapping[bytes, Entry], leaves: Sequence[Verdict]) -> Pick:
    """What removing comes to, as a commit and as entries. ``AGENTS.md`` stays, if only empty: others add to it."""
    gone = [path for v in leaves if v.part.kind != expiry.PARAGRAPH for path in holdings.files_of(v.part, tree)]
    writes = [Write(path) for path in gone]
    entries = [Change(path, tree[path], None) for path in gone]
    lines = {v.part.line for v in leaves if v.part.kind == expiry.PARAGRAPH}
    if lines:
        data = holdings.agents(book, tree)
        mark = holdings.MARK if data.startswith(holdings.MARK) else b""
        text = expiry.without(data.removeprefix(mark).decode("utf-8", "surrogateescape"), lines)
        left = mark + text.encode("utf-8", "surrogateescape")
        writes.append(Write(AGENTS, left))
        entries.append(Change(AGENTS, tree[AGENTS], Entry("100644", blob_id(left, book.head or ""))))
    return Pick(tuple(writes), tuple(entries))


def _commit(case: _Case, index: working.Index, now: int) -> tuple[str, Moves]:
    case.target.advance(case.pick)
    found = moves(case.book, case.waiting, case.target, on=None)
    author = f"{git.NAME} <{git.EMAIL}> {now} +0000".encode()
    commits = [NewCommit(case.head, author, _message(case), case.pick.writes)]
    commits += [moved_commit(w, pick, 0) for w, pick in found.moved]
    made = write_commits(case.book.folder, commits, now)
    point("expire.written")
    steps = [RefMove(case.book.head_ref, case.head, made[0])]
    steps += [RefMove(w.ref, w.commit, new) for (w, _), new in zip(found.moved, made[1:], strict=True)]
    done = f"it expired as {made[0][:7]}"
    swap(case.book, index, case.pick.entries, case.target.blobs, steps, "lessonbook: expire", done)
    return made[0], found


def _message(case: _Case) -> bytes:
    from lessonbook.core.clean import clean_line

    told = [f"- {clean_line(_name(v))}: {v.why}" for v in case.leaves]
    trailers = [f"{EXPIRED}: {v.part.kind} {_id(v)} {expiry.day_of(v.since)}" for v in case.leaves]
    text = "\n".join([EXPIRY, "", *told, "", *trailers, f"Expired-days: {case.days}"])
    return f"{text}\n".encode("utf-8", "replace")


def _name(verdict: Verdict) -> str:
    part = verdict.part
    return f"{part.path} ({part.text})" if part.kind == expiry.PARAGRAPH else part.path


def _id(verdict: Verdict) -> str:
    return verdict.part.key if verdict.part.kind == expiry.PARAGRAPH else verdict.part.text


def _told(
    verdicts: Sequence[Verdict], commit: str | None, moved: Sequence[str] = (), stale: Sequence[str] = ()
) -> dict[str, Any]:
    return {
        "ok": True,
        "expired": [_row(verdict) for verdict in verdicts if verdict.leaves],
        "kept": [_row(verdict) for verdict in verdicts if not verdict.leaves],
        "commit": commit[:7] if commit else None,
        "moved": list(moved),
        "stale": list(stale),
    }


def _row(verdict: Verdict) -> dict[str, Any]:
    part = verdict.part
    return {
        "kind": part.kind,
        "path": part.path,
        "line": part.line or None,
        "text": part.text,
        "why": verdict.why,
        "since": verdict.since,
    }
