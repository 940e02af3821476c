"""A real book for every test: a repository made with the git program, sealed from this machine's configuration."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
RULE = "Run the linter first.\n"


@dataclass(frozen=True)
class Repo:
    """A book's folder, and git in it."""

    folder: Path

    def git(self, *args: str, data: bytes = b"", ok: bool = True) -> str:
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        names = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Ana")
        mails = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ana@example.org")
        env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", **names, **mails}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *args], input=data, capture_output=True, env=env, check=False
        )
        assert done.returncode == 0 or not ok, done.stderr
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def commit(self, files: dict[str, str], subject: str = "By hand") -> str:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def propose(
        self,
        id: str,
        files: dict[str, str | tuple[str, str] | None],
        *,
        base: str | None = "HEAD",
        message: str | bytes = "",
        author: str = "Dhrona <d@example.org> 1772352000 +0100",
    ) -> str:
        """Make ``pending/<id>``: a text is a file, ``None`` removes one, ``(mode, target)`` is any other kind."""
        message = message or f"Lesson from a replay: {id}\n"
        raw = message if isinstance(message, bytes) else message.encode()
        parts = [
            f"commit refs/heads/pending/{id}\nauthor {author}\ncommitter {author}\ndata {len(raw)}\n".encode(),
            raw,
        ]
        parts.append(b"\n")
        if base:
            parts.append(f"from {self.git('rev-parse', base)}\n".encode())
        for name, what in files.items():
            path = b'"' + b"".join(b"\\%03o" % byte for byte in name.encode("utf-8", "surrogateescape")) + b'"'
            if what is None:
                parts.append(b"D %s\n" % path)
            elif isinstance(what, tuple) and what[0] == "160000":
                parts.append(b"M 160000 %s %s\n" % (what[1].encode(), path))
            else:
                mode, text = what if isinstance(what, tuple) else ("100644", what)
                parts.append(
                    b"M %s inline %s\ndata %d\n%s\n" % (mode.encode(), path, len(text.encode()), text.encode())
                )
        self.git("fast-import", "--quiet", "--force", data=b"".join(parts))
        return self.git("rev-parse", f"pending/{id}")

    def state(self) -> dict[str, str]:
        """All that a refused call must leave as it was: refs, index, files, worktrees, HEAD."""
        files = {
            str(path.relative_to(self.folder)): str(path.readlink() if path.is_symlink() else path.read_bytes())
            for path in self.folder.rglob("*")
            if ".git" not in path.parts and (path.is_file() or path.is_symlink())
        }
        asked = {"refs": ("for-each-ref",), "index": ("ls-files", "-s"), "trees": ("worktree", "list")}
        told = {key: self.git(*args) for key, args in asked.items()}
        extra = sorted(
            path.name for path in (self.folder / ".git").iterdir() if path.name.startswith(("less", "index"))
        )
        return files | told | {"head": (self.folder / ".git" / "HEAD").read_text(), "extra": str(extra)}

    def text(self, name: str = "AGENTS.md") -> str:
        return (self.folder / name).read_bytes().decode()


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repo]:
    def make(name: str = "learned", files: dict[str, str] | None = None, branch: str = "main") -> Repo:
        repo = Repo(tmp_path / name)
        repo.folder.mkdir()
        repo.git("init", "-q", "--template=", "-b", branch)
        repo.commit({"AGENTS.md": RULE} if files is None else files, "first")
        return repo

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    return make_repo()


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ``git`` first on PATH that notes each start and runs the real one."""
    log = tmp_path / "starts"
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho x >> {log}\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    return log
