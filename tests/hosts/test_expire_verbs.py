"""``learned expire``, ``pin`` and ``unpin`` as a person and a program use them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from lessonbook.core.expiry import DAY

Commit = Callable[..., Path]
SKILL = "---\nname: release\ndescription: When releasing, tag first.\n---\n\nTag.\n"
RULES = "Run the linter first.\n\nUse rg, not grep.\n"


def learned(commit: Commit, project: str | None = None, days: int = 40) -> Path:
    """A book whose rule and skill were accepted ``days`` ago."""
    folder = commit({"AGENTS.md": "Run the linter first.\n"}, project)
    (folder / "AGENTS.md").write_text(RULES)
    (folder / "skills/release").mkdir(parents=True)
    (folder / "skills/release/SKILL.md").write_text(SKILL)
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env["GIT_COMMITTER_DATE"] = f"{int(time.time()) - days * DAY} +0000"
    git = ["git", "-C", str(folder), "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    for words in (["add", "-A"], ["commit", "-q", "-m", "Lesson from a replay: rg"]):
        subprocess.run([*git, *words], env=env, check=True, capture_output=True)
    return folder


def test_it_says_what_would_leave_and_then_what_left(run, commit: Commit) -> None:
    folder = learned(commit)
    would = run("learned", "expire", "--dry-run")
    assert would.returncode == 0 and would.stderr == ""
    first, second = would.stdout.splitlines()
    assert first.startswith("would expire  AGENTS.md:3  Use rg, not grep.  (nothing used it for 30 days, since 20")
    assert second.startswith("would expire  skills/release  (nothing used it for 30 days, since ")
    assert (folder / "AGENTS.md").read_text() == RULES
    done = run("learned", "expire").stdout.splitlines()
    assert [line.split("  ")[0] for line in done[:2]] == ["expired", "expired"] and done[2].startswith("as ")
    assert (folder / "AGENTS.md").read_text() == "Run the linter first.\n"
    assert run("learned", "expire").stdout == "nothing expires\n"


def test_a_pin_holds_until_it_is_taken_away(run, commit: Commit) -> None:
    learned(commit)
    assert run("learned", "pin", "not grep").stdout == "pinned paragraph Use rg, not grep.\n"
    assert "in quotes" in run("learned", "pin", "not", "grep").stderr
    assert run("learned", "pin", "release").stdout == "pinned skill release\n"
    listed = "nothing is pending\npinned  skill release\npinned  paragraph Use rg, not grep.\n"
    assert run("learned").stdout == listed
    rows = json.loads(run("learned", "list", "--json").stdout)["books"][0]["pinned"]
    assert [(row["kind"], row["text"], row["here"]) for row in rows] == [
        ("skill", "release", True),
        ("paragraph", "Use rg, not grep.", True),
    ]
    kept = run("learned", "expire").stdout
    assert "kept  AGENTS.md:3  Use rg, not grep.  (it is pinned" in kept and "kept  skills/release" in kept
    assert run("learned", "unpin", "release").stdout == "unpinned skill release\n"
    assert "expired  skills/release" in run("learned", "expire").stdout


def test_reading_a_learned_skill_is_use_and_being_briefed_is_not(run, commit: Commit) -> None:
    learned(commit)
    assert run("skills").returncode == 0 and run("brief").returncode == 0
    assert len(run("learned", "expire", "--dry-run").stdout.splitlines()) == 2
    assert "Tag." in run("skills", "show", "release").stdout
    assert "skills/release" not in run("learned", "expire").stdout
    row = next(row for row in expire_json(run)["kept"] if row["kind"] == "skill")
    assert row["why"] == "it was used less than 30 days ago" and abs(row["since"] - time.time()) < 600


def expire_json(run, *words: str) -> dict[str, object]:
    return json.loads(run("learned", "expire", "--json", *words).stdout)["books"][0]


def test_programs_get_one_document(run, commit: Commit) -> None:
    learned(commit)
    told = expire_json(run, "--dry-run", "--days", "50")
    assert (told["ok"], told["expired"], told["commit"], told["book"]) == (True, [], None, "global")
    told = expire_json(run)
    assert [row["text"] for row in told["expired"]] == ["Use rg, not grep.", "release"] and len(told["commit"]) == 7
    done = run("learned", "pin", "nowhere", "--json")
    assert done.returncode == 2 and json.loads(done.stdout)["ok"] is False


def test_one_book_in_trouble_is_named_and_hides_no_other(run, commit: Commit) -> None:
    learned(commit)
    other = learned(commit, "shop-1234abcd")
    (other / "AGENTS.md").write_text("being written\n")
    done = run("learned", "expire")
    assert done.returncode == 1 and "expired  skills/release" in done.stdout
    assert done.stderr.startswith("lessonbook: shop-1234abcd: ") and "uncommitted changes to AGENTS.md" in done.stderr
    told = json.loads(run("learned", "expire", "--json").stdout)
    assert [book["ok"] for book in told["books"]] == [True, False] and not told["ok"]


def test_what_two_books_hold_or_none_is_refused(run, commit: Commit) -> None:
    learned(commit)
    learned(commit, "shop-1234abcd")
    assert "both hold it" in run("learned", "pin", "release").stderr
    assert run("learned", "pin", "release", "--book", "global").returncode == 0
    assert run("learned", "unpin", "release").stdout == "unpinned skill release\n"
    assert run("learned", "pin", "release", "--book", "shop-1234abcd").returncode == 0
    assert run("learned").stdout == "nothing is pending\nshop-1234abcd:\npinned  skill release\n"
    for words in (["pin", "nowhere"], ["unpin", "nowhere"], ["pin"], ["pin", " "], ["expire", "--days", "0"]):
        assert run("learned", *words).returncode == 2, words


def test_a_broken_book_is_named_only_where_it_was_asked_for(run, commit: Commit) -> None:
    learned(commit)
    broken = learned(commit, "shop-1234abcd")
    (broken / ".git/HEAD").write_text("nonsense")
    assert run("learned", "pin", "release").stdout == "pinned skill release\n"
    done = run("learned", "pin", "release", "--book", "shop-1234abcd")
    assert done.returncode == 5 and "cannot open" in done.stderr
    done = run("learned", "expire")
    assert done.returncode == 1 and "expired  AGENTS.md" in done.stdout and "shop-1234abcd" in done.stderr
