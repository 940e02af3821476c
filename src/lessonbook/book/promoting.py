"""Turns an accepted lesson into a branch of a project's own repository, for its people to review and merge.

Plumbing only: one new commit on HEAD of the project and one new branch ``lessonbook/<id>``. Its working files, index,
HEAD and other branches stay as they are, nothing is pushed, and none of its programs runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessonbook.book.candidates import COMPACTION, LESSON
from lessonbook.book.content import AGENTS, refusal, shown
from lessonbook.book.history import Step, accepted, history
from lessonbook.book.placing import check_kind, check_place
from lessonbook.book.queue import told
from lessonbook.book.repository import Book
from lessonbook.book.sentences import SECRET
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.screen import PATH_MOST, short
from lessonbook.system import git
from lessonbook.system.faults import point
from lessonbook.system.files import expanded, is_folder
from lessonbook.system.gitbatch import (
    Change,
    Entry,
    NewCommit,
    RefMove,
    Write,
    compare,
    move_refs,
    read_objects,
    read_tree,
    write_commits,
)

BRANCH = "lessonbook/"
"""How the branches made in projects are called; the candidate's id follows."""
SKILLS = b".agents/skills/"
"""Where a project keeps skills that agents find there."""


@dataclass(frozen=True, slots=True)
class _Project:
    """A project's repository as one moment shows it."""

    folder: Path
    head: str
    tree: dict[bytes, Entry]


def promote(folder: Path, id: str, project: Path, now: int) -> dict[str, Any]:
    """Make branch ``lessonbook/<id>`` in the repository of ``project``: ``{ok, id, branch, commit, files, project}``.

    A rule becomes a paragraph at the end of the project's ``AGENTS.md``, which is made where it is missing; a skill
    becomes ``.agents/skills/<name>/…``. Never raises: ``{ok: False, id, error}``, with nothing made.
    """
    return told(folder, id, lambda book, id: _promote(book, id, expanded(project), now))


def _promote(book: Book, id: str, folder: Path, now: int) -> dict[str, Any]:
    step = _step(book, id)
    changes = compare(book.folder, [(step.commit, step.parent)]).get(step.commit, ())
    why = refusal(changes)
    if why:
        raise InputError(why)
    blobs = read_objects(book.folder, (entry.oid for c in changes for entry in (c.old, c.new) if entry))
    data = {oid: found.data for oid, found in blobs.items()}
    project = _opened(folder, book)
    ref = f"refs/heads/{BRANCH}{id}"
    _check_free(project.folder, ref)
    writes = _writes(project, id, changes, data)
    message = _message(step, id)
    commit = NewCommit(project.head, step.message.author, message, writes, step.message.encoding)
    made = write_commits(project.folder, [commit], now)[0]
    point("promote.written")
    if not move_refs(project.folder, [RefMove(ref, None, made)], f"lessonbook: promote {id}"):
        raise StoreError(
            f"git could not make the branch {BRANCH}{id} in {folder}: something else is in the place of that name; "
            "nothing was changed"
        )
    point("promote.made")
    files = [shown(write.path) for write in writes]
    branch = BRANCH + id
    return {"ok": True, "id": id, "branch": branch, "commit": made[:7], "files": files, "project": str(folder)}


def _check_free(folder: Path, ref: str) -> None:
    """Raise ``InputError`` where a branch of this name, or one that git cannot keep beside it, is there."""
    # A name for a branch that is not there is one all the same, which `for-each-ref` does not show.
    named = git.attempt(folder, "symbolic-ref", "--quiet", ref).returncode == 0
    taken = [ref] if named else git.run(folder, "for-each-ref", "--format=%(refname)", ref, _ROOM).decode().splitlines()
    wanted = ref.removeprefix("refs/heads/")
    for name in (name.removeprefix("refs/heads/") for name in taken):
        if name == wanted:
            raise InputError(f"{folder} has a branch {name} already; merge or delete it first")
        if name.startswith(f"{wanted}/") or wanted.startswith(f"{name}/"):
            raise InputError(
                f"{folder} has a branch {name}, beside which git keeps none called {wanted}; rename it first"
            )


_ROOM = f"refs/heads/{BRANCH.rstrip('/')}"


def _step(book: Book, id: str) -> Step:
    step = accepted(history(book)).get(id)
    if step is None:
        raise InputError(f"no commit of the book says that it accepted {id}; accept it first")
    if step.message.subject.startswith(COMPACTION):
        raise InputError(f"{id} only shortens the book's AGENTS.md, so there is nothing in it for a project")
    return step


def _opened(folder: Path, book: Book) -> _Project:
    asked = ("rev-parse", "--git-common-dir", "--verify", "HEAD^{commit}")
    done = git.attempt(folder, *asked) if is_folder(folder) else None
    if done is None:
        raise InputError(f"{short(folder, PATH_MOST)} is not a folder")
    lines = done.stdout.decode("utf-8", "surrogateescape").splitlines()
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").partition("\n")[0].removeprefix("fatal: ")
        raise InputError(
            f"{folder} has no commit yet to put a branch on"
            if lines
            else f"{folder} is no repository to work in: {said}"
        )
    if (folder / lines[0]).resolve() == book.git_dir.resolve():
        raise InputError(f"{folder} is the book itself")
    return _Project(folder, lines[1], read_tree(folder, lines[1]))


def _writes(project: _Project, id: str, changes: tuple[Change, ...], data: dict[str, bytes]) -> tuple[Write, ...]:
    writes = []
    for change in changes:
        if change.new is None:
            continue
        old, new = (data.get(entry.oid, b"") if entry else b"" for entry in (change.old, change.new))
        if change.path == AGENTS:
            writes += _rule(project, old, new)
        elif change.path.startswith(b"skills/"):
            writes += _skill(project, SKILLS + change.path.removeprefix(b"skills/"), new)
    if not writes:
        raise InputError(f"{id} brings nothing that {project.folder} does not have already")
    for write in writes:
        _check_secrets(write)
    return tuple(writes)


def _rule(project: _Project, old: bytes, new: bytes) -> list[Write]:
    """The project's ``AGENTS.md`` with the paragraphs that the candidate brought at its end."""
    from lessonbook.core.paragraphs import split

    texts = [side.decode("utf-8", "surrogateescape").removeprefix("\ufeff") for side in (old, new)]
    before, after = ([p.text.replace("\r\n", "\n").strip("\n") for p in split(text)] for text in texts)
    there = _regular(project, AGENTS)
    if b"\0" in there:
        raise InputError(f"AGENTS.md of {project.folder} is not text in UTF-8; nothing can be added to it")
    present = there.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    held = {p.text.strip("\n") for p in split(present)}
    brought = [text for text in after if text.strip() and text not in before and text not in held]
    if not brought:
        return []
    end = "\r\n" if b"\r\n" in there else "\n"
    text = "\n\n".join(brought).replace("\n", end).encode("utf-8", "surrogateescape") + end.encode()
    above = there.rstrip(b"\r\n")
    data = above + end.encode() * 2 + text if above else text
    return [Write(AGENTS, data, mode=project.tree[AGENTS].mode if AGENTS in project.tree else "100644")]


def _skill(project: _Project, path: bytes, new: bytes) -> list[Write]:
    there = project.tree.get(path)
    if there is None:
        check_place(project.folder, project.tree, path)
        return [Write(path, new)]
    if _regular(project, path) == new:
        return []
    raise InputError(f"{project.folder} has another {shown(path)} already; a skill is never overwritten")


def _regular(project: _Project, path: bytes) -> bytes:
    """The bytes of the project's file; ``b""`` where there is none. Raises ``InputError`` for what is no file."""
    entry = project.tree.get(path)
    if entry is None:
        check_place(project.folder, project.tree, path)
        return b""
    check_kind(project.folder, path, entry)
    found = read_objects(project.folder, [entry.oid])
    if entry.oid not in found:
        raise StoreError(f"{project.folder} does not hold the text of {shown(path)} (a partial clone?)")
    return found[entry.oid].data


def _message(step: Step, id: str) -> bytes:
    """The lesson's subject without our prefix, and where it comes from; the evidence stays in the book."""
    subject = step.message.subject.removeprefix(f"{LESSON}:").strip() or id
    from lessonbook.core.redact import redact

    text = f"{redact(subject).text}\n\nPromoted-from: lessonbook {id}\n"
    encoding = (step.message.encoding or b"utf-8").decode("ascii", "replace")
    try:
        return text.encode(encoding, "replace")
    except LookupError:
        return text.encode("utf-8", "replace")


def _check_secrets(write: Write) -> None:
    from lessonbook.core.redact import redact

    if redact((write.data or b"").decode("utf-8", "replace")).count:
        raise InputError(SECRET.format(name=shown(write.path)))
