"""Sessions read in pieces, on several cores or one after the other come to the same, in the same order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.actions.test_findings import BAD_VERB, write
from tests.actions.test_sessions import filled
from tests.transcripts.test_ramabana import RamabanaFile, act

from lessonbook.actions.noted import Noting
from lessonbook.actions.noting import Noted
from lessonbook.core.seen import Seen
from lessonbook.core.session import ReadReport, Session
from lessonbook.system.cores import Cores, Here, Runner
from lessonbook.transcripts.ramabana_talk import COPY
from lessonbook.transcripts.walk import Roots, find, read_found

Items = list[Session | ReadReport]
CUT_OFF = (b'{"at": 1, "session": "a", "prompt": "cu', b"\x00\x00\x00", b"[1, 2]", b"", b"no json", b'{"type": "note"}')
"""Lines that are no turns: a torn row, a hole, and what somebody else wrote."""


@pytest.fixture(scope="module")
def cores() -> Iterator[Cores]:
    with Cores(2) as two:
        yield two


def one_after_the_other(paths: list[Path]) -> Items:
    return [without_cursor(item) for item in read_found(find(paths), Seen())]


def noted(paths: list[Path], runner: Runner, piece: int = 16_000_000) -> Items:
    """The same by way of ``mine``: the whole session is what is noted of it."""
    roots, found = Roots(), []
    noting = Noting(runner, (copy,), piece=piece)
    files = find(paths)
    for items in noting.noted([one for one in files if one.reader is not None]):
        found += [item if isinstance(item, ReadReport) else whole(item, roots) for item in items]
    others = [one.report or ReadReport(one.path, None) for one in files if one.reader is None]
    return [without_cursor(item) for item in (*found, *others)]


def whole(item: Noted, roots: Roots) -> Session:
    (session,) = item.notes
    assert item.session == replace(session, turns=()) and item.turns == len(session.turns)
    assert item.statuses == Counter(call.status for turn in session.turns for call in turn.calls)
    return roots.placed(session)


def without_cursor(item: Session | ReadReport) -> Session | ReadReport:
    """Where the next reading can go on is asked of those who keep cursors, who read one file after the other."""
    return replace(item, resume=None) if isinstance(item, ReadReport) else item


def test_every_agent_comes_to_the_same_on_every_core(tmp_path: Path, cores: Cores) -> None:
    filled(tmp_path, "please fix it")
    (tmp_path / "other.txt").write_text("no session")
    plain = one_after_the_other([tmp_path])
    assert len({item.agent for item in plain if isinstance(item, Session)}) == 7
    assert noted([tmp_path], Here()) == noted([tmp_path], cores) == plain


def test_the_samples_come_to_the_same_on_every_core(cores: Cores) -> None:
    samples = [Path(__file__).resolve().parents[2] / "samples"]
    assert noted(samples, cores) == noted(samples, Here()) == one_after_the_other(samples)


def test_copies_are_left_out_whoever_read_them(tmp_path: Path, cores: Cores) -> None:
    """A resumed session repeats the records of the one before; the second file is read again, with those known."""
    write(tmp_path / "a.jsonl", tmp_path, "2026-03-03T10:00:00.000Z", [("tok npm x", BAD_VERB), ("pwd", "")])
    first = (tmp_path / "a.jsonl").read_text().replace('"uuid": "a-', '"uuid": "5f0c7d1e-0000-4000-8000-')
    (tmp_path / "a.jsonl").write_text(first)
    more = json.loads(first.splitlines()[0]) | {"uuid": "new", "timestamp": "2026-03-04T10:00:00.000Z"}
    (tmp_path / "b.jsonl").write_text(first + json.dumps(more) + "\n")
    (tmp_path / "c.jsonl").write_text(first)
    plain = one_after_the_other([tmp_path])
    assert [item.skipped for item in plain if isinstance(item, ReadReport)] == [{}, {COPY: 5}, {COPY: 5}]
    assert noted([tmp_path], cores) == noted([tmp_path], Here()) == plain


def test_a_history_and_its_copy(tmp_path: Path, cores: Cores) -> None:
    for name in ("a-history.jsonl", "b-history.jsonl"):
        (tmp_path / name).write_bytes(b"\n".join(history(5, 3)) + b"\n")
    plain = one_after_the_other([tmp_path])
    assert noted([tmp_path], cores, 700) == noted([tmp_path], Here(), 700) == plain
    assert [item.sessions for item in plain if isinstance(item, ReadReport)] == [5, 0]


def history(sessions: int, turns: int) -> list[bytes]:
    file = RamabanaFile()
    for number in range(sessions):
        for turn in range(turns):
            file.turn(f"part {turn}", act(f"make: no rule {turn}", turn % 2 == 0), session=f"20260301_{number:06}")
    return file.lines()


@given(data=st.data())
def test_a_history_in_pieces_is_the_history(data: Any) -> None:
    """Whatever the order of its sessions, wherever it is cut, and whatever damage stands in it."""
    file = RamabanaFile()
    for session in data.draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=24)):
        file.turn("go on " * data.draw(st.integers(0, 30)), act("é ✓", data.draw(st.booleans())), session=session)
    lines = file.lines()
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(lines)))
        again = data.draw(st.sampled_from(lines))  # a copy of a row, in the same session
        glued = data.draw(st.sampled_from(lines)) + again
        lines.insert(at, data.draw(st.sampled_from((*CUT_OFF, again, glued, b"\xef\xbb\xbf" + again, again[:-9]))))
    end = data.draw(st.sampled_from((b"\n", b"", b"\n\xff", b'\n{"at": 1, "session": "b", "pro')))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "agent-history.jsonl"
        path.write_bytes(b"\n".join(lines) + end)
        plain = one_after_the_other([path])
        assert noted([path], Here(), data.draw(st.integers(200, 3_000))) == plain


def test_a_file_that_cannot_be_seen_from_there_is_read_here(tmp_path: Path, cores: Cores) -> None:
    """As from a worker on a machine without the folder: here the file is longer than what is there now."""
    path = tmp_path / "agent-history.jsonl"
    path.write_bytes(b"\n".join(history(6, 3)) + b"\n")
    found = find([path])
    noting = Noting(cores, (copy,), piece=1_000)
    reading = noting.noted(found)
    path.write_bytes(b"\n".join(history(3, 3)) + b"\n")
    first = [item for items in reading for item in items]
    assert [item.notes[0] for item in first if isinstance(item, Noted)] == one_after_the_other([path])[:-1]
