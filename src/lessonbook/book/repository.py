"""Opens a book's repository: the folder's own, never one around it, and only where it can be worked on safely."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from lessonbook.book.sentences import NOT_PENDING
from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.pending import is_candidate_id
from lessonbook.core.value import Value
from lessonbook.system import git

PENDING_REFS = "refs/heads/pending/"
REJECTED_REFS = "refs/lessonbook/rejected/"
ALONG_REFS = "refs/lessonbook/accepted-with/"
"""Candidates that left the queue with another one, kept so that undoing can put them back."""
PIN_REFS = "refs/lessonbook/pins/"
"""One ref per pinned paragraph or skill, named by its key, so that pins of two clones join by fetching."""

_PIN = re.compile(re.escape(PIN_REFS) + r"[0-9a-f]{32}\Z", re.ASCII)


class Book(Value):
    """A book's repository as one moment shows it. ``head`` is ``None`` before the first commit."""

    folder: Path
    git_dir: Path
    index: Path
    head: str | None
    head_ref: str
    """The branch HEAD is on, as a full ref; ``HEAD`` itself where it is on none."""

    @property
    def index_lock(self) -> Path:
        """git's own lock of the index."""
        return self.index.with_name(self.index.name + ".lock")

    @property
    def intent(self) -> Path:
        """Where an accept writes what it is about to do, until it is done."""
        return self.git_dir / "lessonbook-intent"

    @property
    def unfinished(self) -> bool:
        """Whether a crash may have left something to finish (``working.finish``)."""
        return self.intent.exists() or self.index_lock.exists()


class PendingRef(Value):
    """One pending branch: the candidate's id, the commit, and why nothing may move or remove it, if so."""

    id: str
    commit: str
    held: str | None

    @property
    def ref(self) -> str:
        """The branch's full name."""
        return PENDING_REFS + self.id


def exists(folder: Path) -> bool:
    """Whether the folder itself holds a repository, with or without working files.

    Raises ``StoreError`` where we may not look into the folder.
    """
    try:
        return bool(_mode(folder / ".git")) or (S_ISREG(_mode(folder / "HEAD")) and S_ISDIR(_mode(folder / "objects")))
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def _mode(path: Path) -> int:
    """What kind of file it is, 0 for none; unlike ``Path.exists`` never taken for none because we may not look."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def opening(folder: Path) -> git.Started:
    """Start the command that ``open_book`` asks."""
    asked = ("--is-inside-work-tree", "--show-prefix", "--git-dir", "--git-path", "index", "HEAD")
    return git.Started(folder, "rev-parse", *asked, "--symbolic-full-name", "HEAD", env=here_only(folder))


def open_book(folder: Path, started: git.Started | None = None) -> Book | None:
    """Return the folder's book, or ``None`` where it has no repository of its own.

    ``started`` is what ``opening`` started. A repository around the folder is never looked at. Raises ``StoreError``
    for one that git refuses (another owner, damage), that has no working files of its own or that we may not read, and
    ``SetupError`` where there is no git.
    """
    folder = folder.absolute()
    if not exists(folder):
        return None
    done = (started or opening(folder)).ended()
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")
    if len(lines) < 4:
        raise StoreError(_refusal(folder, done.stderr.decode("utf-8", "replace")))
    if lines[0] != "true" or lines[1]:
        raise StoreError(f"{folder} is not the top folder of a repository with working files, so it cannot be a book.")
    git_dir, index = folder / lines[2], folder / lines[3]
    if done.returncode:
        branch = git.run(folder, "symbolic-ref", "-q", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
        return Book(folder, git_dir, index, None, branch or "HEAD")
    return Book(folder, git_dir, index, lines[4], lines[5] or "HEAD")


def here_only(folder: Path) -> dict[str, str]:
    """Return what keeps git from looking for a repository above ``folder``."""
    return {"GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}


def _refusal(folder: Path, said: str) -> str:
    if "dubious ownership" in said or "unsafe repository" in said:
        return (
            f"{folder} belongs to another user, so git will not work in it and nothing was done; "
            "its owner can review it, or make the folder yours."
        )
    if "must be run in a work tree" in said:
        return f"{folder} is a bare repository: it has no working files, so it cannot be a book."
    first = said.strip().partition("\n")[0].removeprefix("fatal: ")
    return f"{folder} holds a repository that git cannot open: {first or 'it is damaged'}"


def is_pin(ref: str) -> bool:
    """Whether a ref is a pin's: ``PIN_REFS`` and a key of 32 hex digits."""
    return _PIN.match(ref) is not None


def asking_refs(folder: Path, *patterns: str) -> git.Started:
    """Start the command that ``pending_refs`` asks."""
    fields = "%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)%00"
    return git.Started(folder, "for-each-ref", f"--format={fields}", PENDING_REFS, *patterns, env=here_only(folder))


def pending_refs(
    book: Book, *patterns: str, started: git.Started | None = None
) -> tuple[list[PendingRef], dict[str, str]]:
    """Return the pending branches (ordered by id), and every other ref of ``patterns`` with its commit.

    ``started`` is what ``asking_refs`` started.
    """
    out = (started or asking_refs(book.folder, *patterns)).answer()
    parts = out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    found, others = [], {}
    for at in range(0, len(parts) - 3, 4):
        ref, commit, symref, worktree = parts[at].lstrip("\n"), *parts[at + 1 : at + 4]
        id = ref.removeprefix(PENDING_REFS)
        if ref.startswith(PENDING_REFS) and is_candidate_id(id):
            found.append(PendingRef(id, commit, _held(symref, worktree)))
        elif not ref.startswith(PENDING_REFS):
            others[ref] = commit
    return sorted(found, key=lambda ref: ref.id), others


def find(refs: Iterable[PendingRef], id: str) -> PendingRef:
    """Return the pending branch of ``id``. Raises ``InputError`` where nothing waits under it."""
    for ref in refs:
        if ref.id == id:
            return ref
    raise InputError(NOT_PENDING.format(id=id))


def _held(symref: str, worktree: str) -> str | None:
    if symref:
        return f"its branch is only another name for {symref}"
    # A worktree whose folder somebody deleted holds nothing any more; git only has not noticed yet.
    if worktree and Path(worktree).exists():
        return f"its branch is checked out in {worktree}; switch that to another branch or remove the worktree"
    return None
