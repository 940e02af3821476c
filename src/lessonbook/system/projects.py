"""Finds the project of a folder by asking git, sealed as always; works where there is no git and no folder."""

from __future__ import annotations

from pathlib import Path

from lessonbook.core.errors import SetupError
from lessonbook.core.project import Project, from_folder, from_remote
from lessonbook.system import git


def identify(folder: Path) -> Project:
    """Return the project of ``folder``: by its remote, else its git common folder, else the folder itself.

    A folder that is gone, or a machine without git, gives the folder itself; nothing is raised and nothing written.
    """
    try:
        told = git.attempt(folder, "rev-parse", "--git-common-dir", "--show-toplevel", "--git-dir")
    except (SetupError, OSError):
        return from_folder(str(folder))
    lines = told.stdout.decode("utf-8", "surrogateescape").splitlines()
    if told.returncode != 0 or len(lines) != 3:
        return from_folder(str(folder))
    common, root = (folder / lines[0]).resolve(), lines[1]
    branch = _branch(folder / lines[2] / "HEAD")
    remote = _remote(folder)
    if remote:
        return from_remote(remote, root, branch)
    named = from_folder(root)
    # A worktree's folder has another name; the main checkout's is the project's.
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    return Project(identity=str(common), name=name or named.name, root=root, branch=branch)


def _branch(head: Path) -> str | None:
    """Return the branch that git's ``HEAD`` file names; reading it costs less than starting git once more."""
    try:
        text = head.read_text("utf-8", "replace")
    except OSError:
        return None
    return text.removeprefix("ref: refs/heads/").strip() if text.startswith("ref: refs/heads/") else None


def _remote(folder: Path) -> str | None:
    told = git.attempt(folder, "config", "--null", "--get-regexp", r"^remote\..*\.url$")
    found: dict[str, str] = {}
    for item in told.stdout.decode("utf-8", "replace").split("\0"):
        key, _, value = item.partition("\n")
        if value:
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), value)
    if not found:
        return None
    return (
        found.get("upstream")
        if "origin" not in found and "upstream" in found
        else found.get("origin") or min(found.items())[1]
    )
