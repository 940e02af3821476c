"""Throwaway clones: a repository as it was at one commit, that leads nowhere and runs nothing.

A clone has no remote, no hooks, and none of the repository's configuration, so no filter and no hook of it ever runs.
Its objects are read from the repository it was made of, which nobody writes to. What makes coding agents run programs
(their settings, servers and hooks, as far as they stand in the repository) and links that lead out of it are left out,
in a commit of our own on top where there were any.
"""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Iterable
from pathlib import Path

from lessonbook.core.errors import InputError, StoreError, reason
from lessonbook.system import git
from lessonbook.system.files import write_atomic
from lessonbook.system.gitbatch import Entry, read_objects, read_tree

AGENT_FILES = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/",
    ".mcp.json",
    ".codex/",
    ".gemini/settings.json",
    ".gemini/extensions/",
    ".gemini/policies/",
    ".gemini/.env",
    ".opencode/",
    "opencode.json",
    "opencode.jsonc",
    ".omp/",
    ".pi/",
    ".hermes/",
    ".cursor/",
    ".copilot/",
    ".github/hooks/",
    ".github/mcp.json",
    ".vscode/mcp.json",
    ".leela/",
    ".envrc",
)
"""What makes an agent, or a shell, run programs by being in a repository; a folder ends in a slash."""
_LINK = "120000"
_SHOWN = 40_000
"""Bytes of a diff that are kept."""


def has_commit(source: Path, commit: str) -> bool:
    """Whether the repository ``source`` holds this commit with its tree."""
    return git.attempt(source, "cat-file", "-e", f"{commit}^{{tree}}").returncode == 0


def clone(source: Path, commit: str, target: Path) -> str:
    """Make ``target`` a clone of ``source`` at ``commit`` and return its HEAD; ``target`` is made, and must be new.

    Raises ``InputError`` where ``source`` does not hold the commit, ``StoreError`` where it cannot be made.
    """
    if not has_commit(source, commit):
        raise InputError(f"{source} does not hold the commit {commit[:12]} any more.")
    try:
        target.mkdir(parents=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be made: {reason(error)}.") from error
    kind = git.run(source, "rev-parse", "--show-object-format").decode().strip()
    git.run(target, "init", "--quiet", "--template=", "--initial-branch=main", f"--object-format={kind}")
    _borrow(source, target / ".git")
    git.run(target, "config", "core.hooksPath", "/dev/null")
    git.run(target, "config", "gc.auto", "0")
    git.run(target, "read-tree", commit)
    head = _without(target, commit, _left_out(target, commit))
    git.run(target, "update-ref", "refs/heads/main", head)
    git.run(target, "checkout-index", "--all", "--force", "--quiet", "-u")
    return head


def changes(target: Path, head: str, scratch: Path) -> str:
    """Return what was changed in a clone since it was made, as a diff of at most 40,000 bytes.

    The clone's own configuration is not read, as its agent may have written it: a filter would be a program.
    """
    own = scratch / "looking.git"
    kind = "sha1" if len(head) == 40 else "sha256"
    git.run(scratch, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}", str(own))
    write_atomic(own / "objects/info/alternates", f"{target / '.git' / 'objects'}\n".encode())
    here = (f"--git-dir={own}", f"--work-tree={target}")
    git.run(target, *here, "read-tree", head)
    git.run(target, *here, "add", "--all", "--ignore-errors", ".", ok=(0, 1, 128))
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
    found = git.run(target, *here, "diff-index", "--cached", "--patch", *plain, head)
    return found[:_SHOWN].decode("utf-8", "replace") + ("\n…\n" if len(found) > _SHOWN else "")


def discard(folder: Path) -> None:
    """Remove a work folder and all in it; what an agent made unreadable is made removable first. Never raises."""

    def again(_: object, path: str, __: object) -> None:
        try:
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            Path(path).rmdir() if Path(path).is_dir() and not Path(path).is_symlink() else Path(path).unlink()
        except OSError:
            pass

    for _ in range(2):  # what was made removable on the way is removed the second time
        shutil.rmtree(folder, onerror=again)
        if not folder.exists():
            return


def _borrow(source: Path, own: Path) -> None:
    """Let ``own`` read the objects of ``source``, and know where its history ends."""
    common = Path(git.run(source, "rev-parse", "--git-common-dir").decode("utf-8", "surrogateescape").rstrip("\n"))
    common = (source / common).resolve()
    write_atomic(own / "objects/info/alternates", f"{common / 'objects'}\n".encode("utf-8", "surrogateescape"))
    if (common / "shallow").is_file():
        write_atomic(own / "shallow", (common / "shallow").read_bytes())


def _left_out(target: Path, commit: str) -> list[bytes]:
    tree = read_tree(target, commit)
    return [path for path in tree if _for_an_agent(path)] + list(_leading_out(target, tree))


def _for_an_agent(path: bytes) -> bool:
    """Whether a path is one of ``AGENT_FILES``, at the top or in any folder, as agents read them in both."""
    name = f"/{path.decode('utf-8', 'surrogateescape').lower()}"
    return any(f"/{own}" in name if own.endswith("/") else name.endswith(f"/{own}") for own in AGENT_FILES)


def _leading_out(target: Path, tree: dict[bytes, Entry]) -> Iterable[bytes]:
    links = {path: entry.oid for path, entry in tree.items() if entry.mode == _LINK}
    found = read_objects(target, links.values())
    for path, oid in links.items():
        to = found[oid].data if oid in found else b"/"
        end = posixpath.normpath(posixpath.join(posixpath.dirname(path), to))
        if to.startswith(b"/") or end == b".." or end.startswith((b"../", b".git/")) or end == b".git":
            yield path


def _without(target: Path, commit: str, paths: list[bytes]) -> str:
    """Take ``paths`` out of the index, and return the commit that holds what is left."""
    if not paths:
        return commit
    git.run(target, "update-index", "-z", "--force-remove", "--stdin", data=b"".join(path + b"\0" for path in paths))
    tree = git.run(target, "write-tree").decode().strip()
    message = b"Without what makes agents run programs, and without links that lead out\n"
    at = git.run(target, "show", "-s", "--format=%ct", commit).decode().strip()
    env = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    return git.run(target, "commit-tree", tree, "-p", commit, data=message, env=env).decode().strip()
