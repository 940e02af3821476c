from __future__ import annotations

import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.transcripts.test_gemini import GeminiFile
from tests.transcripts.test_pi import PiFile
from tests.transcripts.test_ramabana import RamabanaFile, act

from lessonbook.core.cursor import Change, Resume
from lessonbook.core.errors import StoreError
from lessonbook.core.session import ReadReport, Session, Turn
from lessonbook.system.cursors import cursors
from lessonbook.transcripts.incremental import TOLD, UNCHANGED, new_found
from lessonbook.transcripts.walk import find, read_paths

Told = dict[tuple[str, int], Turn]


def whole(*paths: Path) -> Told:
    """What one reading of everything gives, by session and turn."""
    found = [item for item in read_paths(paths) if isinstance(item, Session)]
    return {(one.id, turn.n): turn for one in found for turn in one.turns}


def plain(turn: Turn) -> Turn:
    """A turn without the moment it ended, which any later record may move."""
    return replace(turn, ended=None)


def new(state: Path, *paths: Path, commit: bool = True) -> tuple[Told, list[ReadReport]]:
    """What is new since the last time."""
    with cursors(state) as kept:
        items = list(new_found(find(paths), kept))
        if commit:
            kept.commit()
    found = [item for item in items if isinstance(item, Session)]
    return {(one.id, turn.n): turn for one in found for turn in one.turns}, [
        item for item in items if isinstance(item, ReadReport)
    ]


def claude(claude_file: Any, n: int = 3) -> bytes:
    file = claude_file()
    for at in range(n):
        file.user(f"request {at}")
        file.run(f"result {at}")
        file.say(f"reply {at}")
    return b"".join(line + b"\n" for line in file.lines())


def codex(codex_file: Any, n: int = 3) -> bytes:
    file = codex_file()
    for at in range(n):
        file.event("task_started")
        file.user(f"request {at}")
        file.run(f"Exit code: 0\nOutput:\nresult {at}")
        file.user(f"steered {at}")
        file.say(f"reply {at}")
        file.event("task_complete")
    return b"".join(line + b"\n" for line in file.lines())


def ramabana(n: int = 6) -> bytes:
    file = RamabanaFile()
    for at in range(n):
        file.turn(f"request {at}", act(), session=f"session_{at % 2}_of_two_here")
    return b"".join(line + b"\n" for line in file.lines())


def pi() -> bytes:
    file = PiFile()
    for at in range(3):
        file.user(f"request {at}")
        file.run(f"result {at}")
        file.say(f"reply {at}")
    return b"".join(line + b"\n" for line in file.lines())


def gemini() -> bytes:
    file = GeminiFile()
    for at in range(3):
        file.user(f"request {at}")
        file.run(f"Output: result {at}")
        file.say(f"reply {at}")
    return b"".join(line + b"\n" for line in file.lines())


@pytest.fixture(params=["claude", "codex", "ramabana", "pi", "gemini"])
def data(request: pytest.FixtureRequest, claude_file: Any, codex_file: Any) -> bytes:
    """A session file that grows by lines."""
    made = {
        "claude": lambda: claude(claude_file),
        "codex": lambda: codex(codex_file),
        "ramabana": ramabana,
        "pi": pi,
        "gemini": gemini,
    }
    return made[request.param]()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.floats(0, 1), max_size=4))
def test_a_growing_file_is_told_piece_by_piece_and_nothing_twice(
    data: bytes, tmp_path_factory: pytest.TempPathFactory, cuts: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("grow")
    path, told = folder / "s" / "a-history.jsonl", {}
    path.parent.mkdir()
    for cut in (*sorted(cuts), 1.0):
        path.write_bytes(data[: int(cut * len(data))])
        found, _ = new(folder / "cursors.db", path)
        assert all(key not in told or plain(told[key]) != plain(turn) for key, turn in found.items())
        told.update(found)
    assert {key: plain(turn) for key, turn in told.items()} == {key: plain(turn) for key, turn in whole(path).items()}
    found, reports = new(folder / "cursors.db", path)
    assert not found and reports[0].skipped == {UNCHANGED: 1}


def test_only_the_end_of_a_grown_file_is_read(tmp_path: Path, claude_file: Any) -> None:
    path, data = tmp_path / "a.jsonl", claude(claude_file, 40)
    lines = data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-4]))
    new(tmp_path / "cursors.db", path)
    path.write_bytes(data)
    found, (report,) = new(tmp_path / "cursors.db", path)
    assert [turn.prompt for turn in found.values()] == ["request 39"] and report.records < 12


def test_what_was_touched_but_not_changed_tells_nothing(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a-history.jsonl"
    path.write_bytes(data)
    new(tmp_path / "cursors.db", path)
    os.utime(path, ns=(1, 1))
    assert not new(tmp_path / "cursors.db", path)[0]


def test_a_file_that_was_cut_and_written_anew_is_read_from_its_start(tmp_path: Path, data: bytes) -> None:
    path, state = tmp_path / "a-history.jsonl", tmp_path / "cursors.db"
    path.write_bytes(data)
    new(state, path)
    path.write_bytes(data[: len(data) // 3])
    assert len(new(state, path)[0]) <= 1  # what the cut left of one turn
    other = data.replace(b"request", b"another").replace(b"T1", b"T2").replace(b"177236", b"177836")
    path.write_bytes(other)
    assert new(state, path)[0] == whole(path)


def test_rotation(tmp_path: Path, data: bytes) -> None:
    folder, state = tmp_path / "s", tmp_path / "cursors.db"
    folder.mkdir()
    path = folder / "a-history.jsonl"
    path.write_bytes(data)
    new(state, folder)
    path.rename(folder / "a-history.jsonl.1")
    fresh = data.replace(b"request", b"another").replace(b"T1", b"T2").replace(b"177236", b"177836")
    path.write_bytes(fresh)
    found, reports = new(state, folder)
    assert found == whole(path)
    assert {Path(one.path).name: dict(one.skipped) for one in reports}["a-history.jsonl.1"] == {UNCHANGED: 1}


def test_a_copy_in_another_file_tells_only_its_own_turns_at_a_later_time(tmp_path: Path, claude_file: Any) -> None:
    state, old = tmp_path / "cursors.db", claude_file()
    old.user("first")
    old.say("ok")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.jsonl").write_bytes(b"\n".join(old.lines()))
    new(state, tmp_path / "s")
    more = claude_file("11111111-3a52-4c51-9d1e-0a6f5a7b1c2d")
    more.records, more.clock, more.last = list(old.records), 50, old.last
    more.user("second")
    more.say("ok")
    (tmp_path / "s" / "b.jsonl").write_bytes(b"\n".join(more.lines()))
    found, reports = new(state, tmp_path / "s")
    assert [turn.prompt for turn in found.values()] == ["second"]
    assert {Path(one.path).name: dict(one.skipped) for one in reports}["b.jsonl"] == {TOLD: 1}


def test_a_document_is_known_by_its_content(tmp_path: Path) -> None:
    path, state = tmp_path / "s.json", tmp_path / "cursors.db"
    file = GeminiFile()
    file.user("first")
    file.say("ok")
    path.write_text(json.dumps(file.document()))
    assert [turn.prompt for turn in new(state, path)[0].values()] == ["first"]
    path.write_text(path.read_text())
    assert new(state, path)[1][0].skipped == {UNCHANGED: 1}
    file.user("second")
    file.say("ok")
    path.write_text(json.dumps(file.document()))
    found, (report,) = new(state, path)
    assert {key[1]: turn.prompt for key, turn in found.items()} == {2: "second"} and report.skipped == {TOLD: 1}


def test_a_database_is_known_by_its_content_log_included(tmp_path: Path) -> None:
    from tests.transcripts.test_hermes import database, put, talk

    path, state = tmp_path / "state.db", tmp_path / "cursors.db"
    database(path, talk(1))
    assert len(new(state, path)[0]) == 2
    assert not new(state, path)[0]
    writer = sqlite3.connect(path)
    more = {"session_id": talk(1).facts["id"], "role": "user", "content": "go on", "timestamp": 1_772_370_000.0}
    put(writer, "messages", more)
    writer.commit()
    assert [turn.prompt for turn in new(state, path)[0].values()] == ["go on"]
    writer.close()


def test_without_a_commit_all_is_told_again(tmp_path: Path, data: bytes) -> None:
    path, state = tmp_path / "a-history.jsonl", tmp_path / "cursors.db"
    path.write_bytes(data)
    assert new(state, path, commit=False)[0] == whole(path) == new(state, path)[0]


def test_a_damaged_state_is_put_aside(tmp_path: Path, data: bytes) -> None:
    path, state = tmp_path / "a-history.jsonl", tmp_path / "cursors.db"
    path.write_bytes(data)
    state.write_bytes(b"no database at all" * 100)
    assert new(state, path)[0] == whole(path)
    assert (tmp_path / "cursors.db.damaged").exists()
    assert state.stat().st_mode & 0o077 == 0


def test_what_became_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\ntwo\n")
    with cursors(tmp_path / "cursors.db") as kept:
        assert kept.look(path) == (Change.NEW, None)
        at = Resume(4, {"s": 1}, "note")
        kept.note(path, at, kept.mark_of(path))
        assert kept.look(path) == (Change.SAME, None)
        path.write_bytes(b"one\ntwo and more\n")
        assert kept.look(path) == (Change.GROWN, at)
        path.write_bytes(b"ONE\ntwo and more\n")
        assert kept.look(path) == (Change.OTHER, None)
        path.write_bytes(b"one")
        assert kept.look(path) == (Change.OTHER, None)
        path.unlink()
        with pytest.raises(StoreError, match="cannot be read"):
            kept.look(path)
