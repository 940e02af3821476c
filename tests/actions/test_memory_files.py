"""Where lessons go that are read from elsewhere, and what is said of those that are not taken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.memory_files import Into, export, import_from
from lessonbook.core.errors import InputError
from lessonbook.core.lesson import Lesson, Scope
from lessonbook.memory.mnemopi.bank import MnemopiMemory

HEAD = '{"lessonbook": 1, "kind": "lessons"}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "files"
    found.mkdir()
    return found


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MnemopiMemory]:
    with closing(MnemopiMemory(tmp_path / "agent" / "bank.db", "mine-00000001", lambda: 1_700_000_000.0)) as opened:
        yield opened


def lines(file: Path, *rows: dict[str, object]) -> Path:
    file.write_text("\n".join([HEAD, *map(json.dumps, rows)]) + "\n")
    return file


def identify(path: Path) -> str:
    return f"{path.name}-00000009"


def taken(
    memory: MnemopiMemory, *paths: Path, into: Into | None = None, by: Callable[[Path], str] = identify
) -> dict[str, Any]:
    document, text = import_from(memory.care, paths, into or Into(), by)
    assert text
    return document


def test_what_was_ours_goes_back_where_it_was(memory: MnemopiMemory, folder: Path) -> None:
    file = lines(
        folder / "out.jsonl",
        {"text": "a", "bank": "theirs-00000002", "origin": "x:1"},
        {"text": "b", "bank": "global", "origin": "x:2"},
        {"text": "c", "bank": "no bank of ours", "origin": "x:3"},
        {"text": "d", "origin": "x:4"},
        {"text": "e", "scope": "global", "origin": "x:5"},
    )
    assert taken(memory, file)["files"][0]["banks"] == {"theirs-00000002": 1, "global": 2, "mine-00000001": 2}


def test_everything_can_go_into_one_bank_and_only_some_of_it(memory: MnemopiMemory, folder: Path) -> None:
    rows = [
        {"text": f"{n}", "bank": bank, "origin": f"x:{n}"}
        for n, bank in enumerate(("a-00000001", "global", "a-00000001"))
    ]
    file = lines(folder / "out.jsonl", *rows)
    row = taken(memory, file, into=Into(Scope.PROJECT, "a-00000001"))["files"][0]
    assert (row["banks"], row["other_banks"]) == ({"mine-00000001": 2}, {"global": 1})
    assert taken(memory, file, into=Into(Scope.GLOBAL))["files"][0]["banks"] == {"global": 3}


def test_where_no_bank_is_shared_all_of_it_is_the_projects(tmp_path: Path, folder: Path) -> None:
    file = folder / "learned.md"
    file.write_text("- One.\n")
    with closing(MnemopiMemory(tmp_path / "b.db", "mine-00000001", lambda: 1.0, scoping="per-project")) as alone:
        assert taken(alone, file, into=Into(Scope.GLOBAL))["files"][0]["banks"] == {"mine-00000001": 1}


def test_a_folder_that_is_there_says_which_project_a_lesson_is_of(
    memory: MnemopiMemory, folder: Path, tmp_path: Path
) -> None:
    import sqlite3

    shop = tmp_path / "shop"
    shop.mkdir()
    bank = folder / "banks" / "omp-1" / "mnemopi.db"
    bank.parent.mkdir(parents=True)
    with closing(sqlite3.connect(bank)) as db:
        db.execute("CREATE TABLE working_memory (id TEXT, content TEXT, metadata_json TEXT)")
        for n, cwd in enumerate((str(shop), "/gone/away", "relative", "")):
            db.execute(
                "INSERT INTO working_memory VALUES (?, ?, ?)", (f"m{n}", f"Lesson {n}.", json.dumps({"cwd": cwd}))
            )
        db.commit()
    asked: list[Path] = []

    def by(path: Path) -> str:
        asked.append(path)
        return identify(path)

    assert taken(memory, bank, by=by)["files"][0]["banks"] == {"shop-00000009": 1, "mine-00000001": 3}
    assert asked == [shop]


def test_what_a_store_made_of_its_own_lessons_is_left_out_unless_wanted(memory: MnemopiMemory, folder: Path) -> None:
    file = lines(
        folder / "out.jsonl",
        {"text": "The whole note.", "origin": "x:1"},
        {"text": "A part.", "origin": "x:2", "derived_from": ["x:1"]},
    )
    row = taken(memory, file)["files"][0]
    assert (row["stored"], row["derived"]) == (1, 1)
    assert taken(memory, file, into=Into(derived=True))["files"][0] | {"banks": 0} == row | {
        "banks": 0, "stored": 1, "known": 1, "derived": 0,
    }  # fmt: skip


def test_what_cannot_be_read_is_said_and_the_rest_comes_in(memory: MnemopiMemory, folder: Path) -> None:
    file = lines(folder / "out.jsonl", {"text": "Good.", "origin": "x:1"}, {"origin": "x:2"})
    with file.open("a") as out:
        out.write("".join(f"nonsense {n}\n" for n in range(40)))
    document, text = import_from(memory.care, [file], Into(), identify)
    assert document["ok"] is False and document["files"][0]["stored"] == 1 and len(document["problems"]) == 41
    assert text.count("not read: ") == 20 and "21 more that could not be read" in text


def test_a_folder_is_looked_through_and_each_file_is_told_of(memory: MnemopiMemory, folder: Path) -> None:
    (folder / "memories" / "--a--").mkdir(parents=True)
    (folder / "memories" / "--a--" / "learned.md").write_text("- One. _(context: ci)_\n")
    (folder / "notes.md").write_text("- Not a lesson.\n")
    document = taken(memory, folder)
    assert [row["kind"] for row in document["files"]] == ["local"] and memory.count() == 1


def test_nothing_is_taken_in_where_one_path_is_wrong(memory: MnemopiMemory, folder: Path) -> None:
    good = lines(folder / "out.jsonl", {"text": "Good."})
    bad = folder / "notes.txt"
    bad.write_text("hello")
    for path, why in ((bad, "nothing that can be imported"), (folder / "none", "does not exist")):
        with pytest.raises(InputError, match=why):
            taken(memory, good, path)
    assert memory.count() == 0


def test_a_bank_is_not_imported_into_itself(memory: MnemopiMemory, folder: Path) -> None:
    memory.store(Lesson("One."))
    memory.close()
    link = folder / "link.db"
    link.symlink_to(memory.care.path)
    with pytest.raises(InputError, match="this bank itself"):
        taken(memory, link)
    (folder / "learned.md").write_text("- Two.\n")
    (folder / "bank.db").symlink_to(memory.care.path)
    assert [row["kind"] for row in taken(memory, folder)["files"]] == ["local"], "nor with the folder it is in"


def test_an_export_is_a_new_file_of_what_was_asked_for(memory: MnemopiMemory, folder: Path, tmp_path: Path) -> None:
    for text in ("Mine.", "Forgotten."):
        memory.store(Lesson(text))
    memory.store(Lesson("Everybody's.", scope=Scope.GLOBAL))
    memory.forget("2")
    with closing(MnemopiMemory(memory.care.path, "other-00000002", lambda: 1.0)) as other:
        other.store(Lesson("Theirs."))
    counts = [
        export(memory.care, folder / f"{n}.jsonl", forgotten=forgotten, every_bank=every)[0]["lessons"]
        for n, (forgotten, every) in enumerate(((False, False), (True, False), (False, True), (True, True)))
    ]
    assert counts == [2, 3, 3, 4]
    with pytest.raises(InputError, match="there already"):
        export(memory.care, folder / "0.jsonl")
