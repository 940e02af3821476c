"""One candidate as it is shown: its change, the file afterwards, and a print that moving does not change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.actions.looking import heading, look
from lessonbook.actions.review import NamedBook
from lessonbook.book import editing, queue
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import InputError

NOW = 1_798_675_200
SKILL = "---\nname: sizes\ndescription: When sizes matter.\n---\n\nLook first.\n"


@pytest.fixture
def book(commit: Callable[..., Path]) -> NamedBook:
    return NamedBook("global", commit({"AGENTS.md": "# Rules\n\nLint.\n"}))


def offered(book: NamedBook, *offers: Offer, now: int = NOW) -> list[str]:
    tails = iter(f"{n:06x}" for n in range(1, 99))
    return offer(book.folder, offers, now, tails.__next__)


def test_the_file_is_as_a_briefing_holds_it(book: NamedBook) -> None:
    (id,) = offered(book, Offer("Tag", "Tag first."))
    found = look(book, id)
    (result,) = found.results
    assert [line.text for line in result.lines] == ["### Rules", "", "Lint.", "", "Tag first."]
    assert [line.text for line in result.lines if line.brought] == ["Tag first."]
    assert result.characters == len("# Rules\n\nLint.\n\nTag first.\n") and result.most == 2000
    assert found.author == "lessonbook <lessonbook@localhost>"


def test_a_skill_is_found_by_its_description_and_read_whole(book: NamedBook) -> None:
    (id,) = offered(book, Offer("Sizes", "Look.", files={"skills/sizes/SKILL.md": SKILL, "skills/sizes/a.txt": "x\n"}))
    by_path = {result.path: result for result in look(book, id).results}
    assert "name and description" in by_path["skills/sizes/SKILL.md"].how
    assert [line.text for line in by_path["skills/sizes/SKILL.md"].lines] == SKILL.strip().split("\n")
    assert by_path["skills/sizes/a.txt"].most is None


def test_moving_keeps_the_print_and_anything_else_changes_it(book: NamedBook) -> None:
    one, two = offered(book, Offer("One", "Tag first."), Offer("Two", "Test first."))
    before = look(book, two)
    assert queue.accept(book.folder, one, NOW)["ok"]
    moved = look(book, two)
    assert moved.row.commit != before.row.commit and moved.print == before.print
    assert editing.edit(book.folder, two, {"AGENTS.md": "# Rules\n\nOther.\n"}, NOW)["ok"]
    assert look(book, two).print != before.print


def test_a_conflict_is_said_in_place_of_the_file(book: NamedBook) -> None:
    (id,) = offered(book, Offer("Tag", "Tag first."))
    assert editing.edit(book.folder, id, {"AGENTS.md": "# Rules\n\nLint twice.\n"}, NOW)["ok"]
    (other,) = offered(book, Offer("Other", "x"), now=NOW + 60)
    assert editing.edit(book.folder, other, {"AGENTS.md": "# Rules\n\nLint never.\n"}, NOW)["ok"]
    assert queue.accept(book.folder, other, NOW)["ok"]
    found = look(book, id)
    assert found.row.stale and "both sides" in found.results[0].problem and found.files


def test_what_does_not_wait_is_an_error(book: NamedBook) -> None:
    for id in ("20260101-000000-aaaaaa", "../x", ""):
        with pytest.raises(InputError):
            look(book, id)


def test_headings_leave_out_what_every_lesson_starts_with() -> None:
    assert heading("Lesson from a replay: Tag") == "Tag" and heading("Undo: Lesson from a replay: Tag") == "Undo: Tag"
    assert heading("Compact learned AGENTS.md") == "Compact learned AGENTS.md"
