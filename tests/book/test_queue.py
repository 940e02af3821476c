from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.book import queue
from lessonbook.book.sentences import LEARNED_MAX, STALE
from lessonbook.core.errors import BusyError, StoreError

A, B, C = "20270301-080000-0000aa", "20270301-090000-0000bb", "20270301-100000-0000cc"
NOW = 1_800_000_000
SKILL = "---\nname: sizes\ndescription: how big files are\n---\nuse du\n"


def accept(repo: Any, id: str) -> dict[str, Any]:
    return queue.accept(repo.folder, id, NOW)


def listed(repo: Any) -> list[tuple[str, str | None]]:
    return [(row["id"], row["stale"]) for row in queue.pending(repo.folder)]


def refused(repo: Any, id: str) -> str:
    """Accept, which must be refused and change nothing at all; return the error."""
    before = repo.state()
    told = accept(repo, id)
    assert told["ok"] is False and told["id"] == id
    assert repo.state() == before
    return str(told["error"])


def test_three_candidates_from_listing_to_an_empty_queue(repo: Any) -> None:
    repo.propose(B, {"AGENTS.md": "Run nothing.\n"})
    repo.propose(A, {"skills/sizes/SKILL.md": SKILL})
    repo.propose(C, {"AGENTS.md": "Run everything.\n"})
    assert [(row["id"], row["files"]) for row in queue.pending(repo.folder)] == [
        (A, ["skills/sizes/SKILL.md"]),
        (B, ["AGENTS.md"]),
        (C, ["AGENTS.md"]),
    ]
    assert repo.text() == "Run the linter first.\n" and not (repo.folder / "skills").exists()
    assert "+use du" in queue.diff(repo.folder, A)["diff"]

    told = accept(repo, A)
    assert told == {"ok": True, "id": A, "commit": repo.git("rev-parse", "HEAD")[:7], "moved": [B, C], "stale": []}
    assert repo.text("skills/sizes/SKILL.md") == SKILL
    assert repo.git("rev-parse", f"pending/{B}^") == repo.git("rev-parse", "HEAD")
    assert repo.git("status", "--porcelain") == ""

    assert accept(repo, B)["stale"] == [C]
    assert listed(repo) == [(C, STALE)]
    assert refused(repo, C) == STALE and "no longer applies" in STALE
    assert "<<<<" not in repo.text()
    assert queue.reject(repo.folder, C) == {"ok": True, "id": C}
    assert queue.pending(repo.folder) == []
    assert "nothing is pending" in refused(repo, C)
    assert len(repo.git("worktree", "list").splitlines()) == 1
    assert repo.git("fsck", "--no-dangling") == ""


def test_rows_hold_exactly_the_contract(repo: Any) -> None:
    commit = repo.propose(A, {"AGENTS.md": "x\n"})
    row = {"id": A, "at": 1772352000, "subject": f"Lesson from a replay: {A}", "files": ["AGENTS.md"]}
    assert queue.pending(repo.folder) == [row | {"stale": None, "over": None, "includes": [], "commit": commit}]


def test_a_folder_without_a_repository_holds_nothing(tmp_path: Path) -> None:
    outer = subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert outer.returncode == 0
    (tmp_path / "inner").mkdir()
    for folder in (tmp_path / "inner", tmp_path / "none"):
        assert queue.pending(folder) == []
        assert queue.restack(folder, NOW) == ([], [])
        for told in (queue.diff(folder, A), queue.accept(folder, A, NOW), queue.reject(folder, A)):
            assert told["ok"] is False and "nothing" in told["error"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "home", "inner"]


@given(id=st.one_of(st.text(), st.sampled_from(["--force", "-d", "--upload-pack=x", A + "\n", A.upper(), " " + A])))
@settings(max_examples=100, deadline=None)
def test_what_is_no_id_is_never_acted_on(id: str) -> None:
    folder = Path("/nonexistent/learned")
    for told in (queue.diff(folder, id), queue.accept(folder, id, NOW), queue.reject(folder, id)):
        assert told["ok"] is False and told["id"] == id and "id" in told["error"]


def test_the_author_and_message_stay_and_the_commit_time_is_now(repo: Any) -> None:
    message = "Lesson from a replay: caf\xe9\n\nEvidence-key: k\n".encode("latin-1")
    for id, name in ((A, "a"), (B, "b")):
        repo.propose(id, {f"skills/{name}/SKILL.md": "x\n"}, message=message, author="Zoë Ü <z@x> 1772352000 -0330")
    before = repo.git("cat-file", "commit", f"pending/{B}")
    assert accept(repo, A)["moved"] == [B]
    assert repo.git("log", "-1", "--format=%an|%ae|%ad|%ct|%cn", "--date=raw") == (
        f"Zoë Ü|z@x|1772352000 -0330|{NOW}|lessonbook"
    )
    after = repo.git("cat-file", "commit", f"pending/{B}")
    for part in (0, 2):  # tree and committer are new; the author line and the message are kept to the byte
        assert before.split("committer")[0].split("author")[1] == after.split("committer")[0].split("author")[1]
        assert before.partition("\n\n")[part if part else 2] == after.partition("\n\n")[part if part else 2]


def test_the_encoding_of_a_message_is_kept(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    raw = repo.git("cat-file", "commit", f"pending/{A}").replace("\n\n", "\nencoding ISO-8859-1\n\n", 1)
    text = raw.encode() + b"\ncaf\xe9\n"
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", data=text)
    repo.git("update-ref", f"refs/heads/pending/{A}", commit)
    assert accept(repo, A)["ok"]
    assert "encoding ISO-8859-1" in repo.git("cat-file", "commit", "HEAD")
    assert "café" in repo.git("log", "-1", "--format=%B")


def test_candidates_that_each_add_a_paragraph_all_stay_acceptable(repo: Any) -> None:
    ids = [f"20270301-0800{n:02d}-00000a" for n in range(12)]
    for n, id in enumerate(ids):
        repo.propose(id, {"AGENTS.md": f"Run the linter first.\n\nRule {n}.\n"})
    for id in reversed(ids):
        assert accept(repo, id)["ok"]
    assert sorted(repo.text().split("\n\n")[1:]) == sorted(f"Rule {n}.\n"[: -1 if n else None] for n in range(12))
    assert repo.git("status", "--porcelain") == ""


def test_a_change_that_head_holds_is_accepted_without_a_commit(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "Same.\n"})
    repo.propose(B, {"AGENTS.md": "Same.\n"})
    accept(repo, A)
    head = repo.git("rev-parse", "HEAD")
    assert listed(repo) == [(B, None)]
    assert accept(repo, B) == {"ok": True, "id": B, "commit": None, "moved": [], "stale": []}
    assert repo.git("rev-parse", "HEAD") == head and queue.pending(repo.folder) == []


def test_a_branch_that_a_person_merged_is_held(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "Merged.\n"})
    repo.git("merge", "-q", f"pending/{A}")
    assert listed(repo) == [(A, None)]
    assert accept(repo, A)["commit"] is None


def test_uncommitted_changes_of_its_own_files_refuse(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n"})
    repo.write({"AGENTS.md": "by hand\n"})
    assert "uncommitted changes to AGENTS.md," in refused(repo, A)
    repo.git("add", "-A")  # staged counts as uncommitted too
    assert "uncommitted" in refused(repo, A)
    repo.git("reset", "-q", "--hard")
    repo.write({"skills/x/SKILL.md": "mine\n"})
    assert "uncommitted changes to skills/x/SKILL.md" in refused(repo, A)
    (repo.folder / "skills/x/SKILL.md").unlink()
    (repo.folder / "AGENTS.md").unlink()
    assert "AGENTS.md" in refused(repo, A)
    repo.git("checkout", "-q", "--", ".")
    assert accept(repo, A)["ok"]


def test_uncommitted_changes_of_other_files_stay(repo: Any) -> None:
    repo.commit({"notes.txt": "1\n", "skills/y/SKILL.md": "y\n"})
    repo.propose(A, {"AGENTS.md": "New.\n"})
    repo.write({"notes.txt": "2\n", "new.txt": "untracked\n", "skills/y/SKILL.md": "staged\n"})
    repo.git("add", "skills")
    before = repo.git("status", "--porcelain")
    assert accept(repo, A)["ok"]
    assert repo.git("status", "--porcelain") == before and repo.text("notes.txt") == "2\n"


def test_a_file_kept_with_crlf_line_ends_is_unchanged_and_stays_so(repo: Any) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write({"AGENTS.md": "Run the linter first.\r\n"})
    repo.propose(A, {"AGENTS.md": "Run it.\nTwice.\n"})
    assert accept(repo, A)["ok"]
    assert repo.text() == "Run it.\r\nTwice.\r\n"
    assert repo.git("show", "HEAD:AGENTS.md") == "Run it.\nTwice."


def test_files_that_cannot_be_replaced_safely_refuse(repo: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    repo.propose(A, {"AGENTS.md": "New.\n", "skills/x/SKILL.md": "x\n"})
    agents = repo.folder / "AGENTS.md"
    os.link(agents, tmp_path / "second")
    assert "second hard link" in refused(repo, A)
    (tmp_path / "second").unlink()
    (repo.folder / "skills").symlink_to(tmp_path)
    assert "symbolic link" in refused(repo, A)
    (repo.folder / "skills").unlink()
    (repo.folder / "skills").write_text("a file")
    assert "in the place of its folder" in refused(repo, A)
    (repo.folder / "skills").unlink()
    agents.unlink()
    agents.symlink_to(secret)
    assert "AGENTS.md (a symbolic link" in refused(repo, A)
    assert secret.read_text() == "mine"


def test_a_held_lock_refuses_and_readers_go_on(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "New.\n"})
    before = repo.state()
    with (repo.folder.parent / ".learned.lock").open("w") as held:  # as the originals take it
        fcntl.flock(held, fcntl.LOCK_EX)
        for told in (accept(repo, A), queue.reject(repo.folder, A)):
            assert "batch is running" in told["error"]
        with pytest.raises(BusyError, match="batch is running"):
            queue.restack(repo.folder, NOW)
        assert queue.diff(repo.folder, A)["ok"] and listed(repo) == [(A, None)]
    assert repo.state() == before
    assert accept(repo, A)["ok"]


def test_agents_md_past_the_limit_is_refused_with_its_length(repo: Any) -> None:
    text = "Run the linter first.\n\n" + "é" * LEARNED_MAX + "\n"
    repo.propose(A, {"AGENTS.md": text})
    error = refused(repo, A)
    assert "past the 2,000" in error and f"/learned compact {A}" in error
    assert accept(repo, A)["length"] == len(text)
    assert listed(repo) == [(A, None)]


def test_the_limit_counts_characters_and_what_merging_adds(repo: Any) -> None:
    base = "Run the linter first.\n"
    fits = base + "\n" + "é" * (LEARNED_MAX - len(base) - 2) + "\n"
    repo.propose(A, {"AGENTS.md": fits})
    repo.propose(B, {"AGENTS.md": base + "\nOne more.\n"})
    assert len(fits) == LEARNED_MAX and accept(repo, A)["ok"]
    assert listed(repo) == [(B, None)]
    assert "past the 2,000" in refused(repo, B)


def test_a_book_already_past_the_limit_can_shrink_and_gain_skills(repo: Any) -> None:
    long = "x" * 2500 + "\n"
    repo.commit({"AGENTS.md": long})
    repo.propose(A, {"skills/x/SKILL.md": "x\n"})
    repo.propose(B, {"AGENTS.md": "x" * 2200 + "\n"})
    repo.propose(C, {"AGENTS.md": long + "\nmore\n"})
    assert accept(repo, A)["ok"]
    assert "past the 2,000" in refused(repo, C)
    assert accept(repo, B)["ok"]


def test_a_compaction_takes_what_it_folded_in_along(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "Long lesson.\n"})
    repo.propose(B, {"skills/x/SKILL.md": "x\n"})
    repo.propose(C, {"AGENTS.md": "Short.\n"}, message=f"Compact learned AGENTS.md\n\nIncludes: {A}\n")
    assert queue.pending(repo.folder)[2]["includes"] == [A]
    assert accept(repo, C)["moved"] == [B]
    assert listed(repo) == [(B, None)]


def test_only_a_compaction_can_take_others_along(repo: Any) -> None:
    repo.propose(A, {"skills/a/SKILL.md": "x\n"})
    repo.propose(B, {"skills/b/SKILL.md": "x\n"}, message=f"Lesson from a replay: b\n\nIncludes: {A}\n")
    assert accept(repo, B)["moved"] == [A]


def test_a_dated_file_that_holds_older_entries_stands_for_them(repo: Any) -> None:
    day = "dhrona-2027-03-01.md"
    repo.propose(A, {day: "# Day\n\n- one\n"})
    repo.propose(B, {day: "# Day\n\n- one\n\n- two\n"})
    repo.propose(C, {"dhrona-2027-03-02.md": "# Day\n\n- one\n"})
    rows = queue.pending(repo.folder)
    assert [(row["id"], row["includes"]) for row in rows] == [(B, [A]), (C, [])]
    told = accept(repo, B)
    assert (told["moved"], [row["id"] for row in queue.pending(repo.folder)]) == ([C], [C])


def test_restack_alone_moves_onto_a_commit_a_person_made(repo: Any) -> None:
    repo.propose(A, {"skills/a/SKILL.md": "x\n"})
    repo.propose(B, {"AGENTS.md": "Other.\n"})
    repo.commit({"AGENTS.md": "By hand.\n"})
    assert queue.restack(repo.folder, NOW) == ([A], [B])
    assert queue.restack(repo.folder, NOW) == ([], [B])
    assert repo.git("status", "--porcelain") == ""


def test_a_removed_file_leaves_with_its_empty_folder(repo: Any) -> None:
    repo.commit({"skills/x/SKILL.md": "x\n", "skills/y/SKILL.md": "y\n"})
    repo.propose(A, {"skills/x/SKILL.md": None})
    repo.propose(B, {"skills/y/SKILL.md": None})
    repo.commit({"skills/y/SKILL.md": "changed\n"})
    assert listed(repo) == [(A, None), (B, STALE)]
    assert accept(repo, A)["ok"]
    assert sorted(path.name for path in (repo.folder / "skills").iterdir()) == ["y"]
    assert repo.git("status", "--porcelain") == ""


def test_a_skill_of_the_same_name_is_not_mixed_with_another(repo: Any) -> None:
    repo.propose(A, {"skills/x/SKILL.md": "first\n"})
    repo.propose(B, {"skills/x/SKILL.md": "second\n"})
    assert accept(repo, A)["stale"] == [B]


def test_a_file_never_takes_the_place_of_a_folder(repo: Any) -> None:
    repo.propose(A, {"skills/x/more/one.md": "x\n"})
    repo.propose(B, {"skills/x/more": "x\n"})
    repo.propose(C, {"skills/x/more": None, "skills/x/more/two.md": "x\n"})
    assert (accept(repo, A)["moved"], listed(repo)) == ([C], [(B, STALE), (C, None)])
    assert accept(repo, C)["ok"] and repo.git("status", "--porcelain") == ""


def test_a_hand_edited_branch_counts_whole_and_keeps_the_proposal(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "Run the linter first.\n\nDraft.\n"})
    tip = repo.git("rev-parse", f"pending/{A}")
    repo.propose(
        B, {"AGENTS.md": "Run the linter first.\n\nBetter.\n"}, base=tip, message="fix", author="Ana <a@x> 9 +0000"
    )
    repo.git("update-ref", f"refs/heads/pending/{A}", repo.git("rev-parse", f"pending/{B}"))
    repo.git("update-ref", "-d", f"refs/heads/pending/{B}")
    row = queue.pending(repo.folder)[0]
    assert (row["subject"], row["at"]) == (f"Lesson from a replay: {A}", 1772352000)
    assert "-Draft" not in queue.diff(repo.folder, A)["diff"]
    repo.commit({"skills/z/SKILL.md": "z\n"})
    assert queue.restack(repo.folder, NOW) == ([A], [])
    assert accept(repo, A)["ok"] and repo.text().endswith("Better.\n")
    assert repo.git("log", "-1", "--format=%an|%s") == f"Dhrona|Lesson from a replay: {A}"


def test_candidates_without_one_parent_say_so(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "orphan\n"}, base=None)
    repo.propose(B, {"AGENTS.md": "b\n"})
    merge = repo.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", f"pending/{B}", "-m", "merge")
    repo.git("update-ref", f"refs/heads/pending/{C}", merge)
    reasons = dict(listed(repo))
    assert "no parent" in (reasons[A] or "") and reasons[B] is None and "merge" in (reasons[C] or "")
    assert "no parent" in refused(repo, A) and "merge" in refused(repo, C)
    assert "orphan" in queue.diff(repo.folder, A)["diff"]
    assert accept(repo, B)["stale"] == [A, C]
    assert queue.reject(repo.folder, A)["ok"] and queue.reject(repo.folder, C)["ok"]


def test_rejected_candidates_are_remembered(repo: Any) -> None:
    commits = [repo.propose(A, {"AGENTS.md": "one\n"})]
    assert queue.reject(repo.folder, A)["ok"]
    commits.append(repo.propose(A, {"AGENTS.md": "two\n"}))
    assert queue.reject(repo.folder, A)["ok"]
    kept = repo.git("for-each-ref", "--format=%(objectname)", "refs/lessonbook/rejected/").split()
    assert sorted(repo.git("rev-parse", f"{record}^") for record in kept) == sorted(commits)


def test_head_rewritten_by_a_person_does_not_lose_candidates(repo: Any) -> None:
    repo.commit({"AGENTS.md": "Second.\n"}, "second")
    repo.propose(A, {"skills/a/SKILL.md": "a\n"})
    repo.git("commit", "-q", "--amend", "-m", "second, better said")
    assert listed(repo) == [(A, None)]
    assert queue.pending(repo.folder)[0]["subject"] == f"Lesson from a replay: {A}"
    assert accept(repo, A)["ok"] and repo.git("log", "-1", "--format=%an") == "Dhrona"


@pytest.mark.parametrize("how", ["detached", "trunk", "packed"])
def test_any_branch_or_none_and_packed_refs(make_repo: Callable[..., Any], how: str) -> None:
    repo = make_repo(branch="trunk" if how == "trunk" else "main")
    if how == "detached":
        repo.git("checkout", "-q", "--detach")
    repo.propose(A, {"AGENTS.md": "New.\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    if how == "packed":
        repo.git("pack-refs", "--all")
    branches = repo.git("branch", "--list", "main", "trunk", "--format=%(objectname)")
    assert accept(repo, A)["moved"] == [B]
    assert repo.text() == "New.\n" and repo.git("status", "--porcelain") == ""
    assert (repo.git("branch", "--list", "main", "trunk", "--format=%(objectname)") == branches) == (how == "detached")
    assert accept(repo, B)["ok"]


def test_a_shallow_clone_works(repo: Any, make_repo: Callable[..., Any], tmp_path: Path) -> None:
    repo.commit({"AGENTS.md": "Second.\n"})
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repo.folder}", str(tmp_path / "copy")], check=True)
    shallow = type(repo)(tmp_path / "copy")
    shallow.propose(A, {"AGENTS.md": "Third.\n"})
    assert queue.accept(shallow.folder, A, NOW)["ok"] and shallow.text() == "Third.\n"


def test_unborn_bare_and_sub_folders(repo: Any, tmp_path: Path) -> None:
    unborn = type(repo)(tmp_path / "unborn")
    unborn.folder.mkdir()
    unborn.git("init", "-q")
    assert queue.pending(unborn.folder) == []
    unborn.propose(A, {"AGENTS.md": "x\n"}, base=None)
    assert "no commit yet" in (listed(unborn)[0][1] or "")
    assert "no commit yet" in queue.accept(unborn.folder, A, NOW)["error"]
    bare = type(repo)(tmp_path / "bare")
    bare.folder.mkdir()
    bare.git("init", "-q", "--bare")
    with pytest.raises(StoreError, match="bare"):
        queue.pending(bare.folder)
    assert "bare" in queue.accept(bare.folder, A, NOW)["error"]


def test_a_broken_repository_inside_another_never_acts_on_the_outer(make_repo: Callable[..., Any]) -> None:
    outer = make_repo("outer")
    outer.propose(A, {"AGENTS.md": "outer\n"})
    inner = outer.folder / "learned"
    (inner / ".git").mkdir(parents=True)
    before = outer.state()
    with pytest.raises(StoreError, match="cannot open"):
        queue.pending(inner)
    assert queue.accept(inner, A, NOW)["ok"] is False and queue.reject(inner, A)["ok"] is False
    assert outer.state() == before


def test_a_repository_whose_files_lie_elsewhere_is_no_book(repo: Any, tmp_path: Path) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    (tmp_path / "elsewhere").mkdir()
    repo.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    assert "cannot be a book" in queue.accept(repo.folder, A, NOW)["error"]


def test_another_owner_is_explained_and_nothing_is_written(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    before = repo.state()
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    if subprocess.run(["git", "-C", str(repo.folder), "status"], capture_output=True, check=False).returncode == 0:
        pytest.skip("this git does not look at owners (before 2.30.3)")
    assert "belongs to another user" in queue.accept(repo.folder, A, NOW)["error"]
    with pytest.raises(StoreError, match="belongs to another user"):
        queue.pending(repo.folder)
    monkeypatch.delenv("GIT_TEST_ASSUME_DIFFERENT_OWNER")
    assert repo.state() == before


def test_without_git_everything_says_so(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    for told in (queue.diff(repo.folder, A), accept(repo, A), queue.reject(repo.folder, A)):
        assert "git is not installed" in told["error"]


def test_a_branch_checked_out_in_a_worktree_is_left_alone(repo: Any, tmp_path: Path) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    tree = tmp_path / "w"
    repo.git("worktree", "add", "-q", str(tree), f"pending/{A}")
    commit = repo.git("rev-parse", f"pending/{A}")
    assert str(tree) in (listed(repo)[0][1] or "")
    assert str(tree) in refused(repo, A) and str(tree) in queue.reject(repo.folder, A)["error"]
    assert accept(repo, B)["moved"] == []
    assert repo.git("rev-parse", f"pending/{A}") == commit
    for path in sorted(tree.rglob("*"), reverse=True):
        path.unlink()
    tree.rmdir()
    assert listed(repo) == [(A, None)] and accept(repo, A)["ok"]


def test_on_a_pending_branch_nothing_is_accepted(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    repo.git("checkout", "-q", f"pending/{A}")
    assert "switch it back" in refused(repo, B)


def test_a_branch_that_only_names_another_is_never_followed(repo: Any) -> None:
    repo.git("symbolic-ref", f"refs/heads/pending/{A}", "refs/heads/main")
    repo.propose(B, {"AGENTS.md": "x\n"})
    assert "another name for refs/heads/main" in refused(repo, A)
    assert queue.reject(repo.folder, A)["ok"] is False
    assert accept(repo, B)["ok"]


def test_a_commit_that_is_gone_does_not_hide_the_others(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    (repo.folder / ".git/refs/heads/pending" / B).write_text("1" * 40 + "\n")
    reasons = dict(listed(repo))
    assert reasons[A] is None and "missing" in (reasons[B] or "")
    assert accept(repo, A)["ok"]
    assert queue.reject(repo.folder, B)["ok"] is False or queue.pending(repo.folder) == []


def test_gits_own_lock_is_waited_for_and_then_reported(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.propose(A, {"AGENTS.md": "x\n"})
    lock = repo.folder / ".git" / "index.lock"
    lock.touch()
    held = subprocess.Popen(["sh", "-c", f"sleep 0.4; rm {lock}"])
    assert accept(repo, A)["ok"]
    held.wait()
    repo.propose(B, {"AGENTS.md": "y\n"})
    lock.touch()
    assert listed(repo) == [(B, None)]
    before = repo.state()
    started = time.monotonic()
    error = accept(repo, B)["error"]
    assert "another git command works in the book" in error and "remove" not in error
    assert time.monotonic() - started < 30 and lock.exists() and repo.state() == before


def test_a_secret_on_a_hand_edited_branch_is_not_accepted(repo: Any) -> None:
    secret = "ghp_" + "a1B2" * 9
    repo.propose(A, {"AGENTS.md": f"Run the linter first.\n\nToken {secret}\n"})
    error = refused(repo, A)
    assert "AGENTS.md holds what looks like a secret" in error and secret not in error


def test_inherited_git_variables_never_lead_elsewhere(
    repo: Any, make_repo: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repo("other")
    before = other.state()
    repo.propose(A, {"AGENTS.md": "x\n"})
    for name, value in {
        "GIT_DIR": other.folder / ".git",
        "GIT_INDEX_FILE": other.folder / ".git/index",
        "GIT_WORK_TREE": other.folder,
        "GIT_OBJECT_DIRECTORY": other.folder / ".git/objects",
        "GIT_NAMESPACE": "ns",
        "GIT_COMMON_DIR": other.folder / ".git",
    }.items():
        monkeypatch.setenv(name, str(value))
    assert listed(repo) == [(A, None)] and accept(repo, A)["ok"]
    monkeypatch.undo()
    assert other.state() == before and repo.text() == "x\n"


def test_two_that_each_start_agents_md_or_a_dated_file_both_count(make_repo: Callable[..., Any]) -> None:
    repo = make_repo(files={"notes.txt": "x\n"})
    day = "dhrona-2027-03-01.md"
    repo.propose(A, {"AGENTS.md": "Rule a.\n", day: "- a\n"})
    repo.propose(B, {"AGENTS.md": "Rule b.\n", day: "- b\n"})
    assert accept(repo, A)["moved"] == [B] and accept(repo, B)["ok"]
    assert sorted(repo.text().split("\n\n")) == ["Rule a.", "Rule b.\n"] and "- a" in repo.text(day)
    assert repo.git("status", "--porcelain") == ""


def test_removed_here_and_changed_there_is_stale_both_ways(repo: Any) -> None:
    repo.commit({"skills/x/SKILL.md": "x\n", "skills/y/SKILL.md": "y\n"})
    repo.propose(A, {"skills/x/SKILL.md": "changed\n"})
    repo.propose(B, {"skills/y/SKILL.md": None})
    (repo.folder / "skills/x/SKILL.md").unlink()
    repo.commit({"skills/y/SKILL.md": "changed\n"})
    assert listed(repo) == [(A, STALE), (B, STALE)]


def test_a_binary_file_is_taken_whole_or_not_at_all(repo: Any) -> None:
    repo.commit({"skills/x/logo.png": "\0one\n"})
    for id in (A, B):
        repo.propose(id, {"skills/x/logo.png": f"\0{id}\n"})
    assert "binary" in refused(repo, A)
    told = queue.accept(repo.folder, A, NOW, acknowledged=["hidden"], commit=repo.git("rev-parse", f"pending/{A}"))
    assert told["stale"] == [B] and repo.text("skills/x/logo.png") == f"\0{A}\n"
    assert "+\0" in queue.diff(repo.folder, B)["diff"]  # shown as text: nothing is accepted unseen


def test_a_damaged_author_line_says_so_and_can_be_rejected(repo: Any) -> None:
    good = repo.propose(A, {"AGENTS.md": "x\n"})
    raw = repo.git("cat-file", "commit", good).replace("Dhrona <d@example.org>", "Dhrona d@example.org")
    bad = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=raw.encode() + b"\n")
    repo.git("update-ref", f"refs/heads/pending/{A}", bad)
    assert listed(repo) == [(A, "its author line is damaged")]
    assert "author line" in refused(repo, A) and queue.reject(repo.folder, A)["ok"]


def test_a_branch_at_head_itself_holds_nothing_more(repo: Any) -> None:
    repo.git("branch", f"pending/{A}")
    assert [(row["files"], row["stale"]) for row in queue.pending(repo.folder)] == [([], None)]
    assert queue.diff(repo.folder, A)["diff"] == ""
    assert accept(repo, A)["commit"] is None and queue.pending(repo.folder) == []


def test_branches_of_other_names_under_pending_are_no_candidates(repo: Any) -> None:
    for name in ("pending/notes", f"pending/{A}-old", f"pending/x/{A}", "other"):
        repo.git("branch", name)
    assert queue.pending(repo.folder) == []
    repo.propose(B, {"AGENTS.md": "x\n"})
    assert accept(repo, B)["moved"] == []
