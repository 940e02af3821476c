"""The book's working files and git's index: checked before HEAD moves, brought along after it, finished after a crash.

Only the paths of one change are ever touched. The order is: git's index lock is ours, the new index lies ready, an
intent is written, the branches move, the working files follow, the index is replaced, the intent goes. Whoever takes
the book's lock next finishes what a crash left (``finish``).
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lessonbook.book import intent, settling
from lessonbook.book.content import shown
from lessonbook.book.repository import Book
from lessonbook.core.errors import BusyError, StoreError
from lessonbook.system import files, locks
from lessonbook.system.faults import point
from lessonbook.system.gitbatch import (
    Change,
    Entry,
    blob_id,
    read_objects,
    read_tree,
)
from lessonbook.system.gitindex import CONFLICT, edit_index, read_index

Index = Mapping[bytes, Entry]
_TOKEN = b"lessonbook holds this lock while it accepts a candidate\n"
_WAIT = 2.0


@contextmanager
def index_held(book: Book) -> Iterator[None]:
    """Hold git's own index lock, so that no git command can commit or check out in between. Raises ``BusyError``."""
    with ExitStack() as held:
        try:
            held.enter_context(locks.claimed(book.index_lock, _TOKEN, wait=_WAIT))
        except BusyError as error:
            raise BusyError(
                f"git's own lock {book.index_lock} is held: another git command works in the book, or one was cut off "
                "there; nothing was changed; try again when it has finished."
            ) from error
        files.remove_leftovers(book.index_lock)
        yield


def uncommitted(book: Book, index: Index, paths: Iterable[bytes], tree: Mapping[bytes, Entry]) -> list[str]:
    """Return the names of those paths whose index entry or working file is not what ``tree`` (HEAD's) holds.

    A file that only differs by CRLF line ends is unchanged. One that cannot be replaced safely (a link, a second hard
    link, read-only, reached through a link) is named with the reason. No filter runs: we compare bytes.
    """
    names = []
    for path in paths:
        entry = tree.get(path)
        why = _unusable(book.folder, path)
        if why:
            names.append(f"{shown(path)} ({why})")
        elif index.get(path) != entry or not _same(_bytes(book.folder, path), entry):
            names.append(shown(path))
    return names


def lay_ready(book: Book, index: Index, steps: Sequence[Change]) -> None:
    """Write the index that will hold ``steps``."""
    _prepare_index(book, index, {step.path: step.new for step in steps})
    point("accept.index-ready")


def carry_out(book: Book, steps: Sequence[Change], blobs: Mapping[str, bytes]) -> None:
    """Bring the working files and the index along, after HEAD moved. Raises ``StoreError``; ``finish`` redoes it."""
    point("accept.moved")
    _write_files(book, steps, blobs)
    files.move(_new_index_of(book), book.index)
    point("accept.index-replaced")
    files.remove(book.intent)
    point("accept.finished")


def discard(book: Book) -> None:
    """Forget what ``lay_ready`` wrote, because HEAD did not move, and what a git left that was killed at it."""
    files.remove(_new_index_of(book))
    files.remove(_new_index_of(book).with_suffix(".lock"))


def finish(book: Book, wait: float = settling.WAIT) -> None:
    """Finish what a crash of an earlier call left half done; call it with the book's lock held.

    Branches that were to move together all do, or none (``settling``). Where HEAD holds the new state of a path, and
    the index or the working file still is as it was before, they are brought along; where a person has changed them
    since, they stay. Where HEAD never moved, nothing happens. Raises ``BusyError`` where a lock of git's is left that
    may still be somebody's after ``wait`` seconds.
    """
    if locks.release_dead(book.index_lock, _TOKEN):
        for path in (book.intent, _new_index_of(book), book.index_lock):
            files.remove_leftovers(path)
        discard(book)
    meant = intent.read(book)
    if meant is None:
        return
    if meant.moves:
        settling.settle(book, meant.moves, wait)
    if meant.changes:
        _bring_along(book, meant.changes)
    files.remove(book.intent)


def _bring_along(book: Book, steps: Sequence[Change]) -> None:
    with index_held(book):
        tree = read_tree(book.folder, book.head) if book.head else {}
        due = [step for step in steps if tree.get(step.path) == step.new]
        index = read_index(book.folder)
        _prepare_index(book, index, {step.path: step.new for step in due if index.get(step.path) == step.old})
        found = read_objects(book.folder, [step.new.oid for step in due if step.new])
        for step in due:
            files.remove_leftovers(_path(book.folder, step.path))
        _write_files(book, due, {oid: item.data for oid, item in found.items()})
        if _new_index_of(book).exists():
            files.move(_new_index_of(book), book.index)


def _write_files(book: Book, steps: Iterable[Change], blobs: Mapping[str, bytes]) -> None:
    for step in sorted(steps, key=lambda step: step.new is not None):
        if _unusable(book.folder, step.path):
            continue  # a person put something else there after a crash
        now = _bytes(book.folder, step.path)
        if not _same(now, step.old):
            continue  # finished before the crash, or changed by a person since
        if step.new is None:
            files.remove(_path(book.folder, step.path), up_to=book.folder)
        else:
            data = blobs.get(step.new.oid)
            if data is None:
                raise StoreError(
                    f"{shown(step.path)} of HEAD cannot be read: it is damaged or missing in {book.folder}"
                )
            if now is not None and step.old and blob_id(now, step.old.oid) != step.old.oid and b"\r" not in data:
                data = data.replace(b"\n", b"\r\n")  # this file is kept with CRLF line ends here
            files.write_atomic(_path(book.folder, step.path), data, follow=False)
        point("accept.file-written")


def _prepare_index(book: Book, index: Index, entries: Mapping[bytes, Entry | None]) -> None:
    discard(book)
    if not entries:
        return
    data = files.read_bytes(book.index)
    if data is not None:
        files.write_atomic(_new_index_of(book), data)
    edit_index(book.git_dir, _new_index_of(book), _racy(book, index) | dict(entries), book.head or "")


def _racy(book: Book, index: Index) -> dict[bytes, Entry | None]:
    """The entries whose file changed in the second the index was last written, or later.

    git only sees an edit of these by reading them, and only while the index is as old as they are. The new index is
    younger, so it must know nothing of their times.
    """
    try:
        since = int(book.index.stat().st_mtime)
    except FileNotFoundError:
        return {}
    found: dict[bytes, Entry | None] = {}
    for path, entry in index.items():
        try:
            changed = int(_path(book.folder, path).lstat().st_mtime)
        except OSError:  # it is gone, which git sees without its time
            continue
        if changed >= since and entry != CONFLICT and entry.mode != "160000":
            found[path] = entry
    return found


def _same(data: bytes | None, entry: Entry | None) -> bool:
    if data is None or entry is None:
        return data is None and entry is None
    return entry.oid == blob_id(data, entry.oid) or (
        b"\r\n" in data and entry.oid == blob_id(data.replace(b"\r\n", b"\n"), entry.oid)
    )


def _unusable(folder: Path, path: bytes) -> str | None:
    """Why the working file may not be written or removed; ``None`` where it may."""
    at = folder
    parts = path.decode("utf-8", "surrogateescape").split("/")
    for number, part in enumerate(parts, 1):
        at = at / part
        try:
            found = at.lstat()
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            return "a symbolic link is in its place"
        if number < len(parts) and not stat.S_ISDIR(found.st_mode):
            return "a file is in the place of its folder"
    if not stat.S_ISREG(found.st_mode):
        return "it is not a regular file"
    if found.st_nlink > 1:
        return "it has a second hard link"
    return None if found.st_mode & 0o222 else "it is read-only"


def _bytes(folder: Path, path: bytes) -> bytes | None:
    return files.read_bytes(_path(folder, path))


def _path(folder: Path, path: bytes) -> Path:
    return folder / path.decode("utf-8", "surrogateescape")


def _new_index_of(book: Book) -> Path:
    return book.git_dir / "lessonbook-index"
