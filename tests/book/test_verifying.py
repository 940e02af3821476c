from __future__ import annotations

from typing import Any

from lessonbook.book import queue
from lessonbook.book.offer import Offer, offer
from lessonbook.book.undoing import undo
from lessonbook.book.verifying import verified, verify

A, B = "20270301-080000-0000aa", "20270301-090000-0000bb"
NOW = 1_800_000_000
BASE = "Run the linter first.\n"


def test_only_what_went_round_the_queue_is_listed(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    repo.propose(B, {"skills/b/SKILL.md": "b\n"})
    assert queue.accept(repo.folder, A, NOW)["ok"] and queue.accept(repo.folder, B, NOW)["ok"]
    assert undo(repo.folder, B, NOW)["ok"]
    hand = repo.commit({"AGENTS.md": "Hand.\n", "skills/h/SKILL.md": "h\n"}, "Tidy up")
    found = verify(repo.folder)
    assert (found.accepted, found.by_originals) == (2, 0)
    assert [(o.subject, o.author, o.files) for o in found.outside] == [
        ("Tidy up", "Ana <ana@example.org>", ("AGENTS.md", "skills/h/SKILL.md")),
        ("first", "Ana <ana@example.org>", ("AGENTS.md",)),
    ]
    told = verified(repo.folder)
    assert told["ok"] is False and told["changes"][0]["commit"] == hand and told["changes"][0]["at"] > 0


def test_a_book_of_ours_alone_is_clean(tmp_path: Any) -> None:
    folder = tmp_path / "new" / "learned"
    [id] = offer(folder, [Offer("one", "Rule one.")], NOW, lambda: "0000aa")
    assert queue.accept(folder, id, NOW)["ok"]
    assert verified(folder) == {"ok": True, "accepted": 1, "by_originals": 0, "changes": []}
    assert verified(tmp_path / "none")["ok"]


def test_text_a_person_had_before_the_book_started_is_listed(tmp_path: Any) -> None:
    folder = tmp_path / "learned"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Mine.\n")
    offer(folder, [Offer("one", "Rule one.")], NOW, lambda: "0000aa")
    assert [o.subject for o in verify(folder).outside] == ["Start the book"]


def test_what_the_originals_accepted_counts_apart(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    repo.git("cherry-pick", f"pending/{A}")
    assert [o.subject for o in verify(repo.folder).outside] == ["first"] and verify(repo.folder).by_originals == 1


def test_a_merge_by_hand_is_one_change_and_names_its_files(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"{BASE}\nRule a.\n"})
    repo.commit({"notes.txt": "x\n"}, "notes")
    repo.git("merge", "-q", "--no-edit", f"pending/{A}")
    rows = verify(repo.folder).outside
    assert [(o.subject.split()[0], o.files) for o in rows[:2]] == [("Merge", ("AGENTS.md",)), ("notes", ("notes.txt",))]


def test_another_owner_is_an_answer_too(repo: Any, monkeypatch: Any) -> None:
    (repo.folder / ".git" / "HEAD").write_text("nonsense\n")
    assert verified(repo.folder)["ok"] is False and "error" in verified(repo.folder)


def test_the_number_of_processes_is_constant(make_repo: Any, counted: Any) -> None:
    seen = []
    for count in (2, 30):
        repo = make_repo(f"book{count}")
        for n in range(count):
            repo.commit({"notes.txt": f"{n}\n"})
        counted.write_text("")
        assert len(verify(repo.folder).outside) == count + 1
        seen.append(len(counted.read_text().split()))
    assert seen[0] == seen[1] == 4
