"""What can be imported is found by its content, in a file or anywhere below an agent's folder."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lessonbook.core.errors import InputError, StoreError
from lessonbook.core.lesson import Lesson
from lessonbook.memory.importing.registry import KINDS, kind_of, reader, sources
from lessonbook.memory.mnemopi.bank import MnemopiMemory


def database(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE working_memory (id TEXT PRIMARY KEY, content TEXT)")
        db.execute("INSERT INTO working_memory VALUES (?, ?)", (path.parent.name, f"Of {path.parent.name}."))
        db.commit()
    return path


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_each_kind_has_a_module_that_reads_it(tmp_path: Path) -> None:
    files = {
        "mnemopi": database(tmp_path / "a copy.sqlite"),
        "local": text(tmp_path / "learned.md", "- Rule.\n"),
        "lessonbook": text(tmp_path / "out.txt", '{"lessonbook": 1, "kind": "lessons"}\n{"text": "Rule."}\n'),
        "bank": tmp_path / "any name",
    }
    with closing(MnemopiMemory(files["bank"], "app-1", lambda: 5.0)) as memory:
        memory.store(Lesson("Rule."))
    assert files.keys() == KINDS.keys()
    for kind, path in files.items():
        assert (kind_of(path), sources(path)) == (kind, [(kind, path)])
        assert len(list(reader(kind).read(path))) == 1


def test_everything_below_an_agents_folder_once(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    main = database(agent / "memories" / "mnemopi" / "mnemopi.db")
    database(agent / "memories" / "mnemopi" / "banks" / "app-1" / "mnemopi.db")
    one = text(agent / "memories" / "--work-app--" / "learned.md", "- Rule.\n")
    two = text(agent / "memories" / "--work-app--" / "learned.archive.md", "- Old rule.\n")
    text(agent / "managed-skills" / "x" / "SKILL.md", "- not a lesson\n")
    found = sources(agent)
    assert found == [("local", two), ("local", one), ("mnemopi", main)]
    everything = [lesson for kind, path in found for lesson in reader(kind).read(path)]
    assert len(everything) == len({getattr(lesson, "origin", None) for lesson in everything}) == 4


def test_a_bank_by_itself(tmp_path: Path) -> None:
    path = database(tmp_path / "banks" / "app-1" / "mnemopi.db")
    assert sources(tmp_path) == [("mnemopi", path)]


@pytest.mark.parametrize("name", ["none", "empty", "notes.txt"])
def test_nothing_to_import_says_what_could_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    text(tmp_path / "notes.txt", "- a list\n")
    with pytest.raises(InputError, match=name):
        sources(tmp_path / name)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="neither"):
        sources(tmp_path / "pipe")


def test_an_unknown_kind_lists_the_choices() -> None:
    with pytest.raises(InputError, match="lessonbook, local, mnemopi"):
        reader("hindsight")


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        kind_of(tmp_path / "gone")
