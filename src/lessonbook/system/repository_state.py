"""What a repository is like right now: its commit, its branch, and which tracked files differ from the commit."""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.errors import LessonbookError
from lessonbook.system import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def repository_state(folder: Path) -> dict[str, Any] | None:
    """Return ``{folder, repo, head, branch, dirty}`` of the repository that holds ``folder``; ``None`` outside one.

    ``dirty`` lists the tracked files that git takes for changed by size and time. Their content is not read through
    the repository's filters, which are programs of its own: each is switched off by name.
    """
    if not _inside_a_repository(folder):
        return None
    try:
        told = git.attempt(folder, "rev-parse", "--show-toplevel", "HEAD")
        lines = told.stdout.decode("utf-8", "surrogateescape").splitlines()
        if told.returncode != 0 or len(lines) != 2:
            return None
        branch = git.attempt(folder, "symbolic-ref", "--quiet", "--short", "HEAD").stdout
        changed = git.attempt(folder, *_without_filters(folder), "diff-index", "--name-only", "-z", "HEAD", "--")
    except (LessonbookError, OSError):
        return None
    if changed.returncode != 0:
        return None
    names = changed.stdout.decode("utf-8", "replace").split("\0")
    return {
        "folder": str(folder),
        "repo": lines[0],
        "head": lines[1],
        "branch": branch.decode("utf-8", "replace").strip(),
        "dirty": sorted(filter(None, names)),
    }


def _inside_a_repository(folder: Path) -> bool:
    try:
        return any((above / ".git").exists() for above in (folder, *folder.parents))
    except OSError:
        return False


def _without_filters(folder: Path) -> list[str]:
    """The options that give every filter the repository's configuration names an empty command."""
    told = git.attempt(folder, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    keys = filter(None, told.stdout.decode("utf-8", "surrogateescape").split("\0"))
    drivers = sorted({key.rpartition(".")[0] for key in keys})
    return [
        word
        for driver in drivers
        for part in ("clean=", "smudge=", "process=", "required=false")
        for word in ("-c", f"{driver}.{part}")
    ]
