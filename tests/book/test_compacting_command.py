"""Compacting through the command line and a real command, whatever that does: one sentence, and nothing left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LONG = "Read sizes with ls, not by opening files. " * 30
SHORT = "[kept 1]\n\nRead sizes with ls."
# Notes its number and a child's, so that a test can see whether they are gone.
NOTED = """
import os, subprocess, sys, time
code = "import os, time; open({pids!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(120)"
child = subprocess.Popen([sys.executable, "-c", code])
open({pids!r}, "a").write(f"{{os.getpid()}} ")
while len(open({pids!r}).read().split()) < 2: time.sleep(0.01)
"""


@pytest.fixture
def learnt(commit: Callable[..., Path], home: Path) -> Path:
    """The global book: a rule a person wrote, and a long one that was proposed."""
    folder = commit({"AGENTS.md": "Run the linter first.\n"})
    (folder / "AGENTS.md").write_text(f"Run the linter first.\n\n{LONG}\n")
    git = ["git", "-C", str(folder), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    subprocess.run([*git, "commit", "-qam", "Lesson from a replay: sizes"], check=True, capture_output=True)
    return folder


def configure(home: Path, words: list[str], timeout: float = 30) -> None:
    path = home / ".config/lessonbook/config.toml"
    path.write_text(f"[editor]\ncommand = {[str(word) for word in words]}\ntimeout = {timeout}\n")


def python(tmp_path: Path, code: str) -> list[str]:
    """The words that run this code after it noted itself and a child that would sleep on."""
    script = tmp_path / "model.py"
    script.write_text(NOTED.format(pids=str(tmp_path / "pids")) + code)
    return [sys.executable, str(script)]


def state(folder: Path) -> dict[str, Any]:
    git = ["git", "-C", str(folder)]
    refs = subprocess.run([*git, "for-each-ref"], check=True, capture_output=True).stdout
    files = {path.name for path in (folder / ".git").iterdir()}
    return {"refs": refs, "text": (folder / "AGENTS.md").read_text(), "files": files}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def left(tmp_path: Path) -> list[int]:
    """Which of the processes that noted themselves still run; a killed one may take a moment."""
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    deadline = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if alive(pid)]


def refused(run: Any, folder: Path, tmp_path: Path, exit_code: int = 6) -> str:
    before, temporary = state(folder), tmp_path / "tmp"
    temporary.mkdir(exist_ok=True)
    done = run("learned", "compact", env={"TMPDIR": str(temporary)})
    assert done.returncode == exit_code and done.stdout == "", (done.returncode, done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1 and len(done.stderr) < 500, done.stderr
    assert state(folder) == before and list(temporary.iterdir()) == []
    return str(done.stderr)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "is not there; install it or correct its name."),
        (lambda path: path.write_text("#!/bin/sh\necho x\n"), "cannot be started: permission denied."),
        (lambda path: path.mkdir(), "cannot be started: permission denied."),
        (lambda path: path.write_bytes(b"\x00\x01 no program") and path.chmod(0o755), "cannot be started: exec format"),
        (lambda path: path.write_text("#!/no/such/shell\n") and path.chmod(0o755), "is not there; install it"),
        (lambda path: path.symlink_to(path), "cannot be started: too many levels of symbolic links."),
    ],
    ids=["missing", "not executable", "a folder", "no program", "no interpreter", "a circle"],
)
def test_what_cannot_be_started(run: Any, learnt: Path, home: Path, tmp_path: Path, make: Any, says: str) -> None:
    make(tmp_path / "model")
    configure(home, [str(tmp_path / "model")])
    said = refused(run, learnt, tmp_path, exit_code=4)
    assert said.startswith(f"lessonbook: the command '{tmp_path}/model' {says}"), said


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("time.sleep(120)", "did not answer within 4 seconds, and was stopped."),
        ("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(120)", "did not answer within"),
        ("while True: print('half an answer', flush=True); time.sleep(0.5)", "did not answer within"),
        ("while True: print('x' * 100_000)", "wrote more than 1,048,576 bytes, and was stopped."),
        ("print('y' * 3_000_000); sys.exit(0)", "wrote more than 1,048,576 bytes, and was stopped."),
        ("while True: sys.stderr.write('complaint ' * 10_000)", "did not answer within"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9."),
        ("print('half', flush=True); os.kill(os.getpid(), 15)", "was ended by signal 15: half."),
        (
            "sys.stderr.write('warning: old\\nno credit left\\n'); sys.exit(1)",
            "ended with exit code 1: no credit left.",
        ),
        ("sys.stderr.write('only this\\n')", "gave an empty answer."),
        ("pass", "gave an empty answer."),
        ("print(' \\n\\t')", "gave an empty answer."),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\x00' * 20)", ""),
        ("sys.stdin.close(); os.close(1); os.close(2); time.sleep(120)", "did not answer within"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_nothing_runs_on(
    run: Any, learnt: Path, home: Path, tmp_path: Path, code: str, says: str
) -> None:
    configure(home, python(tmp_path, code), timeout=4)
    said = refused(run, learnt, tmp_path)
    assert says in said and left(tmp_path) == [], said


def test_complaints_beside_an_answer_are_no_part_of_it(run: Any, learnt: Path, home: Path, tmp_path: Path) -> None:
    code = f"sys.stderr.write('warning ' * 100_000); print({SHORT!r})"
    configure(home, python(tmp_path, code))
    done = run("learned", "compact")
    assert done.returncode == 0 and "warning" not in done.stdout + done.stderr and left(tmp_path) == []
    assert "+Read sizes with ls." in run("learned", "diff", done.stdout.split()[1].rstrip(":")).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_stops_us_stops_it_too(learnt: Path, home: Path, tmp_path: Path, number: signal.Signals) -> None:
    configure(home, python(tmp_path, "time.sleep(120)"), timeout=100)
    before, temporary = state(learnt), tmp_path / "tmp"
    temporary.mkdir()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(temporary)}
    words = [sys.executable, "-m", "lessonbook", "learned", "compact"]
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "pids").exists() or len((tmp_path / "pids").read_text().split()) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + number, b"", b"")
    assert left(tmp_path) == [] and state(learnt) == before and list(temporary.iterdir()) == []
