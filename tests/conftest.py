"""A sealed home for every test: nothing of the machine's own configuration is read or written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

Here = Callable[..., "Said"]
Run = Callable[..., subprocess.CompletedProcess[str]]
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


@pytest.fixture
def run(tmp_path: Path, home: Path) -> Run:
    """``run("brief", "--json", cwd=…, stdin=…)``: the real command in a process of its own, its output as text."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)

    def run_command(
        *words: str | bytes, cwd: Path = work, stdin: str | bytes | None = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "lessonbook", *words],
            cwd=cwd,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(env or {})},
            timeout=60,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run_command


class Said(NamedTuple):
    """What one command answered."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def here(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Here:
    """``here("learned", "accept", id)``: as ``run``, but in this process, where many calls would cost many starts."""
    from lessonbook.hosts.cli.main import main

    work = tmp_path / "work"
    work.mkdir(exist_ok=True)

    def call(*words: str, cwd: Path = work) -> Said:
        monkeypatch.chdir(cwd)
        capsysbinary.readouterr()
        code = main(words)
        said = capsysbinary.readouterr()
        return Said(code, said.out.decode(), said.err.decode())

    return call
