"""Brings what this book holds to a team's: HEAD fast-forward, new candidates, and what was decided."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lessonbook.book import accepting
from lessonbook.book.candidates import message_of, read_waiting
from lessonbook.book.content import shown
from lessonbook.book.marks import unmarked
from lessonbook.book.queue import opened
from lessonbook.book.remembered import candidate_commit, id_of_ref
from lessonbook.book.repository import PENDING_REFS, PIN_REFS, REJECTED_REFS, Book, exists, is_pin, pending_refs
from lessonbook.book.sharing import KEPT, check_whole, decided_by, is_above, shared
from lessonbook.core.errors import InputError, LessonbookError, StoreError
from lessonbook.core.remote import Remote
from lessonbook.system import git
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import Change, compare, read_objects
from lessonbook.system.gitremote import Line, connected, listed, other_end

_RACE = re.compile(
    r"cannot lock ref|\.lock': File exists|incorrect old value|stale info|fetch first|non-fast-forward|already exists"
)
"""What git says where somebody else pushed between our look and our push."""
_AT_ONCE = 1000
"""How many refs are removed in one push: each is named on the command line, which takes two megabytes."""
LEFT = "what is new is at {remote} now, but what was decided here is in its queue still ({error}): pull, and push again"
BUSY = (
    "somebody pushes to the book at {remote} just now, or something is in the way there ({error}): pull first, "
    "and try again; nothing was pushed"
)
BEHIND = "the book at {remote} has what this one has not: pull first; nothing was pushed"


def push(folder: Path, where: str) -> dict[str, Any]:
    """Bring what this book holds to the one at ``where``: ``{ok, remote, commit, new, gone, withheld}``.

    ``where`` is as for ``pull``. ``commit`` is HEAD (7 hex digits) where the remote did not have it, ``new`` are
    candidates that went there, ``gone`` those that left its queue because they were decided here, ``withheld`` those
    that hold a secret. HEAD and what is new go there all or none, and what is ``gone`` leaves after that. Never raises:
    ``{ok: False, remote, error}``.
    """
    return shared(folder, where, lambda address: _push(folder.absolute(), address))


def _push(folder: Path, address: Remote) -> dict[str, Any]:
    if not exists(folder):
        raise InputError(f"{folder} holds no book to push")
    check_whole(folder)
    book = opened(folder, recover=False)
    head = accepting.head_of(book)
    refs, kept = pending_refs(book, *KEPT)
    with connected(folder, address) as line:
        there, branch = listed(line)
        branch = branch or (book.head_ref if book.head_ref.startswith("refs/heads/") else "refs/heads/main")
        before = there.get(branch)
        if before is not None and not is_above(folder, before, head):
            raise InputError(BEHIND.format(remote=address.address))
        _check_history(book, head, before)
        rejected = {id_of_ref(ref) for ref in there if ref.startswith(REJECTED_REFS)}
        new = [ref for ref in refs if ref.ref not in there and ref.id not in rejected]
        withheld = [*_with_secrets(book, {w.id: w.changes for w in read_waiting(book, new)})]
        sent = [ref for ref in new if ref.id not in withheld]
        gone = _settled(folder, there, decided_by(book, kept))
        moves = ({branch: head} if before != head else {}) | {ref.ref: ref.commit for ref in sent}
        moves |= _clean(book, {ref: oid for ref, oid in kept.items() if ref not in there})
        _sent(line, moves, {ref: there[ref] for ref in gone}, there)
    return {
        "commit": head[:7] if before != head else None,
        "new": [ref.id for ref in sent],
        "gone": [ref.removeprefix(PENDING_REFS) for ref in gone],
        "withheld": withheld,
    }


def _settled(folder: Path, there: Mapping[str, str], decided: Mapping[str, set[bytes]]) -> list[str]:
    """The remote's pending branches that were decided here, where what stands there is what was decided on."""
    asked = {ref: oid for ref, oid in there.items() if ref.startswith(PENDING_REFS)}
    asked = {ref: oid for ref, oid in asked.items() if ref.removeprefix(PENDING_REFS) in decided}
    found = read_objects(folder, asked.values())
    return [
        ref
        for ref, oid in asked.items()
        if oid in found and unmarked(message_of(found[oid].data).raw) in decided[ref.removeprefix(PENDING_REFS)]
    ]


def _check_history(book: Book, head: str, before: str | None) -> None:
    """Refuse to send a commit that brings a secret: it could not be called back."""
    out = git.run(book.folder, "rev-list", "--parents", head, *([f"^{before}"] if before else [])).decode()
    rows = [line.split() for line in out.splitlines()]
    changed = compare(book.folder, ((row[0], row[1] if len(row) > 1 else None) for row in rows))
    bad = next(iter(_with_secrets(book, changed).values()), None)
    if bad:
        raise InputError(f"{bad} holds, or held, what looks like a secret in a commit to be pushed; nothing was pushed")


def _clean(book: Book, kept: Mapping[str, str]) -> dict[str, str]:
    """Those refs that hold no secret: rejecting is what one does to a candidate that holds one."""
    pins = {ref: oid for ref, oid in kept.items() if is_pin(ref)}
    notes = read_objects(book.folder, pins.values())
    clean = {ref: oid for ref, oid in pins.items() if oid in notes and not _is_secret(notes[oid].data)}
    others = {ref: oid for ref, oid in kept.items() if not ref.startswith(PIN_REFS)}
    return clean | _clean_candidates(book, others)


def _clean_candidates(book: Book, kept: Mapping[str, str]) -> dict[str, str]:
    records = read_objects(book.folder, kept.values())
    commits = {ref: candidate_commit(oid, records.get(oid)) for ref, oid in kept.items()}
    texts = read_objects(book.folder, commits.values())
    changed = compare(book.folder, ((oid, None) for oid in dict.fromkeys(commits.values()) if oid in texts))
    bad = _with_secrets(book, changed)
    return {ref: kept[ref] for ref, oid in commits.items() if oid not in bad}


def _with_secrets(book: Book, changed: Mapping[str, Sequence[Change]]) -> dict[str, str]:
    """Those keys of ``changed`` whose changes bring what looks like a secret, with the first file that does."""
    every = [change for changes in changed.values() for change in changes]
    found = read_objects(book.folder, (entry.oid for change in every for entry in (change.old, change.new) if entry))
    blobs = {oid: item.data for oid, item in found.items()}
    told = {key: next((c for c in changes if _brings_secret(c, blobs)), None) for key, changes in changed.items()}
    return {key: shown(change.path) for key, change in told.items() if change}


def _brings_secret(change: Change, blobs: Mapping[str, bytes]) -> bool:
    old, new = (blobs.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
    known = set(old.splitlines())
    lines = b"\n".join(line for line in new.splitlines() if line not in known)
    return _is_secret(lines)


def _is_secret(data: bytes) -> bool:
    from lessonbook.core.redact import redact

    return redact(data.decode("utf-8", "replace")).count > 0


def _sent(line: Line, moves: Mapping[str, str], gone: Mapping[str, str], seen: Mapping[str, str]) -> None:
    """Send refs, all or none, and then remove others; ``seen`` is what stood there before.

    Not in one push: where the remote lacks objects, git refuses to move a ref and removes others all the same. A
    candidate would be gone there, and the HEAD that holds it not come. The first go as one pattern, so that any number
    of them fits.
    """
    if moves:
        rows = [f"create refs/send/{ref.removeprefix('refs/')} {oid}\n" for ref, oid in moves.items()]
        line.run("update-ref", "--stdin", data="".join(rows).encode())
        try:
            _push_refs(line, ["refs/send/*:refs/*"])
        except StoreError as error:
            raise _why(line, error, {ref: seen.get(ref) for ref in {*moves, *gone}}) from error
        point("push.sent")
    for some in (list(gone.items())[at : at + _AT_ONCE] for at in range(0, len(gone), _AT_ONCE)):
        leases = [f"--force-with-lease={ref}:{oid}" for ref, oid in some]
        try:
            _push_refs(line, [f":{ref}" for ref, _ in some], leases)
        except StoreError as error:
            raise InputError(LEFT.format(remote=line.remote.address, error=error)) from error
    if gone:
        point("push.removed")


def _push_refs(line: Line, specs: Sequence[str], leases: Sequence[str] = ()) -> None:
    options = ("--atomic", "--no-verify", "--porcelain", "--recurse-submodules=no", "--quiet", *leases)
    line.talk("push", *options, *other_end(line, "receive"), "--", line.remote.address, *specs)


def _why(line: Line, error: StoreError, seen: Mapping[str, str | None]) -> LessonbookError:
    """What to tell the person of a push that was refused."""
    if "checked out" in str(error):
        why = "is a book somebody works in; share over a bare one (`git init --bare`)"
        return InputError(f"{line.remote.address} {why}")
    there = listed(line)[0]
    if any(there.get(ref) != oid for ref, oid in seen.items()):
        return InputError(BEHIND.format(remote=line.remote.address))
    return InputError(BUSY.format(remote=line.remote.address, error=error)) if _RACE.search(str(error)) else error
