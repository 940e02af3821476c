"""Finds the project of a folder by asking git, sealed as always; works where there is no git and no folder."""

from __future__ import annotations

import stat
from pathlib import Path

from lessonbook.core.errors import SetupError
from lessonbook.core.project import Project, from_folder, from_remote
from lessonbook.system import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Signs: TypeAlias = tuple[tuple[Path, tuple[int, ...]], ...]


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


class Projects:
    """What ``identify`` says, remembered for a folder as long as nothing that it depends on has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Signs, Project]] = {}

    def identify(self, folder: Path) -> Project:
        """Return the project of ``folder`` as ``identify`` does; git is asked only where it may say something else."""
        signs = _signs(folder)
        known = self._known.get(folder)
        if known is not None and signs is not None and known[0] == signs:
            return known[1]
        found = identify(folder)
        plain = found == from_folder(str(folder))
        # Where git found another repository than we did, or none, or could not be asked, it is asked again.
        if signs is not None and (plain if not signs else not plain and found.root == str(signs[0][0])):
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[folder] = signs, found
        return found


_REMEMBERED = 256
_WATCHED = (".git", ".git/HEAD", ".git/config", ".git/config.worktree")


def _signs(folder: Path) -> Signs | None:
    """Return what changes when ``folder`` comes to belong to another project, or its branch to have another name.

    Nothing for a folder in no repository. ``None`` where only git can tell: a linked worktree, a repository without
    files, a configuration that includes another file, what cannot be looked at.
    """
    try:
        real = folder.resolve(strict=True)
        for top in (real, *real.parents):
            if (top / ".git").exists():
                plain = stat.S_ISDIR((top / ".git").lstat().st_mode) and not _includes(top / ".git" / "config")
                return tuple((top / name, _sign(top / name)) for name in ("", *_WATCHED)) if plain else None
            if (top / "HEAD").exists():
                return None
    except (OSError, RuntimeError):  # the latter for links that lead in circles, before Python 3.13
        return None
    return ()


def _sign(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    if stat.S_ISDIR(found.st_mode):  # what is in it changes with every command of git's
        return found.st_dev, found.st_ino, found.st_uid
    return found.st_dev, found.st_ino, found.st_uid, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _includes(config: Path) -> bool:
    try:
        return b"[include" in config.read_bytes().lower()
    except FileNotFoundError:
        return False


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
