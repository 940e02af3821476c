"""Throwaway clones: as the repository was, leading nowhere, running nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lessonbook.core.errors import InputError
from lessonbook.system.clones import changes, clone, discard


def git(folder: Path, *words: str) -> str:
    own = ["git", "-C", str(folder), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return subprocess.run([*own, *words], env=env, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "First")
    git(folder, "remote", "add", "origin", "https://example.org/shop.git")
    return folder


def committed(source: Path) -> str:
    git(source, "add", "-A", "-f")
    git(source, "commit", "-q", "-m", "More")
    return git(source, "rev-parse", "HEAD").strip()


def test_it_is_the_repository_at_its_commit_and_leads_nowhere(source: Path, tmp_path: Path) -> None:
    first = git(source, "rev-parse", "HEAD").strip()
    (source / "a.txt").write_text("two\n")
    committed(source)
    (source / "a.txt").write_text("uncommitted\n")
    head = clone(source, first, tmp_path / "work" / "clone")
    target = tmp_path / "work" / "clone"
    assert head == first == git(target, "rev-parse", "HEAD").strip()
    assert (target / "a.txt").read_text() == "one\n"
    assert git(target, "status", "--porcelain") == ""
    assert git(target, "remote") == ""
    assert git(target, "log", "--format=%s") == "First\n"
    git(target, "commit", "-q", "--allow-empty", "-m", "Here")
    assert git(source, "log", "--format=%s", "-1") == "More\n"


def test_no_hook_and_no_filter_of_the_repository_runs(source: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        hook = source / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    (source / ".gitattributes").write_text("*.txt filter=mine diff=mine\n")
    commit = committed(source)
    for key in ("filter.mine.smudge", "filter.mine.clean", "diff.mine.textconv", "core.fsmonitor"):
        git(source, "config", key, f"sh -c 'touch {ran}; cat'")
    ran.unlink(missing_ok=True)
    target = tmp_path / "clone"
    head = clone(source, commit, target)
    (target / "a.txt").write_text("changed\n")
    (tmp_path / "beside").mkdir()
    assert "+changed" in changes(target, head, tmp_path / "beside")
    assert not ran.exists()


def test_what_the_agent_set_in_the_clone_runs_nothing_when_its_changes_are_read(source: Path, tmp_path: Path) -> None:
    ran, target = tmp_path / "ran", tmp_path / "clone"
    head = clone(source, git(source, "rev-parse", "HEAD").strip(), target)
    (target / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for key in ("filter.evil.clean", "filter.evil.process", "diff.evil.command", "core.fsmonitor", "core.sshCommand"):
        git(target, "config", key, f"sh -c 'touch {ran}; cat'")
    (target / "a.txt").write_text("changed\n")
    (target / "new.txt").write_text("new\n")
    (tmp_path / "beside").mkdir()
    ran.unlink(missing_ok=True)
    shown = changes(target, head, tmp_path / "beside")
    assert "+changed" in shown and "+new" in shown
    assert not ran.exists()


def test_what_makes_agents_run_programs_and_links_that_lead_out_are_left_out(source: Path, tmp_path: Path) -> None:
    out = (".claude/settings.json", ".mcp.json", ".codex/config.toml", "app/.gemini/settings.json", ".envrc")
    kept = (".claude/skills/x/SKILL.md", "AGENTS.md", "docs/mcp.json", "app/b.txt")
    for name in (*out, *kept):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("x\n")
    links = {
        "secrets": "/etc/passwd",
        "app/up": "../../elsewhere",
        "own": ".git/config",
        "fine": "a.txt",
        "app/f": "../a.txt",
    }
    for name, to in links.items():
        (source / name).symlink_to(to)
    commit = committed(source)
    target = tmp_path / "clone"
    head = clone(source, commit, target)
    there = set(git(target, "ls-files").split())
    assert there == {"a.txt", "fine", "app/f", *kept}
    assert not any((target / name).is_symlink() for name in ("secrets", "app/up", "own"))
    assert git(target, "status", "--porcelain") == ""
    assert git(target, "rev-parse", "HEAD^").strip() == commit
    assert head == clone(source, commit, tmp_path / "again")  # the same clone is the same commit


def test_a_worktree_a_bare_and_a_shallow_repository_can_be_cloned(source: Path, tmp_path: Path) -> None:
    (source / "a.txt").write_text("two\n")
    commit = committed(source)
    git(source, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    git(tmp_path, "clone", "-q", "--depth=1", source.as_uri(), "shallow")
    for number, place in enumerate((tmp_path / "tree", tmp_path / "bare.git", tmp_path / "shallow")):
        target = tmp_path / f"clone-{number}"
        assert clone(place, commit, target) == commit
        assert git(target, "log", "--format=%s").startswith("More\n")


def test_a_commit_that_is_not_there_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not hold the commit aaaaaaaaaaaa any more"):
        clone(source, "a" * 40, tmp_path / "clone")
    assert not (tmp_path / "clone").exists()


def test_a_diff_is_bounded_and_of_the_whole_clone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "clone"
    head = clone(source, git(source, "rev-parse", "HEAD").strip(), target)
    (target / "a.txt").unlink()
    (target / "big.txt").write_text("line\n" * 60_000)
    git(target, "add", "-A")
    git(target, "commit", "-q", "-m", "Committed by the agent")
    (tmp_path / "beside").mkdir()
    shown = changes(target, head, tmp_path / "beside")
    assert "deleted file" in shown and "+line" in shown
    assert len(shown) < 41_000


def test_what_an_agent_made_unreadable_is_removed_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "file").write_text("x")
    (tmp_path / "kept").mkdir()
    (folder / "link").symlink_to(tmp_path / "kept")
    (folder / "deep" / "er").chmod(0o500)
    (folder / "deep").chmod(0o000)
    discard(folder)
    assert not folder.exists()
    assert (tmp_path / "kept").exists()
