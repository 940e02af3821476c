"""What a person waits for: the list of a hundred candidates and a session's start, beside bare git and bare Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks import books
from benchmarks.table import Row, in_turns

COUNT = 100
TIMES = 15
BARE = "git for-each-ref, and python -c pass"
SCRIPT = Path(sys.executable).with_name("lessonbook")
PROGRAM = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "lessonbook"]
LIST = ["learned", "list"]
HOOK = ["hook", "session-start"]


def run() -> list[Row]:
    """Measure both commands as an agent or a shell starts them, in a home with one book."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        env = _environment(home)
        book = books.build(home / ".config" / "lessonbook" / "learned", COUNT)
        work = home / "work"
        work.mkdir()
        event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "bench", "cwd": str(work)}
        event |= {"transcript_path": str(home / "none.jsonl")}
        rows = []
        for verb, data, sign in ((LIST, "", books.identifier(COUNT - 1)), (HOOK, json.dumps(event), "Rule 07")):
            command = [*PROGRAM, *verb]
            said = _said(command, data, env, work)
            ours, bare = in_turns(TIMES, partial(_seconds, command, data, env, work), partial(_bare, book, env, work))
            wrong = [] if sign in said else [f"{sign!r} is not in what it printed: {said[-120:]!r}"]
            what = f"lessonbook {' '.join(verb)}, {COUNT} candidates"
            rows.append(Row(what, ours, BARE, bare, at_most=3, checks=wrong))
        return rows


def _environment(home: Path) -> dict[str, str]:
    """A home of its own; and compiled modules are kept, as in any installation."""
    gone = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LESSONBOOK_CONFIG", "PYTHONDONTWRITEBYTECODE")
    return {**{key: value for key, value in os.environ.items() if key not in gone}, "HOME": str(home)}


def _seconds(command: list[str], data: str, env: dict[str, str], cwd: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, input=data, text=True, capture_output=True, check=True, env=env, cwd=cwd)
    return time.perf_counter() - start


def _bare(book: Path, env: dict[str, str], cwd: Path) -> float:
    commands = (["git", "-C", str(book), "for-each-ref"], [sys.executable, "-c", "pass"])
    return sum(_seconds(command, "", env, cwd) for command in commands)


def _said(command: list[str], data: str, env: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(command, input=data, text=True, capture_output=True, check=False, env=env, cwd=cwd)
    return done.stdout or done.stderr
