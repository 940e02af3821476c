"""Candidates that carry others: what a compaction folded in, older entries of a dated file. Decided in every order."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.book import queue
from lessonbook.book.compacting import compact
from lessonbook.book.editing import edit
from lessonbook.book.history import accepted, history
from lessonbook.book.many import accept_many
from lessonbook.book.rejecting import reject, unreject
from lessonbook.book.remembered import rejected
from lessonbook.book.sentences import STALE
from lessonbook.book.splitting import split
from lessonbook.book.undoing import undo

A, B, C, D = (f"20270301-0{n}0000-0000{n}{n}" for n in (1, 2, 3, 4))
NOW = 1_804_000_000
HAND = "Run the linter first.\n"
SIZES = "Read sizes with ls, not by opening files. " * 20
TESTS = "Run the quick tests before each commit. " * 10
SHORT = "[kept 1]\n\nRead sizes with ls.\n\nTest before each commit."


def folded(repo: Any) -> str:
    """A long rule that was accepted, a candidate with another and a skill, and a compaction that folds that in."""
    repo.propose(A, {"AGENTS.md": f"{HAND}\n{SIZES}\n"})
    assert queue.accept(repo.folder, A, NOW - 100)["ok"]
    repo.propose(B, {"AGENTS.md": f"{repo.text()}\n{TESTS}\n", "skills/b/SKILL.md": "b\n"})
    told = compact(repo.folder, B, lambda prompt: SHORT, NOW, lambda: "abcdef")
    assert told["ok"], told
    return str(told["id"])


def rows(repo: Any) -> dict[str, str | None]:
    return {row["id"]: row["stale"] for row in queue.pending(repo.folder)}


def refused(repo: Any, id: str, says: str) -> None:
    before = repo.state()
    told = queue.accept(repo.folder, id, NOW)
    assert told["ok"] is False and says in told["error"] and rows(repo)[id] == told["error"], told
    assert repo.state() == before


def test_a_rule_never_stands_twice(repo: Any) -> None:
    """Accepted by itself first, it would stand there whole, and again as the compaction says it."""
    id = folded(repo)
    assert queue.accept(repo.folder, B, NOW)["stale"] == [id]
    refused(repo, id, f"it folds in {B}, which does not wait any more")
    assert undo(repo.folder, B, NOW)["pending"] == [B] and rows(repo) == {B: None, id: None}
    assert queue.accept(repo.folder, id, NOW)["ok"] and rows(repo) == {}
    assert "Test before each commit." in repo.text() and TESTS not in repo.text()


@pytest.mark.parametrize("how", ["edit", "edit of the rule", "part", "split", "reject"])
def test_what_a_person_made_of_it_is_not_undone_by_the_compaction(repo: Any, how: str) -> None:
    id = folded(repo)
    if how == "edit":
        assert edit(repo.folder, B, {"skills/b/SKILL.md": "as I want it\n"}, NOW)["ok"]
    elif how == "edit of the rule":
        assert edit(repo.folder, B, {"AGENTS.md": f"{repo.text()}\nTest as I say.\n"}, NOW)["ok"]
    elif how == "part":
        assert queue.accept(repo.folder, B, NOW, only=["skills/b/SKILL.md"])["stale"] == [id]
    elif how == "split":
        assert split(repo.folder, B, "file", NOW)["ok"]
    else:
        assert reject(repo.folder, B, NOW, "not that")["ok"]
    changed = how in ("edit", "edit of the rule", "part")
    refused(repo, id, "before it was changed" if changed else "does not wait any more")
    assert reject(repo.folder, id, NOW)["ok"] and id not in rows(repo)
    if how == "edit":
        assert queue.accept(repo.folder, B, NOW)["ok"] and repo.text("skills/b/SKILL.md") == "as I want it\n"


def test_what_was_only_moved_is_the_same(repo: Any) -> None:
    id = folded(repo)
    repo.propose(C, {"AGENTS.md": f"{repo.text()}\nA third rule.\n"})
    repo.commit({"notes.txt": "x\n"})
    assert queue.restack(repo.folder, NOW) == ([B, id, C] if B < id < C else sorted([B, id, C]), [])
    assert rows(repo) == {B: None, id: None, C: None}
    assert queue.accept(repo.folder, id, NOW)["ok"] and rows(repo) == {C: None}
    assert repo.text("skills/b/SKILL.md") == "b\n"


def test_a_compaction_of_the_originals_says_only_whom_it_folds_in(repo: Any) -> None:
    id = "20270305-080000-0000ee"
    folded(repo)
    for row in rows(repo):
        reject(repo.folder, row, NOW) if row != B else None
    message = f"Compact learned AGENTS.md\n\nIncludes: {B}\n"
    repo.propose(id, {"AGENTS.md": f"{HAND}\nShort.\n", "skills/b/SKILL.md": "b\n"}, message=message)
    assert edit(repo.folder, B, {"skills/b/SKILL.md": "edited\n"}, NOW)["ok"] and rows(repo)[id] is None
    assert queue.accept(repo.folder, id, NOW)["ok"] and rows(repo) == {}


def test_both_in_one_move(make_repo: Any) -> None:
    for order in ("first", "last"):
        repo = make_repo(order)
        id = folded(repo)
        told = accept_many(repo.folder, [B, id] if order == "first" else [id, B], NOW)
        if order == "first":
            assert [row["id"] for row in told["accepted"]] == [B] and "accepted just before" in told["refused"][0][
                "error"
            ]
            assert TESTS in repo.text() and "Test before each commit." not in repo.text()
        else:
            assert told["ok"] and [row["commit"] is None for row in told["accepted"]] == [False, True]
            assert undo(repo.folder, id, NOW)["pending"] == [id, B], "it left the queue with the other"
            assert rows(repo) == {B: None, id: None}


def test_split_of_a_stale_candidate(repo: Any) -> None:
    """It says so and changes nothing; once the person solved it by an edit, it can be split."""
    repo.propose(A, {"AGENTS.md": "Another first line.\n\nMore.\n", "skills/a/SKILL.md": "a\n"})
    repo.commit({"AGENTS.md": "Mine.\n"})
    before = repo.state()
    for way in ("file", "paragraph"):
        assert split(repo.folder, A, way, NOW) == {"ok": False, "id": A, "error": STALE}
    assert repo.state() == before
    assert edit(repo.folder, A, {"AGENTS.md": "Mine.\n\nMore.\n"}, NOW)["ok"]
    told = split(repo.folder, A, "file", NOW)
    assert told["ok"] and [part["files"] for part in told["parts"]] == [["AGENTS.md"], ["skills/a/SKILL.md"]]
    assert accept_many(repo.folder, [part["id"] for part in told["parts"]], NOW)["ok"]
    assert (repo.text(), repo.text("skills/a/SKILL.md")) == ("Mine.\n\nMore.\n", "a\n")


VERBS = ["accept", "accept", "undo", "reject", "unreject", "edit", "many"]


class TestInAnyOrder:
    """Whatever is decided in whatever order: each candidate is in one place, and nothing a person wrote is lost."""

    @given(st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 3)), min_size=2, max_size=7))
    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_decisions(self, make_repo: Any, verbs: list[tuple[str, int]]) -> None:
        repo = make_repo(f"book-{uuid.uuid4().hex}")
        compaction = folded(repo)
        day = "dhrona-2027-03-01.md"
        repo.propose(C, {day: "- one\n"})
        repo.propose(D, {day: "- one\n\n- two\n"})
        ids = [B, compaction, C, D]
        edits: dict[str, str] = {}
        for verb, n in verbs:
            id = ids[n]
            if verb == "accept":
                queue.accept(repo.folder, id, NOW)
            elif verb == "undo":
                undo(repo.folder, id, NOW)
            elif verb == "reject":
                reject(repo.folder, id, NOW)
            elif verb == "unreject":
                unreject(repo.folder, id)
            elif verb == "edit":
                text = f"Edited {uuid.uuid4().hex}.\n"
                if edit(repo.folder, id, {"skills/mine/SKILL.md": text}, NOW)["ok"]:
                    edits[id] = text
            else:
                accept_many(repo.folder, [ids[n], ids[(n + 1) % 4]], NOW)
            self.check(repo, ids, edits)
        assert repo.git("fsck", "--no-dangling", "--strict") == ""

    def check(self, repo: Any, ids: list[str], edits: dict[str, str]) -> None:
        waits = set(repo.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/pending/").splitlines())
        gone = {row.id for row in rejected(repo.folder)}
        head = accepted(history(queue.opened(repo.folder)))
        carried = {value for step in head.values() for key, value in step.message.trailers if key == "Accepted-with"}
        for id in ids:
            assert id in waits | gone | head.keys() | carried, f"{id} is lost"
        assert not waits & head.keys()
        text = repo.text()
        assert not (TESTS in text and "Test before each commit." in text), "the rule stands twice"
        assert repo.git("status", "--porcelain") == "" and "<<<<" not in text
        for id, mine in edits.items():
            assert id in waits | gone | head.keys(), f"the edit of {id} left with another candidate"
            if id in waits:
                assert repo.git("show", f"pending/{id}:skills/mine/SKILL.md") == mine.strip()
