"""Which books there are, and which of them holds a candidate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.actions.review import books, decide, holding
from lessonbook.book.offer import Offer, offer
from lessonbook.core.errors import InputError
from lessonbook.system.projects import identify
from lessonbook.system.settings import places

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


def test_the_book_that_holds_a_candidate(home: Path, commit: Commit) -> None:
    where = places()
    first, second = commit({"AGENTS.md": "x\n"}), commit({"AGENTS.md": "x\n"}, "app-00000001")
    one, two = offered(first), offered(second, "0b0b0b")
    assert holding(books(where), one).name == "global" and holding(books(where), two).name == "app-00000001"
    for unknown in ("20270301-080000-ffffff", "--exec=x", "../x", ""):
        with pytest.raises(InputError):
            holding(books(where), unknown)
    told, text = decide(holding(books(where), two), "accept", two, NOW)
    assert told["ok"] and text.startswith(f"accepted {two} as ")
    told, text = decide(holding(books(where), one), "diff", one, NOW)
    assert told["ok"] and "+Rule 0a0a0a." in text
    assert decide(holding(books(where), one), "reject", one, NOW)[1] == f"rejected {one}"


def test_an_id_in_two_books_asks_which(home: Path, commit: Commit) -> None:
    first, second = commit({"AGENTS.md": "x\n"}), commit({"AGENTS.md": "x\n"}, "app-00000001")
    id = offered(first)
    assert offered(second) == id
    with pytest.raises(InputError, match="say which with --book"):
        holding(books(places()), id)
