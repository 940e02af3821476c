from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.promoting import promote
from lessonbook.system import faults

A, B = "20270301-080000-0000aa", "20270301-090000-0000bb"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"
SKILL = "---\nname: sizes\ndescription: x\n---\nuse du\n"


def accepted(repo: Any, files: dict[str, str], id: str = A, message: str = "") -> None:
    commit = repo.propose(id, files, message=message)
    told = queue.accept(repo.folder, id, NOW, acknowledged=True, commit=commit)
    assert told["ok"], told


def refused(repo: Any, project: Any, id: str = A) -> str:
    before = (repo.state(), project.state())
    told = promote(repo.folder, id, project.folder, NOW)
    assert told["ok"] is False and (repo.state(), project.state()) == before
    return str(told["error"])


def test_a_rule_becomes_a_branch_of_the_project_and_nothing_else_moves(repo: Any, make_repo: Any) -> None:
    project = make_repo("app", {"AGENTS.md": "House rules.\n", "main.py": "x\n"})
    accepted(repo, {"AGENTS.md": f"{BASE}\nUse `pnpm`, not `npm`.\n"}, message="Lesson from a replay: Use pnpm\n")
    project.write({"AGENTS.md": "an edit of mine\n", "new.txt": "untracked\n"})
    project.git("add", "new.txt")
    before = project.state() | {"refs": ""}
    told = promote(repo.folder, A, project.folder, NOW)
    assert told == {
        "ok": True, "id": A, "branch": f"lessonbook/{A}", "commit": project.git("rev-parse", f"lessonbook/{A}")[:7],
        "files": ["AGENTS.md"], "project": str(project.folder),
    }  # fmt: skip
    assert project.state() | {"refs": ""} == before
    assert project.git("show", f"lessonbook/{A}:AGENTS.md") == "House rules.\n\nUse `pnpm`, not `npm`."
    assert project.git("rev-parse", f"lessonbook/{A}^") == project.git("rev-parse", "HEAD")
    assert project.git("diff", "--stat", "HEAD", f"lessonbook/{A}", "--", "main.py") == ""
    body = project.git("log", "-1", "--format=%an|%B", f"lessonbook/{A}")
    assert body == f"Dhrona|Use pnpm\n\nPromoted-from: lessonbook {A}"
    assert project.git("fsck", "--no-dangling", "--strict") == ""
    assert "has a branch" in refused(repo, project)


def test_agents_md_is_made_and_a_skill_goes_where_agents_look(repo: Any, make_repo: Any) -> None:
    project = make_repo("app", {"main.py": "x\n"})
    accepted(
        repo, {"AGENTS.md": f"{BASE}\nOne.\n\nTwo.\n", "skills/sizes/SKILL.md": SKILL, "skills/sizes/a.txt": "a\n"}
    )
    told = promote(repo.folder, A, project.folder / ".", NOW)
    assert told["files"] == ["AGENTS.md", ".agents/skills/sizes/SKILL.md", ".agents/skills/sizes/a.txt"]
    assert project.git("show", f"lessonbook/{A}:AGENTS.md") == "One.\n\nTwo."
    assert project.git("show", f"lessonbook/{A}:.agents/skills/sizes/SKILL.md") == SKILL.strip()


def test_line_ends_of_the_project_are_kept(repo: Any, make_repo: Any) -> None:
    project = make_repo("app", {"AGENTS.md": "House.\r\n"})
    accepted(repo, {"AGENTS.md": f"{BASE}\nOne.\n"})
    assert promote(repo.folder, A, project.folder, NOW)["ok"]
    assert (
        b"House.\r\n\r\nOne.\r\n"
        in subprocess.run(
            ["git", "-C", str(project.folder), "cat-file", "-p", f"lessonbook/{A}:AGENTS.md"],
            capture_output=True,
            check=True,
        ).stdout
    )


def test_what_cannot_be_promoted_says_why(repo: Any, make_repo: Any, tmp_path: Path) -> None:
    project = make_repo("app", {"AGENTS.md": "House.\n\nOne.\n"})
    repo.propose(A, {"AGENTS.md": f"{BASE}\nOne.\n"})
    assert "accept it first" in refused(repo, project)
    assert queue.accept(repo.folder, A, NOW)["ok"]
    assert "does not have already" in refused(repo, project)
    assert "is the book itself" in refused(repo, repo)
    (tmp_path / "plain").mkdir()
    for where, why in ((tmp_path / "plain", "no repository"), (tmp_path / "none", "not a folder")):
        assert why in promote(repo.folder, A, where, NOW)["error"]
    unborn = tmp_path / "unborn"
    subprocess.run(["git", "init", "-q", str(unborn)], check=True)
    assert "no commit yet" in promote(repo.folder, A, unborn, NOW)["error"]
    assert "id" in promote(repo.folder, "-x", project.folder, NOW)["error"]


def test_nothing_of_the_project_is_overwritten_or_followed(repo: Any, make_repo: Any, tmp_path: Path) -> None:
    accepted(repo, {"AGENTS.md": f"{BASE}\nOne.\n", "skills/sizes/SKILL.md": SKILL})
    other = make_repo("other", {".agents/skills/sizes/SKILL.md": "another\n"})
    assert "never overwritten" in refused(repo, other)
    linked = make_repo("linked", {"CLAUDE.md": "x\n"})
    (linked.folder / "AGENTS.md").symlink_to("CLAUDE.md")
    linked.git("add", "-A")
    linked.git("commit", "-q", "-m", "link")
    assert "is a link" in refused(repo, linked)
    blocked = make_repo("blocked", {".agents": "a file\n"})
    assert "not a folder" in refused(repo, blocked)


def test_a_compaction_or_removal_has_nothing_for_a_project(repo: Any, make_repo: Any) -> None:
    project = make_repo("app")
    accepted(repo, {"AGENTS.md": "Short.\n"}, message="Compact learned AGENTS.md\n")
    assert "only shortens" in refused(repo, project)
    repo.commit({"skills/x/SKILL.md": "x\n"})
    accepted(repo, {"skills/x/SKILL.md": None}, B)
    assert "does not have already" in refused(repo, project, B)


def test_a_secret_that_reached_the_book_by_hand_goes_no_further(repo: Any, make_repo: Any) -> None:
    project = make_repo("app")
    secret = "ghp_" + "a1B2" * 9
    repo.commit({"AGENTS.md": f"{BASE}\nToken {secret}\n"}, f"Lesson from a replay: x\n\nAccepted-id: {A}")
    assert secret not in refused(repo, project)
    assert secret not in project.git("cat-file", "--batch-all-objects", "--batch")


def test_no_program_of_the_project_runs(repo: Any, make_repo: Any, tmp_path: Path) -> None:
    project = make_repo("app")
    marker = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    program.chmod(0o755)
    hooks = project.folder / ".git/hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-commit", "pre-commit", "post-checkout"):
        (hooks / name).symlink_to(program)
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "core.pager", "gpg.program", "core.sshCommand"):
        project.git("config", key, str(program))
    project.git("config", "commit.gpgSign", "true")
    (project.folder / ".git/info").mkdir(exist_ok=True)
    (project.folder / ".git/info/attributes").write_text("* filter=x diff=x merge=x\n")
    accepted(repo, {"AGENTS.md": f"{BASE}\nOne.\n"})
    assert promote(repo.folder, A, project.folder, NOW)["ok"] and not marker.exists()


_KILLED = """
import sys
from pathlib import Path
from lessonbook.book.promoting import promote
from lessonbook.system import faults
faults.arm(sys.argv[4])
promote(Path(sys.argv[1]), sys.argv[3], Path(sys.argv[2]), 1800000000)
"""


@pytest.mark.parametrize("point", ["promote.written", "promote.made"])
def test_a_kill_leaves_no_branch_or_a_whole_one(repo: Any, make_repo: Any, point: str) -> None:
    project = make_repo("app")
    accepted(repo, {"AGENTS.md": f"{BASE}\nOne.\n"})
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", _KILLED, str(repo.folder), str(project.folder), A, point]
    assert subprocess.run(words, env=env, check=False).returncode == -signal.SIGKILL
    made = project.git("branch", "--list", "lessonbook/*") != ""
    assert made is (point == "promote.made") and project.git("status", "--porcelain") == ""
    assert promote(repo.folder, A, project.folder, NOW)["ok"] is not made
    assert project.git("show", f"lessonbook/{A}:AGENTS.md").endswith("One.")


def test_the_points_are_all_that_are_passed(repo: Any, make_repo: Any) -> None:
    accepted(repo, {"AGENTS.md": f"{BASE}\nOne.\n"})
    passed = faults.record()
    promote(repo.folder, A, make_repo("app").folder, NOW)
    faults._log = None
    assert passed == ["promote.written", "promote.made"]
