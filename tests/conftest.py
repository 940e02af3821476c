"""A sealed home for every test: nothing of the machine's own configuration is read or written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty HOME of this test's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LESSONBOOK_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    yield folder


@pytest.fixture
def shared() -> Path:
    """Material outside the product; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared")
    return SHARED


@pytest.fixture
def commit(home: Path) -> Callable[..., Path]:
    """``commit(files, project=None)``: commits files to the global book, or a project's, with git, as a person does."""

    def commit_files(files: dict[str, str | bytes], project: str | None = None) -> Path:
        books = home / ".config" / "lessonbook"
        folder = books / "projects" / project / "learned" if project else books / "learned"
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        git = ["git", "-C", str(folder), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "By hand"]):
            subprocess.run([*git, *words], env=env, check=True, capture_output=True)
        return folder

    return commit_files
