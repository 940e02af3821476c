"""What may not be written or read: run without root's rights, so that we are stopped where a person would be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ID = "20270301-080000-0000aa"
Run = Callable[..., subprocess.CompletedProcess[str]]
DROPPED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]


@pytest.fixture
def limited(home: Path) -> Run:
    """The command bound by the modes of files: as it is, or, where we are root, without the right to pass them by."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root passes by the modes of files, and there is no setpriv to stop it")
    before = DROPPED if os.geteuid() == 0 else []

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [*before, sys.executable, "-m", "lessonbook", *words]
        done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    if before and run("--version").returncode:
        pytest.skip("setpriv may not drop rights here")
    return run


def test_cf_04_a_linked_config_in_a_closed_folder_is_refused_and_stays(limited: Run, home: Path) -> None:
    target = home / "dotfiles/config.toml"
    target.parent.mkdir()
    target.write_text("a = 1\n")
    link = home / ".config/lessonbook/config.toml"
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    target.parent.chmod(0o500)
    done = limited("learned", "off")
    target.parent.chmod(0o700)
    assert done.returncode == 5 and str(target) in done.stderr and "permission denied" in done.stderr
    assert link.is_symlink() and target.read_text() == "a = 1\n" and list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_ls_04_a_store_that_may_not_be_written_says_so_and_heals(limited: Run, home: Path, backend: str) -> None:
    limited("config", "set", "memory.backend", backend)
    assert limited("learn", "first").returncode == 0
    files = [path for path in (home / ".local").rglob("*") if path.is_file()]
    folders = {path.parent for path in files}
    for path in [*files, *folders]:
        path.chmod(0o400 if path.is_file() else 0o500)
    done = limited("learn", "second")
    assert done.returncode == 1 and "did not store the lesson: " in done.stderr and done.stdout == ""
    assert limited("recall").stdout == "- first\n" or backend == "mnemopi"
    for path in [*folders, *files]:
        path.chmod(0o600 if path.is_file() else 0o700)
    assert limited("learn", "second").returncode == 0 and limited("recall").stdout == "- second\n- first\n"


def test_gq_09_a_lock_that_may_not_be_made(limited: Run, commit, git, candidate) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, ID, {"AGENTS.md": "Base.\n\nRule.\n"})
    book.parent.chmod(0o500)
    before = git(book, "for-each-ref")
    assert limited("learned").stdout.startswith(ID) and limited("learned", "diff", ID).returncode == 0
    for verb in ("accept", "reject"):
        done = limited("learned", verb, ID)
        assert done.returncode == 1 and ".learned.lock cannot be opened: permission denied" in done.stderr
    assert "Base." in limited("brief").stdout and git(book, "for-each-ref") == before
    book.parent.chmod(0o700)
    assert limited("learned", "accept", ID).returncode == 0 and (book / "AGENTS.md").read_text() == "Base.\n\nRule.\n"


def test_a_book_that_may_not_be_written_changes_nothing(limited: Run, commit, candidate) -> None:
    book = commit({"AGENTS.md": "Base.\n"})
    candidate(book, ID, {"AGENTS.md": "Base.\n\nRule.\n"})
    (book.parent / ".learned.lock").touch()
    closed = [book / ".git", *(path for path in (book / ".git").rglob("*") if path.is_dir())]
    for path in closed:
        path.chmod(0o500)
    for verb in ("accept", "reject"):
        done = limited("learned", verb, ID)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    assert (book / "AGENTS.md").read_text() == "Base.\n" and limited("learned").stdout.startswith(ID)
    for path in closed:
        path.chmod(0o700)
    assert limited("learned", "accept", ID).returncode == 0


def test_tr_01_a_session_that_may_not_be_read_is_told(limited: Run, home: Path) -> None:
    root = home / ".claude/projects"
    (root / "closed").mkdir(parents=True)
    (root / "open").mkdir()
    (root / "open/one.jsonl").write_text('{"type":"user","message":{"content":"x"}}\n')
    (root / "open/one.jsonl").chmod(0)
    (root / "closed").chmod(0)
    done = limited("propose")
    (root / "closed").chmod(0o700)
    assert done.returncode == 0 and done.stdout.count("It cannot be read: permission denied.") == 2
