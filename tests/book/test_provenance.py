"""Who proposed and who accepted each commit and each line; and the cheap mark that changes with every change."""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns
from typing import Any

from lessonbook.book import queue
from lessonbook.book.provenance import author_of, lines, made
from lessonbook.book.pulse import pulse
from lessonbook.book.undoing import undo
from lessonbook.core.reviewer import Reviewer

A, B = "20270301-080000-0000aa", "20270301-090000-0000bb"
NOW = 1_800_000_000
KIM = Reviewer("Kim", "kim@example.org")


def test_each_line_and_commit_names_both(repo: Any) -> None:
    repo.commit({"AGENTS.md": "One.\nTwo.\n"})
    repo.propose(A, {"AGENTS.md": "One.\nTwo, better.\n"})
    assert queue.accept(repo.folder, A, NOW, KIM)["ok"]
    found = lines(repo.folder)
    assert [(line.text, line.made.author, line.made.accepted_by) for line in found if line.made] == [
        ("One.", "Ana <ana@example.org>", ""),
        ("Two, better.", "Dhrona <d@example.org>", "Kim <kim@example.org>"),
    ]
    steps = made(repo.folder)
    assert [(step.how, step.id, step.undoable) for step in steps][:2] == [
        ("accepted", A, True),
        ("by hand", None, False),
    ]
    assert undo(repo.folder, A, NOW + 1)["ok"]
    assert [(step.how, step.undoable) for step in made(repo.folder)][:2] == [("taken back", False), ("accepted", False)]
    assert author_of(repo.folder, steps[0].commit) == ("Dhrona <d@example.org>", "Kim <kim@example.org>")


def test_where_there_is_nothing_to_name(tmp_path: Any, repo: Any) -> None:
    assert made(tmp_path / "none") == () and lines(tmp_path / "none") == ()
    assert "AGENTS.md" not in repo.git("ls-files").split() or lines(repo.folder)
    repo.git("rm", "-q", "--ignore-unmatch", "AGENTS.md")
    repo.git("commit", "-q", "--allow-empty", "-m", "no rules")
    assert lines(repo.folder) == ()


def test_lines_of_any_shape(repo: Any) -> None:
    text = "\tafter a tab\r\n\n" + "0" * 40 + " 1 1 1\nauthor Mallory\nlast without an end"
    repo.commit({"AGENTS.md": text})
    assert [line.text for line in lines(repo.folder)] == [
        "\tafter a tab", "", "0" * 40 + " 1 1 1", "author Mallory", "last without an end",
    ]  # fmt: skip


def test_every_change_of_a_ref_is_another_mark(repo: Any) -> None:
    repo.commit({"AGENTS.md": "One.\n"})
    acts: list[Callable[[], object]] = [
        lambda: repo.propose(A, {"AGENTS.md": "One.\nTwo.\n"}),
        lambda: repo.propose(B, {"AGENTS.md": "One.\nThree.\n"}),
        lambda: queue.accept(repo.folder, A, NOW),
        lambda: queue.reject(repo.folder, B, NOW),
        lambda: repo.commit({"AGENTS.md": "By hand.\n"}),
        lambda: repo.git("pack-refs", "--all"),
        lambda: repo.git("update-ref", "refs/lessonbook/pins/" + "0" * 32, "HEAD"),
    ]
    seen = [pulse(repo.folder).mark]
    for act in acts:
        act()
        seen.append(pulse(repo.folder).mark)
    assert len(set(seen)) == len(seen)
    assert pulse(repo.folder) == pulse(repo.folder)
    assert pulse(repo.folder / "none").newest == 0
    now = time_ns()
    assert not pulse(repo.folder).is_settled(pulse(repo.folder).newest) and pulse(repo.folder).is_settled(now + 10**9)
