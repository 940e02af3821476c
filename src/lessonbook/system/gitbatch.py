"""Many git objects with one process each way: read, compare, write and move, whatever their number.

Paths are bytes as git stores them; object ids are lower-case hex, of SHA-1 or SHA-256 repositories alike. Everything
written to a process is written before anything is read back (git before 2.49 does not flush in between).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lessonbook.core.errors import BusyError, StoreError
from lessonbook.core.value import Value
from lessonbook.system import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Item = TypeVar("Item")
    Read = TypeVar("Read")


class Entry(Value):
    """What a tree holds at a path: its mode as git writes it, such as ``100644``, and the object's id."""

    mode: str
    oid: str


class Change(Value):
    """One path that two trees hold differently; ``None`` where a side does not hold it."""

    path: bytes
    old: Entry | None
    new: Entry | None


class Found(Value):
    """One object: its id, its type (``blob``, ``commit``, …) and its bytes."""

    oid: str
    kind: str
    data: bytes


class Write(Value):
    """One path of a new commit: its new blob's bytes, or the id of a blob that exists, or neither to remove it."""

    path: bytes
    data: bytes | None = None
    oid: str | None = None
    mode: str = "100644"


class NewCommit(Value):
    """A commit to make. ``author`` is a raw header line's value (``name <email> seconds zone``), kept to the byte."""

    parent: str | int | None
    """A commit's id, or the position (from 0) of an earlier one of the same batch, or ``None`` for a root."""
    author: bytes
    message: bytes
    writes: tuple[Write, ...]
    encoding: bytes | None = None
    committer: bytes = f"{git.NAME} <{git.EMAIL}>".encode()
    """Who commits it, as ``name <email>``; our own identity by default."""


class RefMove(Value):
    """One step of a transaction: ``ref`` from ``old`` to ``new``; ``None`` where it does not exist on that side."""

    ref: str
    old: str | None
    new: str | None


AUTHOR = re.compile(rb"(?:[^<>\0\n]* )?<[^<>\0\n]*> \d{1,19} [+-]\d{4}\Z")
"""The author lines that can be written again as they are; git refuses seconds of more than 64 bits."""


def blob_id(data: bytes, like: str) -> str:
    """Return the id git gives a blob of these bytes, in the hash that the id ``like`` is of. No filter ever runs."""
    import hashlib

    digest = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


OBJECTS = ("cat-file", "--batch", "--buffer")
"""The command that ``read_objects`` asks, for who starts it ahead."""
CHANGES = (
    *("diff-tree", "--stdin", "-r", "-z", "--root", "--always", "--no-abbrev", "--no-renames"),
    *("--no-ext-diff", "--no-textconv", "--ignore-submodules=none"),
)
"""The command that ``compare`` asks, for who starts it ahead."""


def read_objects(folder: Path, names: Iterable[str], started: git.Started | None = None) -> dict[str, Found]:
    """Return each object named (an id), in one process; what the repository lacks or cannot read is left out.

    ``started`` is that process where it runs already.
    """
    ready = [started] if started else []
    return spared(
        lambda asked: _read_objects(ready.pop() if ready else git.Started(folder, *OBJECTS), asked),
        list(dict.fromkeys(names)),
    )


def existing(folder: Path, names: Iterable[str]) -> frozenset[str]:
    """Return those of the objects named (ids) that the repository can find, in one process; none is read whole."""
    return frozenset(sizes(folder, names))


def sizes(folder: Path, names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Return the type and the number of bytes of each object named (an id), in one process; none is read whole.

    What the repository cannot find is left out.
    """
    asked = "".join(f"{name}\n" for name in dict.fromkeys(names))
    if not asked:
        return {}
    out = git.run(folder, "cat-file", "--batch-check", data=asked.encode()).decode().splitlines()
    rows = (line.split(" ") for line in out if not line.endswith(" missing"))
    return {oid: (kind, int(size)) for oid, kind, size in rows}


def spared(read: Callable[[Sequence[Item]], dict[str, Read]], items: Sequence[Item]) -> dict[str, Read]:
    """Return what ``read`` returns for all items at once or, where git fails, for as many as it can read.

    git ends at the first damaged object, which must not take the others along. Halving finds it in few processes.
    """
    if not items:
        return {}
    try:
        return read(items)
    except StoreError:
        half = len(items) // 2
        return spared(read, items[:half]) | spared(read, items[half:]) if half else {}


def _read_objects(process: git.Started, asked: Sequence[str]) -> dict[str, Found]:
    out = process.answer("".join(f"{name}\n" for name in asked).encode())
    found: dict[str, Found] = {}
    at = 0
    for name in asked:
        end = out.index(b"\n", at)
        head = out[at:end].split(b" ")
        at = end + 1
        if len(head) == 3 and head[2].isdigit():
            size = int(head[2])
            found[name] = Found(head[0].decode(), head[1].decode(), out[at : at + size])
            at += size + 1
    return found


def read_tree(folder: Path, commit: str) -> dict[bytes, Entry]:
    """Return every path of the commit's tree, folders flattened."""
    return dict(_entries(git.run(folder, "ls-tree", "-r", "-z", "--full-tree", commit)))


def _entries(out: bytes) -> Iterable[tuple[bytes, Entry]]:
    for item in out.split(b"\0")[:-1]:
        told, _, path = item.partition(b"\t")
        mode, _, oid = told.decode().split(" ")
        yield path, Entry(mode, oid)


def compare(
    folder: Path, pairs: Iterable[tuple[str, str | None]], started: git.Started | None = None
) -> dict[str, tuple[Change, ...]]:
    """Return what each commit of ``(commit, base)`` changes against its base (``None``: against nothing).

    What cannot be compared, because an object is damaged or missing, is left out. ``started`` is the process that
    tells, where it runs already.
    """
    ready = [started] if started else []
    return spared(
        lambda some: _compare(ready.pop() if ready else git.Started(folder, *CHANGES), some),
        list(dict(pairs).items()),
    )


def _compare(process: git.Started, pairs: Sequence[tuple[str, str | None]]) -> dict[str, tuple[Change, ...]]:
    lines = [f"{tip} {base}\n" if base else f"{tip}\n" for tip, base in pairs]
    out = process.answer("".join(lines).encode())
    changed: dict[str, tuple[Change, ...]] = {}
    tip, seen = "", list[Change]()
    fields = iter(out.split(b"\0")[:-1])
    for field in fields:
        if field.startswith(b":"):
            mode, to_mode, oid, to_oid, _ = field[1:].decode().split(" ")
            seen.append(Change(next(fields), _entry(mode, oid), _entry(to_mode, to_oid)))
        else:
            tip, seen = field.decode().strip(), []
        changed[tip] = tuple(seen) if len(seen) < 2 else (*changed[tip], seen[-1])
    return changed


def _entry(mode: str, oid: str) -> Entry | None:
    return None if mode == "000000" else Entry(mode, oid)


def write_commits(folder: Path, commits: Sequence[NewCommit], now: int) -> list[str]:
    """Write commits with their trees and blobs, in one pack or a few loose objects; return their ids, in order.

    Each is its parent's tree with its ``writes`` made. No branch is made, moved or locked: the scratch name the stream
    needs is emptied before it ends.
    """
    if not commits:
        return []
    stream = [b"feature done\n"]
    for number, commit in enumerate(commits, 1):
        stream += _commit_stream(commit, number, now)
    stream += [b"get-mark :%d\n" % number for number in range(1, len(commits) + 1)]
    stream.append(b"reset %s\n\ndone\n" % _SCRATCH)
    words = ("fast-import", "--quiet", "--date-format=raw-permissive")
    made = git.run(folder, *words, data=b"".join(stream)).decode().split()
    if len(made) != len(commits):
        raise StoreError(f"git fast-import answered {len(made)} of {len(commits)} commits in {folder}.")
    return made


_FEW, _NO_SYNC = 16, ("-c", "core.fsync=none")  # refs are all that such a move writes
_SCRATCH = b"refs/lessonbook/scratch"


def _commit_stream(commit: NewCommit, number: int, now: int) -> list[bytes]:
    lines = [
        b"commit %s\nmark :%d\nauthor %s\n" % (_SCRATCH, number, commit.author),
        b"committer %s %d +0000\n" % (commit.committer, now),
        b"encoding %s\n" % commit.encoding if commit.encoding else b"",
        b"data %d\n%s\n" % (len(commit.message), commit.message),
        _from(commit.parent),
    ]
    for write in sorted(commit.writes, key=lambda write: write.data is not None or write.oid is not None):
        lines.append(_write_stream(write))
    return [*lines, b"\n"]


def _from(parent: str | int | None) -> bytes:
    if parent is None:
        return b""
    return b"from :%d\n" % (parent + 1) if isinstance(parent, int) else b"from %s\n" % parent.encode()


def _write_stream(write: Write) -> bytes:
    path = _quoted(write.path)
    if write.data is not None:
        return b"M %s inline %s\ndata %d\n%s\n" % (write.mode.encode(), path, len(write.data), write.data)
    if write.oid is not None:
        return b"M %s %s %s\n" % (write.mode.encode(), write.oid.encode(), path)
    return b"D %s\n" % path


def _quoted(path: bytes) -> bytes:
    return b'"' + re.sub(rb'[\x00-\x1f"\\]', lambda match: b"\\%03o" % match[0][0], path) + b'"'


HELD = (
    "git's own lock {lock} is held: another git command works there, or one was cut off; nothing was done; "
    "try again when it has finished"
)
_HELD = re.compile(rb"Unable to create '([^\n]*)': File exists")


def move_refs(
    folder: Path, moves: Sequence[RefMove], reason: str, *, start_log: bool = False, git_dir: Path | None = None
) -> bool:
    """Move, make and remove refs in one transaction: all, or none where one is not where it was said to be.

    Symbolic refs among them are not followed. ``reason`` goes into the refs' logs where they have one; ``start_log``
    gives them one. Returns whether it happened; raises ``BusyError`` where git's lock of one is held, and
    ``StoreError`` only for trouble that is neither: then some may have moved.

    Durable when it returns. git makes each ref durable before it writes the next, which for a thousand takes longer
    than all else together; where ``git_dir`` says where the refs lie, they are made so once all are written.
    """
    together = git_dir is not None and len(moves) > _FEW and not (git_dir / "commondir").exists()
    stream = [b"start\0"]
    for move in moves:
        ref, old, new = move.ref.encode(), (move.old or "").encode(), (move.new or "").encode()
        kept = b"create %s\0%s\0" % (ref, new) if move.old is None else b"update %s\0%s\0%s\0" % (ref, new, old)
        stream.append(b"delete %s\0%s\0" % (ref, old) if move.new is None else kept)
    stream += [b"prepare\0", b"commit\0"]
    options = ("--no-deref", *(["--create-reflog"] if start_log else []), "-m", reason, "--stdin", "-z")
    done = git.attempt(folder, *(_NO_SYNC if together else ()), "update-ref", *options, data=b"".join(stream))
    held = _HELD.search(done.stderr) if done.returncode else None
    if held:
        raise BusyError(HELD.format(lock=held[1].decode("utf-8", "replace")))
    if done.returncode and b"cannot lock ref" not in done.stderr:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise StoreError(f"git could not move the branches of {folder}: {said}")
    if done.returncode == 0 and together and git_dir is not None:
        from lessonbook.system.files import sync_files

        sync_files(git_dir / move.ref for move in moves)
    return done.returncode == 0
