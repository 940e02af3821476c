"""Which books there are, and which of them holds a candidate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.actions.review import NamedBook, books, decide, holding
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import InputError
from lessonbook.system.projects import identify
from lessonbook.system.settings import Places, places

NOW = 1_798_675_200
Commit = Callable[..., Path]


def offered(folder: Path, tail: str = "0a0a0a") -> str:
    return offer(folder, [Offer("one", rule=f"Rule {tail}.")], NOW, lambda: tail)[0]


def test_names(home: Path, tmp_path: Path, commit: Commit) -> None:
    where = places()
    assert [book.name for book in books(where)] == ["global"]
    commit({"AGENTS.md": "x\n"}, "app-00000001")
    (where.config / "projects/empty-00000002/learned").mkdir(parents=True)
    assert [book.name for book in books(where)] == ["global", "app-00000001"]
    assert [book.name for book in books(where, "app-00000001")] == ["app-00000001"]
    assert [book.name for book in books(where, "project", tmp_path)] == [identify(tmp_path).slug]
    assert [book.folder for book in books(where, str(tmp_path))] == [tmp_path]
    with pytest.raises(InputError, match="one of global, app-00000001"):
        books(where, "ap")
    with pytest.raises(InputError, match="There is no folder"):
        books(where, str(tmp_path / "no/such"))


def test_the_book_that_holds_a_candidate(home: Path, commit: Commit) -> None:
    where = places()
    first, second = commit({"AGENTS.md": "x\n"}), commit({"AGENTS.md": "x\n"}, "app-00000001")
    one, two = offered(first), offered(second, "0b0b0b")
    assert holding(books(where), one)[0].name == "global" and holding(books(where), two)[0].name == "app-00000001"
    for unknown in ("20270301-080000-ffffff", "--exec=x", "../x", "", "-", "refs", "ffffff", "HEAD", "0a0a0a\n"):
        for which in ("all", "global"):
            with pytest.raises(InputError):
                holding(books(where, which), unknown)
    told, text = decide(*with_id(where, "accept", two))
    assert told["ok"] and text.startswith(f"accepted {two} as ")
    told, text = decide(*with_id(where, "diff", one))
    assert told["ok"] and "+Rule 0a0a0a." in text
    assert decide(*with_id(where, "reject", one))[1] == f"rejected {one}"


def with_id(where: Places, what: str, id: str) -> tuple[NamedBook, str, str, int]:
    book, whole = holding(books(where), id)
    return book, what, whole, NOW


def test_a_short_form_of_an_id(home: Path, commit: Commit) -> None:
    where = places()
    first, second = commit({"AGENTS.md": "x\n"}), commit({"AGENTS.md": "x\n"}, "app-00000001")
    one, two = offered(first), offered(second, "0b0b0b")
    assert one[:-6] == two[:-6], "offered at one moment"
    assert holding(books(where), "0a0a0a") == (books(where)[0], one)
    assert holding(books(where), "0b0b0b") == (books(where)[1], two)
    assert holding(books(where), one[:-1])[1] == one and holding(books(where, "global"), "2")[1] == one
    with pytest.raises(InputError, match=f"2026 may be each of {one}, {two}; say more of it"):
        holding(books(where), "2026")


def test_many_that_are_called_alike_are_not_all_named(home: Path, commit: Commit) -> None:
    folder = commit({"AGENTS.md": "x\n"})
    ids = [offered(folder, f"0a0a0{n}") for n in range(7)]
    with pytest.raises(InputError, match=f"{ids[4]} and 2 more; say more of it"):
        holding(books(places()), ids[0][:8])


@pytest.mark.parametrize("which", ["all", "global"])
def test_an_id_that_was_accepted_says_so(home: Path, commit: Commit, which: str) -> None:
    where = places()
    folder = commit({"AGENTS.md": "x\n"})
    one, two = offered(folder), offered(folder, "0b0b0b")
    told, _ = decide(books(where)[0], "accept", one, NOW)
    for name in (one, "0a0a0a"):
        with pytest.raises(InputError, match=f"{one} does not wait any more: it was accepted as {told['commit']}"):
            holding(books(where, which), name)
    decide(books(where)[0], "reject", two, NOW)
    with pytest.raises(InputError, match=f"a candidate {two}|pending as {two}"):
        holding(books(where, which), two)


def test_a_readable_name_is_enough_where_it_is_the_only_one(home: Path, commit: Commit) -> None:
    where = places()
    for project in ("web-00000001", "app-00000001", "app-00000002"):
        commit({"AGENTS.md": "x\n"}, project)
    assert [book.name for book in books(where, "web")] == ["web-00000001"]
    with pytest.raises(InputError, match="say app-00000001 or app-00000002"):
        books(where, "app")


def test_an_id_in_two_books_asks_which(home: Path, commit: Commit) -> None:
    first, second = commit({"AGENTS.md": "x\n"}), commit({"AGENTS.md": "x\n"}, "app-00000001")
    id = offered(first)
    assert offered(second) == id
    with pytest.raises(InputError, match="say which with --book"):
        holding(books(places()), id)


def test_a_book_that_cannot_be_looked_into_is_named_and_hides_no_other(home: Path, commit: Commit) -> None:
    where = places()
    one = offered(commit({"AGENTS.md": "x\n"}))
    loop = where.config / "projects/app-00000001/learned"
    loop.mkdir(parents=True)
    (loop / ".git").symlink_to(loop / ".git")  # what no permission keeps from root
    assert [book.name for book in books(where)] == ["global", "app-00000001"]
    assert holding(books(where), one)[0].name == "global"
    told, text = decide(books(where)[1], "diff", one, NOW)
    assert not told["ok"] and text.startswith(f"{loop} cannot be read: ")
