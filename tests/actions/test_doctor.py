"""Each thing that can be wrong is found, with what to do about it; nothing is changed by looking."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.actions.check import Check, Level
from lessonbook.actions.doctor import examine
from lessonbook.system.settings import places

NOW = 1_798_675_200.0
Commit = Callable[..., Path]


def checks(cwd: Path, level: Level) -> list[Check]:
    return [check for check in examine(places(), cwd, NOW) if check.level is level]


def configure(home: Path, text: str) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def snapshot(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def test_a_new_machine_has_no_problem(tmp_path: Path, home: Path) -> None:
    found = examine(places(), tmp_path, NOW)
    assert [check for check in found if check.level is Level.PROBLEM] == []
    assert {"Python", "git", "settings", "memory", "book global", "skills", "agents", "briefing"} <= {
        c.what for c in found
    }
    assert all(check.do for check in found if check.level is Level.NOTE)
    assert snapshot(home) == {}, "a doctor only looks"


def test_a_healthy_book_and_bank(tmp_path: Path, home: Path, commit: Commit) -> None:
    commit({"AGENTS.md": "A rule.\n"})
    configure(home, "[memory]\nbackend = 'mnemopi'\n[autolearn]\nenabled = true\n")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"command": "lessonbook hook session-start"}')
    (home / ".claude/projects").mkdir()
    notes = [check.found for check in checks(tmp_path, Level.NOTE) if "extra `vectors`" not in check.found]
    assert checks(tmp_path, Level.PROBLEM) == [] and notes == []


def test_each_agent_is_looked_at_for_its_hook(tmp_path: Path, home: Path) -> None:
    for folder in (".claude/projects", ".codex/sessions"):
        (home / folder).mkdir(parents=True)
    hooks = home / ".codex/hooks.json"
    hooks.write_text('{"command": "lessonbook hook session-start"}')
    assert "codex runs `lessonbook hook session-start`" in {check.found for check in checks(tmp_path, Level.FINE)}
    (note,) = [check for check in checks(tmp_path, Level.NOTE) if check.what == "agents"]
    assert note.found.startswith("claude does not run") and "lessonbook setup" in note.do
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_bytes(hooks.read_bytes())
    assert [check for check in checks(tmp_path, Level.NOTE) if check.what == "agents"] == []


def test_a_server_that_is_not_named_or_does_not_answer(tmp_path: Path, home: Path) -> None:
    configure(home, "[memory]\nbackend = 'hindsight'\n")
    assert any("config set hindsight.url" in check.do for check in checks(tmp_path, Level.PROBLEM))
    configure(home, "[memory]\nbackend = 'hindsight'\n[hindsight]\nurl = 'http://127.0.0.1:9'\n")
    assert any("127.0.0.1:9 cannot be reached" in check.found for check in checks(tmp_path, Level.PROBLEM))


@pytest.mark.parametrize(
    ("text", "level", "said"),
    [
        ("learning = [", Level.PROBLEM, "not valid TOML"),
        ("memory = 3", Level.PROBLEM, "must be a table"),
        ("[autolearn]\nenabled = true", Level.PROBLEM, "no learn tool"),
        ("learning = false", Level.NOTE, "learning is off"),
        ("[memory]\nbakend = 'local'", Level.NOTE, "memory.bakend is not a setting"),
        ("[memory]\nbackend = 'hindsight'", Level.PROBLEM, "indsight"),
    ],
)
def test_settings(tmp_path: Path, home: Path, text: str, level: Level, said: str) -> None:
    configure(home, text)
    assert any(said in check.found for check in checks(tmp_path, level))


def test_what_is_wrong_in_a_book(tmp_path: Path, home: Path, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x" * 2_001, "skills/s/SKILL.md": "---\nname: s\n---\n\nx\n"})
    (folder / "AGENTS.md").write_text("an edit")
    assert any("past the 2,000" in check.found for check in checks(tmp_path, Level.PROBLEM))
    assert any("uncommitted changes to AGENTS.md" in check.found for check in checks(tmp_path, Level.NOTE))
    assert any("has no description" in check.found for check in checks(tmp_path, Level.NOTE))


def test_a_batch_that_runs(tmp_path: Path, home: Path, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    with (folder.parent / ".learned.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert any("batch is running" in check.found for check in checks(tmp_path, Level.NOTE))


def test_a_broken_book_and_one_without_repository(tmp_path: Path, home: Path, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    (folder / ".git/HEAD").write_bytes(b"garbage")
    assert any(check.what == "book global" for check in checks(tmp_path, Level.PROBLEM))
    subprocess.run(["rm", "-r", str(folder / ".git")], check=True)
    found = next(check for check in checks(tmp_path, Level.PROBLEM) if check.what == "book global")
    assert "no repository of its own" in found.found and "init" in found.do


def test_another_owners_book(tmp_path: Path, home: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch) -> None:
    commit({"AGENTS.md": "x\n"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert any("another user" in check.found for check in checks(tmp_path, Level.PROBLEM))


def test_no_git(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert any(check.what == "git" and "not installed" in check.found for check in checks(tmp_path, Level.PROBLEM))


def test_an_old_git(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin/git"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\necho "git version 2.17.1"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    assert any("too old" in check.found for check in checks(tmp_path, Level.PROBLEM))
