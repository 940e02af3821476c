"""A project that is remembered is the one git would name now, whatever was done to the repository meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.system.projects import Projects, identify


def git(folder: Path, *words: str) -> None:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, env=env)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    return tmp_path


STEPS: list[tuple[str, Callable[[Path], object]]] = [
    ("none", lambda p: None),
    ("becomes a repository", lambda p: git(p / "repo", "init", "-q")),
    ("first commit", lambda p: git(p / "repo", "commit", "-q", "--allow-empty", "-m", "x")),
    ("a remote", lambda p: git(p / "repo", "remote", "add", "origin", "https://example.org/a/b.git")),
    ("another remote", lambda p: git(p / "repo", "remote", "set-url", "origin", "https://example.org/a/c.git")),
    ("another branch", lambda p: git(p / "repo", "checkout", "-q", "-b", "side")),
    ("detached", lambda p: git(p / "repo", "checkout", "-q", "--detach")),
    ("a remote in an included file", lambda p: include(p, "d")),
    ("that file changes", lambda p: include(p, "e")),
    ("no longer included", lambda p: git(p / "repo", "config", "--unset", "include.path")),
    ("a repository inside", lambda p: git(p / "repo" / "sub", "init", "-q")),
    ("and gone again", lambda p: shutil.rmtree(p / "repo" / "sub" / ".git")),
    ("a broken one inside", lambda p: (p / "repo" / "sub" / ".git").mkdir()),
    ("with a head", lambda p: (p / "repo" / "sub" / ".git" / "HEAD").write_text("ref: refs/heads/x\n")),
    ("and gone too", lambda p: shutil.rmtree(p / "repo" / "sub" / ".git")),
    ("a worktree", lambda p: git(p / "repo", "worktree", "add", "-q", "-b", "tree", str(p / "tree"))),
    ("its branch", lambda p: git(p / "tree", "checkout", "-q", "-b", "leaf")),
    ("a link to it", lambda p: (p / "link").symlink_to(p / "repo" / "sub")),
    ("a bare one", lambda p: git(p, "init", "-q", "--bare", "bare")),
    ("the link leads elsewhere", lambda p: relink(p)),
    ("no repository any more", lambda p: (p / "repo" / ".git").rename(p / "git")),
    ("a repository above", lambda p: git(p, "init", "-q")),
    ("gone altogether", lambda p: shutil.rmtree(p / "repo")),
]


def include(place: Path, name: str) -> None:
    (place / "more").write_text(f'[remote "origin"]\n\turl = https://example.org/a/{name}.git\n')
    git(place / "repo", "config", "include.path", str(place / "more"))
    git(place / "repo", "config", "--remove-section", "remote.origin") if name == "d" else None


def relink(place: Path) -> None:
    (place / "link").unlink()
    (place / "link").symlink_to(place / "bare")


def test_it_is_the_one_git_names_after_every_change(place: Path) -> None:
    remembering = Projects()
    folders = [place / name for name in ("repo", "repo/sub", "tree", "link", "bare", ".", "none")]
    seen = set()
    for what, change in STEPS:
        change(place)
        for _ in range(2):
            for folder in folders:
                assert remembering.identify(folder) == identify(folder), (what, folder)
        seen.add(identify(place / "repo"))
    assert len(seen) >= 9


def test_git_is_asked_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(place / "repo", "init", "-q")
    remembering = Projects()
    folders = [place / "repo", place / "repo" / "sub", place / "none"]
    (place / "none").mkdir()
    before = [remembering.identify(folder) for folder in folders]
    monkeypatch.setenv("PATH", str(place / "none"))  # from here on there is no git
    assert [remembering.identify(folder) for folder in folders] == before
    assert identify(folders[1]) != before[1]


def test_what_a_machine_without_git_says_is_not_kept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(place / "repo", "init", "-q")
    remembering, path = Projects(), os.environ["PATH"]
    monkeypatch.setenv("PATH", str(place / "none"))
    assert remembering.identify(place / "repo") == identify(place / "repo")
    monkeypatch.setenv("PATH", path)
    assert remembering.identify(place / "repo") == identify(place / "repo")
    assert remembering.identify(place / "repo").identity.endswith(".git")


def test_only_so_many_are_remembered(tmp_path: Path) -> None:
    remembering = Projects()
    for number in range(300):
        (tmp_path / str(number)).mkdir()
        remembering.identify(tmp_path / str(number))
    assert len(remembering._known) <= 256
