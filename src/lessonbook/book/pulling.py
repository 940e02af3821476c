"""Brings in what a team's book holds: HEAD fast-forward, its candidates, and what was decided there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessonbook.book import accepting, working
from lessonbook.book.candidates import Waiting, read_waiting
from lessonbook.book.content import refusal
from lessonbook.book.fetching import fetched
from lessonbook.book.history import history
from lessonbook.book.marks import unmarked
from lessonbook.book.moving import moved_commit, moves
from lessonbook.book.queue import book_locked, opened
from lessonbook.book.remembered import id_of_ref
from lessonbook.book.repository import PENDING_REFS, REJECTED_REFS, Book, exists, open_book, pending_refs
from lessonbook.book.sentences import UNCOMMITTED
from lessonbook.book.settling import move
from lessonbook.book.sharing import KEPT, check_whole, decided_by, is_above, is_kept, shared
from lessonbook.book.swapping import swap
from lessonbook.book.weighing import FILES_MOST, too_heavy
from lessonbook.core.candidate import is_candidate_id
from lessonbook.core.errors import InputError
from lessonbook.core.remote import FOLDER, Remote
from lessonbook.core.screen import PATH_MOST, short
from lessonbook.system import git
from lessonbook.system.faults import point
from lessonbook.system.files import is_folder
from lessonbook.system.gitbatch import (
    Change,
    RefMove,
    compare,
    existing,
    read_objects,
    read_tree,
    write_commits,
)
from lessonbook.system.gitindex import read_index
from lessonbook.system.gitremote import Line, connected, listed

DIVERGED = (
    "the book at {remote} and this one went different ways, and books are only fast-forwarded: nothing was changed; "
    "bring them together with git (`git pull --rebase` in {folder}), and share again"
)


@dataclass(frozen=True, slots=True)
class _Theirs:
    """What the remote's book holds, with its objects here already."""

    head: str
    pending: Mapping[str, str]
    """Id → commit."""
    kept: Mapping[str, str]
    """Every ref of ``KEPT`` → its object."""


def pull(folder: Path, where: str, now: int) -> dict[str, Any]:
    """Bring in what the book at ``where`` holds: ``{ok, remote, commit, new, gone, moved, stale}``.

    Branches there that cannot be fetched, such as one that names a commit nobody has, and those that hold too much to
    be looked into (``weighing``) are left out: ``skipped``.

    ``where`` is a folder, an ssh or https address, or the name of a remote that the book's repository knows. ``commit``
    is the new HEAD (7 hex digits) or ``None``; ``new`` are candidates that came, ``gone`` those that somebody decided.
    A missing book is made. Never raises: ``{ok: False, remote, error}``, with nothing changed.
    """
    return shared(folder, where, lambda address: _pull(folder.absolute(), address, now))


def _pull(folder: Path, address: Remote, now: int) -> dict[str, Any]:
    if not exists(folder):
        _start(folder, address)
    check_whole(folder)
    with connected(folder, address) as line:
        theirs, skipped = _fetched(folder, line)
    point("pull.fetched")
    with book_locked(folder):
        told = _joined(opened(folder), theirs, address, now)
        point("pull.moved")
        moved, stale = accepting.restack(opened(folder), now)
    told |= {"moved": sorted({*told["moved"], *moved} - {*told["new"]}), "stale": stale}
    return told | ({"skipped": sorted(skipped)} if skipped else {})


def _start(folder: Path, address: Remote) -> None:
    """Make an empty book to pull into. Raises ``InputError``, with nothing made, where that could never work."""
    if address.kind == FOLDER and not is_folder(Path(address.address)):
        raise InputError(f"{short(address.address, PATH_MOST)} is not a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} holds files and is no book; move them away first")
    with book_locked(folder):
        git.init(folder)


def _fetched(folder: Path, line: Line) -> tuple[_Theirs, list[str]]:
    """Fetch the objects, and return what the remote's refs are, and those left out; no ref of the book is touched."""
    refs, branch = listed(line)
    if branch is None:
        why = "HEAD there is on no branch that exists" if refs else "nothing was pushed there"
        raise InputError(f"{short(line.remote.address, PATH_MOST)} holds no book to pull: {why}")
    own = set(_own_refs(folder).values())
    have = enumerate(sorted(existing(folder, own)))
    line.run("update-ref", "--stdin", data="".join(f"create refs/ours/{n} {oid}\n" for n, oid in have).encode())
    skipped = fetched(line, branch, refs)
    form = "--format=%(objecttype) %(objectname) %(refname)"
    out = line.run("for-each-ref", form, "refs/theirs/").decode("utf-8", "replace")
    rows = (row.split(" ", 2) for row in out.splitlines())
    theirs = ((kind, oid, ref.removeprefix("refs/theirs/")) for kind, oid, ref in rows)
    # A candidate that is no commit is none; git would refuse the branch, and with it all that comes at once.
    found = {ref: oid for kind, oid, ref in theirs if kind == "commit" or ref.startswith("pins/")}
    if "head" not in found:
        raise InputError(f"{line.remote.address} holds no book to pull: HEAD there is no commit")
    heavy = too_heavy(
        folder, found["head"], {name: oid for name, oid in found.items() if name != "head" and oid not in own}
    )
    if "" in heavy:
        raise InputError(f"{line.remote.address} holds no book to pull: HEAD there has more than {FILES_MOST:,} files")
    skipped += [(f"refs/heads/{name}" if name.startswith("pending/") else f"refs/lessonbook/{name}") for name in heavy]
    found = {name: oid for name, oid in found.items() if name not in heavy}
    pending = {name.removeprefix("pending/"): oid for name, oid in found.items() if name.startswith("pending/")}
    kept = {f"refs/lessonbook/{name}": oid for name, oid in found.items() if name.partition("/")[0] != "pending"}
    return _Theirs(
        head=found["head"],
        pending={id: oid for id, oid in pending.items() if is_candidate_id(id)},
        kept={ref: oid for ref, oid in kept.items() if is_kept(ref)},
    ), skipped


def _own_refs(folder: Path) -> dict[str, str]:
    """Every ref of the book that travels, with its commit: what the remote need not send."""
    book = open_book(folder)
    if book is None:
        return {}
    refs, kept = pending_refs(book, *KEPT)
    own = {ref.ref: ref.commit for ref in refs} | kept
    return own | ({book.head_ref: book.head} if book.head else {})


def _joined(book: Book, theirs: _Theirs, address: Remote, now: int) -> dict[str, Any]:
    """Move everything at once: HEAD, the local candidates onto it, what came, and what is decided."""
    forward = _is_forward(book, theirs.head, address)
    refs, kept = pending_refs(book, *KEPT)
    waiting = read_waiting(book, refs)
    decided = decided_by(book.but(head=theirs.head) if forward else book, theirs.kept)
    gone = [w for w in waiting if w.direct and not w.held and unmarked(w.proposal.raw) in decided.get(w.id, ())]
    here = {*decided, *(w.id for w in waiting), *(id_of_ref(ref) for ref in kept if ref.startswith(REJECTED_REFS))}
    fresh = {id: oid for id, oid in theirs.pending.items() if id not in here}
    steps = [RefMove(PENDING_REFS + id, None, oid) for id, oid in fresh.items()]
    steps += [RefMove(ref, None, oid) for ref, oid in theirs.kept.items() if ref not in kept]
    steps += [RefMove(w.ref, w.commit, None) for w in gone]
    told = {"commit": theirs.head[:7] if forward else None, "new": sorted(fresh), "gone": [w.id for w in gone]}
    if forward:
        return {**told, "moved": _forwarded(book, theirs.head, [w for w in waiting if w not in gone], steps, now)}
    move(book, steps, "lessonbook: pull")
    return {**told, "moved": []}


def _is_forward(book: Book, head: str, address: Remote) -> bool:
    """Whether HEAD has to move to ``head``. Raises ``InputError`` where that would leave something behind."""
    if book.head is None:
        return True
    accepting.head_of(book)
    accepting.check_nothing_in_progress(book)
    if is_above(book.folder, head, book.head):
        return False
    if is_above(book.folder, book.head, head) or _is_empty_start(book):
        return True
    raise InputError(DIVERGED.format(remote=address.address, folder=book.folder))


def _is_empty_start(book: Book) -> bool:
    """Whether the book is only the empty one that offering starts: nothing is left behind by leaving it."""
    data = read_objects(book.folder, (entry.oid for entry in read_tree(book.folder, book.head or "").values()))
    return len(history(book)) == 1 and not any(found.data for found in data.values())


def _between(book: Book, head: str) -> tuple[Change, ...]:
    """What ``head`` holds differently from the book's HEAD."""
    if book.head is None:
        return tuple(Change(path, None, entry) for path, entry in read_tree(book.folder, head).items())
    return compare(book.folder, [(head, book.head)]).get(head, ())


def _forwarded(book: Book, head: str, waiting: Sequence[Waiting], steps: list[RefMove], now: int) -> list[str]:
    """Move HEAD to ``head`` with its files, and the candidates that wait here onto it; return their ids."""
    changes = _between(book, head)
    why = refusal(changes)
    if why:
        raise InputError(f"the other book cannot be taken over by itself: {why}; look at it, and pull it with git")
    old = read_tree(book.folder, book.head) if book.head else {}
    with working.index_held(book):
        index = read_index(book.folder)
        dirty = working.uncommitted(book, index, (change.path for change in changes), old)
        if dirty:
            raise InputError(UNCOMMITTED.format(folder=book.folder, names=", ".join(dirty)))
        forward = moves(book, waiting, accepting.target_of(book, head, waiting, ()), on=head)
        made = write_commits(book.folder, [moved_commit(w, p, head) for w, p in forward.moved], now)
        all_steps = [RefMove(book.head_ref, book.head, head), *steps]
        all_steps += [RefMove(w.ref, w.commit, new) for (w, _), new in zip(forward.moved, made, strict=True)]
        found = read_objects(book.folder, (change.new.oid for change in changes if change.new))
        blobs = {oid: item.data for oid, item in found.items()}
        swap(book, index, changes, blobs, all_steps, "lessonbook: pull", f"the book is at {head[:7]} now")
    return [w.id for w, _ in forward.moved]
