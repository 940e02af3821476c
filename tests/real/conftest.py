"""What the end-to-end tests of bad input share: real git, and candidates made by hand with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git() -> Git:
    """``git(folder, "log")``: what a plain git says, under no configuration but the repository's own."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "1772352000 +0000"}

    def run_git(folder: Path, *args: str | bytes, ok: bool = True) -> str:
        who = ("-c", "user.name=Dhrona", "-c", "user.email=d@example.org", "-c", "core.quotePath=false")
        done = subprocess.run(["git", "-C", folder, *who, *args], env=env, capture_output=True, check=False)
        assert done.returncode == 0 or not ok, done.stderr
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    return run_git


@pytest.fixture
def candidate(git: Git) -> Callable[..., None]:
    """``candidate(book, id, {"AGENTS.md": "…"})``: commits files on ``pending/<id>``, as a person does by hand."""

    def make(book: Path, id: str, files: Mapping[str | bytes, str], message: str = "Lesson from a replay: x") -> None:
        home = git(book, "symbolic-ref", "--short", "HEAD")
        git(book, "checkout", "-q", "-b", f"pending/{id}")
        for name, text in files.items():
            path = os.path.join(os.fsencode(book), os.fsencode(name))  # noqa: PTH118  a name may be no text
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            with open(path, "wb") as file:  # noqa: PTH123
                file.write(text.encode())
        git(book, "add", "-A")
        git(book, "commit", "-q", "-m", message)
        git(book, "checkout", "-q", home)

    return make
