"""A session's start with 10,000 lessons and 300 skills, beside the same hook with none, and the other hooks."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.commands import PROGRAM, _environment
from benchmarks.table import Row, in_turns

LESSONS = 10_000
SKILLS = 300
TIMES = 15
CALLS = 2_000
_SHARED = Path("/dev/shm")
"""In memory, where 10,000 durable writes take seconds; the hook only reads."""


def run() -> list[Row]:
    """Measure the hooks as an agent starts them."""
    with _home("empty") as empty, _home("none") as none, _home("full") as full:
        _set_up(none, 0, 0)
        _set_up(full, LESSONS, SKILLS)
        start = ["hook", "session-start", "--agent", "claude"]
        for home in (empty, none, full):
            _said(home, start)  # compiled, and what is remembered of skill files is remembered
        said = _said(full, start)
        wrong = [] if "make test-" in said and "skill-" in said else [f"not briefed: {said[:120]!r}"]
        ours, bare, same = in_turns(TIMES, *(partial(_seconds, home, start) for home in (full, none, empty)))
        what = f"hook session-start, {LESSONS:,} lessons and {SKILLS} skills"
        rows = [
            Row(what, ours, "none of both, set up the same", bare, at_most=2, checks=wrong),
            Row(what, ours, "nothing set up at all", same, at_most=2, checks=wrong),
        ]
        stop = ["hook", "stop", "--agent", "claude"]
        asked = [] if "lessonbook reminder" in _said(full, stop) else ["it did not ask"]
        long, short = in_turns(TIMES, partial(_seconds, full, stop), partial(_seconds, none, stop))
        name = f"hook stop, a turn of {CALLS:,} calls"
        rows.append(Row(name, long, "a turn of one call", short, at_most=2, checks=asked))
        return rows


@contextmanager
def _home(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_SHARED if os.access(_SHARED, os.W_OK) else None, prefix=f"{name}-") as place:
        home = Path(place)
        (home / "work").mkdir()
        _transcript(home / "t.jsonl", CALLS if name == "full" else 1)
        yield home


def _transcript(path: Path, calls: int) -> None:
    said = {"type": "user", "message": {"role": "user", "content": "fix it"}}
    call = {
        "type": "assistant",
        "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"c": "x" * 300}}]},
    }
    path.write_text("\n".join(json.dumps(row) for row in [said, *[call] * calls]) + "\n")


def _set_up(home: Path, lessons: int, skills: int) -> None:
    """Make a book, a memory of ``lessons`` and ``skills`` authored skills, with the real commands' own code."""
    from lessonbook.core.lesson import Lesson
    from lessonbook.memory.registry import open_memory
    from lessonbook.system.projects import identify
    from lessonbook.system.settings import load, places

    config = home / ".config" / "lessonbook"
    (config / "learned").mkdir(parents=True)
    (config / "config.toml").write_text('[memory]\nbackend = "mnemopi"\n\n[autolearn]\nenabled = true\n')
    (config / "learned" / "AGENTS.md").write_text("- Run make test.\n")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(config / "learned"), *words], check=True, capture_output=True)
    memory = open_memory(load(places({"HOME": str(home)})), identify(home / "work"), time.time, home / "work")
    for number in range(lessons):
        text = f"Run make test-{number} before module {number % 97} is pushed; it takes {number % 13} minutes."
        memory.store(Lesson(text, context=f"seen in session {number}"))
    memory.close()
    for number in range(skills):
        name = f"skill-{number:03}"
        folder = home / (".claude/skills" if number % 2 else ".agents/skills") / name
        folder.mkdir(parents=True)
        about = f"Use when task {number} comes up; checks thing {number % 17} and writes the report."
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about}\n---\n\n" + "Step.\n" * 40)
    time.sleep(3.1 if skills else 0)  # files that changed just now are not remembered


def _event(home: Path) -> str:
    event = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(home / "work")}
    return json.dumps(event | {"session_id": os.urandom(4).hex(), "transcript_path": str(home / "t.jsonl")})


def _seconds(home: Path, words: list[str]) -> float:
    event, env = _event(home), _environment(home)
    start = time.perf_counter()
    subprocess.run(
        [*PROGRAM, *words], input=event, text=True, capture_output=True, check=True, env=env, cwd=home / "work"
    )
    return time.perf_counter() - start


def _said(home: Path, words: list[str]) -> str:
    env = _environment(home)
    done = subprocess.run([*PROGRAM, *words], input=_event(home), text=True, capture_output=True, check=True, env=env)
    return done.stdout
