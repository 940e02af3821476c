"""Who wrote each line, against ``git blame`` itself where the two must agree, and where we must know better."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lessonbook.book import blame
from lessonbook.book.blame import Hand, hands, laid_over, written
from lessonbook.book.editing import edit
from lessonbook.book.queue import accept
from lessonbook.book.repository import open_book
from lessonbook.book.undoing import undo
from lessonbook.core.compaction_reply import line_key
from lessonbook.core.reviewer import Reviewer

A = "20270301-080000-0000aa"
LESSON, COMPACTION = "Lesson from a replay: x", "Compact learned AGENTS.md with x (9 to 8 characters)"


def commit(repo: Any, text: str, subject: str, at: int) -> str:
    """Commit ``AGENTS.md`` on the branch HEAD is on, at ``at``."""
    branch, head = repo.git("symbolic-ref", "HEAD"), repo.git("rev-parse", "HEAD")
    data, message = text.encode(), subject.encode()
    stream = f"commit {branch}\ncommitter Ana <ana@example.org> {at} +0000\ndata {len(message)}\n".encode()
    stream += message + f"\nfrom {head}\nM 100644 inline AGENTS.md\ndata {len(data)}\n".encode() + data + b"\n"
    repo.git("fast-import", "--quiet", data=stream)
    repo.git("reset", "-q", "--hard")
    return str(repo.git("rev-parse", "HEAD"))


def blamed(repo: Any) -> list[Hand]:
    book = open_book(repo.folder)
    assert book is not None and book.head is not None
    return hands(book, book.head, repo.text())


def whose(repo: Any) -> list[tuple[str, bool, int]]:
    parts = written(repo.text(), blamed(repo))
    return [(part.paragraph.text.strip().split("\n")[0], part.proposed, part.at) for part in parts]


def gits_answer(repo: Any) -> list[Hand]:
    found = []
    at, subject = 0, ""
    for line in repo.git("blame", "--line-porcelain", "HEAD", "--", "AGENTS.md").split("\n"):
        if line.startswith("committer-time "):
            at = int(line.split()[1])
        elif line.startswith("summary "):
            subject = line.partition(" ")[2]
        elif line.startswith("\t"):
            found.append(Hand(subject.startswith(("Lesson from a replay", "Compact learned AGENTS.md")), at))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_same_as_git_blame_on_any_line_of_changes(repo: Any, seed: int) -> None:
    rng = random.Random(seed)
    lines = ["Run the linter first."]
    for step in range(25):
        at = rng.randrange(len(lines) + 1)
        lines[at : at + rng.randrange(3)] = [f"Line {seed}.{step}.{n}." for n in range(rng.randrange(1, 4))]
        if not rng.randrange(4):
            repo.commit({"skills/x/SKILL.md": f"{step}\n"}, "Something else")
        subject = rng.choice(["By hand", LESSON, COMPACTION, "Lesson of mine"])
        commit(repo, "\n".join(lines) + rng.choice(["\n", "\n\n"]), subject, 1_800_000_000 + step)
    ours = blamed(repo)
    theirs = gits_answer(repo)
    assert [hand for hand, line in zip(ours, repo.text().split("\n"), strict=False) if line] == [
        hand for hand, line in zip(theirs, repo.text().split("\n"), strict=False) if line
    ]


def test_a_side_branch_by_hand_and_a_merge_are_seen_through(repo: Any) -> None:
    start = repo.git("rev-parse", "HEAD")
    commit(repo, "Top.\n\nRun the linter first.\n", LESSON, 10)
    repo.git("checkout", "-q", "-b", "side", start)
    commit(repo, "Run the linter first.\n\nBottom.\n", "By hand", 20)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side")
    assert blamed(repo)[::2] == gits_answer(repo)[::2]
    assert [(text, proposed) for text, proposed, _ in whose(repo)] == [
        ("Top.", True),
        ("Run the linter first.", False),
        ("Bottom.", False),
    ]


def test_a_paragraph_is_the_proposers_only_with_every_line(repo: Any) -> None:
    commit(repo, "By hand.\n\nOne.\nTwo.\n\n```\na\n\nb\n```\n", LESSON, 10)
    commit(repo, "By hand.\n\nOne.\nTwo by hand.\n\n```\na\n\nb\n```\n", "Wording", 20)
    assert whose(repo) == [("By hand.", True, 10), ("One.", False, 20), ("```", True, 10)]


def test_an_end_of_line_or_a_byte_order_mark_is_nobodys_words(repo: Any) -> None:
    commit(repo, "By hand.", "first", 10)
    commit(repo, "By hand.\n\nLearned.\n", LESSON, 20)
    commit(repo, "\ufeffBy hand.\r\n\r\nLearned.\r\n", "Windows", 30)
    text = repo.text().removeprefix("\ufeff")
    book = open_book(repo.folder)
    assert book and book.head
    assert hands(book, book.head, text)[::2] == [Hand(False, 10), Hand(True, 20)]


def test_a_compactions_lines_are_as_old_as_it_says_never_newer_and_a_persons_where_it_is_silent(repo: Any) -> None:
    times = {line_key("Short one."): 500, line_key("Short two."): 99_000_000_000, line_key("Not there."): 1}
    text = f"{COMPACTION}\n\nIncludes: 20270301-080000-0000aa\nLesson-times: {json.dumps(times)}\n"
    commit(repo, "Kept.\n\nLong one.\n\nLong two.\n", LESSON, 1000)
    commit(repo, "Kept.\n\nShort one.\n\nShort two.\n\nShort three.\n", text, 2000)
    first, *short = whose(repo)
    assert first == ("Kept.", True, 1000)
    assert short == [("Short one.", True, 500), ("Short two.", True, 2000), ("Short three.", False, 2000)]


@pytest.mark.parametrize(
    "trailer", ["{", "[1]", '{"a": "x"}', '{"a": -1}', "NaN", '{"a": NaN}', "", "9" * 5000, "[" * 9000]
)
def test_a_damaged_trailer_leaves_the_commits_own_time(repo: Any, trailer: str) -> None:
    commit(repo, "Short.\n", f"{COMPACTION}\n\nLesson-times: {trailer.replace('a', line_key('Short.'))}\n", 2000)
    assert whose(repo) == [("Short.", True, 2000)]


def test_only_a_compaction_may_say_how_old_its_lines_are(repo: Any) -> None:
    commit(repo, "New.\n", f"{LESSON}\n\nLesson-times: {json.dumps({line_key('New.'): 5})}\n", 2000)
    assert whose(repo) == [("New.", True, 2000)]


def test_what_a_person_wrote_is_theirs_through_a_compaction_that_drops_its_twin(repo: Any) -> None:
    commit(repo, "Use ls.\n\nRun the linter first.\n\nMore.\n", LESSON, 10)
    commit(repo, "Use ls.\n\nRun the linter first.\n\nMore.\n\nUse ls.\n", "By hand", 20)
    commit(repo, "Run the linter first.\n\nUse ls.\n", COMPACTION, 30)
    assert whose(repo)[1] == ("Use ls.", False, 20)


def test_many_compactions_of_a_file_that_repeats_itself_stay_cheap(repo: Any) -> None:
    for n in range(12):
        commit(repo, "Use ls.\n\n" * 40 + f"And {n}.\n", COMPACTION if n else LESSON, 10 + n)
    found = whose(repo)
    assert found == [("Use ls.", True, 10)] * 40 + [("And 11.", True, 21)]


def test_after_the_cap_and_before_a_shallow_start_a_line_is_a_persons(repo: Any, tmp_path: Path) -> None:
    commit(repo, "Old lesson.\n", LESSON, 10)
    commit(repo, "Old lesson.\n\nNew lesson.\n", LESSON, 20)
    for depth, known in (("1", [False, False]), ("2", [False, True]), ("3", [True, True])):
        clone = type(repo)(tmp_path / f"clone{depth}")
        repo.git("clone", "-q", "--depth", depth, f"file://{repo.folder}", str(clone.folder))
        assert [proposed for _, proposed, _ in whose(clone)] == known


def test_a_book_whose_first_commit_is_a_lesson_is_the_proposers(make_repo: Any) -> None:
    repo = make_repo(files={"skills/x/SKILL.md": "x\n"})
    commit(repo, "Lesson.\n", LESSON, 10)
    assert whose(repo) == [("Lesson.", True, 10)]


def test_long_histories_are_cut_at_the_documented_number(repo: Any) -> None:
    stream = []
    for n in range(blame.VERSIONS + 5):
        text = "".join(f"Lesson {k}.\n" for k in range(n + 1, max(0, n - 20), -1)) + "First.\n"
        head = f"commit refs/heads/long\ncommitter A <a@x> {n + 1} +0000\ndata {len(LESSON)}\n{LESSON}\n"
        stream.append(f"{head}M 100644 inline AGENTS.md\ndata {len(text)}\n{text}\n")
    repo.git("fast-import", "--quiet", data="".join(stream).encode())
    repo.git("checkout", "-q", "long")
    found = blamed(repo)
    assert all(hand.proposed for hand in found[:-1]) and found[0].at == blame.VERSIONS + 5
    assert found[-1] == Hand(False, 0)


def test_a_change_laid_over_is_by_its_own_hand() -> None:
    old = [Hand(False, 1), Hand(False, 1), Hand(True, 2)]
    assert laid_over("A\n\nB\n", old, "A\n\nC\n\nB\n", Hand(True, 9)) == [
        *old[:2],
        Hand(True, 9),
        Hand(True, 9),
        old[2],
    ]
    assert laid_over("", [], "A\n", Hand(True, 9)) == [Hand(True, 9)]
    assert written("", []) == ()


def test_what_an_undo_brings_back_has_the_hands_it_had(repo: Any) -> None:
    commit(repo, "By hand.\n\nLearned.\n", LESSON, 1_800_000_000)
    repo.propose(A, {"AGENTS.md": "Both in one.\n\nMore.\n"})
    assert accept(repo.folder, A, 1_800_000_100)["ok"]
    commit(repo, f"{repo.text()}\nOf mine.\n", "By hand", 1_800_000_200)
    assert undo(repo.folder, A, 1_800_000_300)["ok"] and repo.text() == "By hand.\n\nLearned.\n\nOf mine.\n"
    assert whose(repo) == [
        ("By hand.", True, 1_800_000_000), ("Learned.", True, 1_800_000_000), ("Of mine.", False, 1_800_000_200),
    ]  # fmt: skip
    assert accept(repo.folder, A, 1_800_000_400)["ok"] and undo(repo.folder, A, 1_800_000_500)["ok"]
    assert [hand[1:] for hand in whose(repo)][:2] == [(True, 1_800_000_000)] * 2


def test_what_an_undo_brings_back_of_a_persons_is_theirs_and_so_is_an_undo_they_amended(repo: Any) -> None:
    commit(repo, "Mine.\n\nLearned.\n", LESSON, 1_800_000_000)
    commit(repo, "Mine, as I say.\n\nLearned.\n", "By hand", 1_800_000_001)
    repo.propose(A, {"AGENTS.md": "Short.\n"})
    assert accept(repo.folder, A, 1_800_000_100)["ok"] and undo(repo.folder, A, 1_800_000_200)["ok"]
    assert [hand[1] for hand in whose(repo)] == [False, True]
    repo.git("commit", "-q", "--amend", "--no-edit")
    assert [hand[1] for hand in whose(repo)] == [False, False]


def test_edited_before_it_was_accepted_is_a_persons(repo: Any) -> None:
    repo.propose(A, {"AGENTS.md": f"{repo.text()}\nLearned.\n"})
    text = f"{repo.text()}\nLearned, as I say it.\n"
    assert edit(repo.folder, A, {"AGENTS.md": text}, 1_800_000_000, Reviewer("Ana", "ana@example.org"))["ok"]
    assert accept(repo.folder, A, 1_800_000_100)["ok"]
    assert whose(repo)[-1][:2] == ("Learned, as I say it.", False)
