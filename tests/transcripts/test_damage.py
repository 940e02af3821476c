"""Universal rules on damaged files: nothing raises, and good lines on either side of any damage are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.session import ReadReport, Session
from lessonbook.transcripts.claude import ClaudeReader
from lessonbook.transcripts.codex import CodexReader

QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CUTS = st.tuples(st.floats(0, 1), st.floats(0, 0.3), st.binary(max_size=50))


@pytest.fixture(params=["claude", "codex"])
def case(request: pytest.FixtureRequest, claude_file: Any, codex_file: Any) -> tuple[TranscriptReader, Any]:
    """A reader and a file of five turns of one call each."""
    reader: TranscriptReader = ClaudeReader() if request.param == "claude" else CodexReader()
    file = (claude_file if request.param == "claude" else codex_file)()
    for n in range(5):
        file.user(f"request {n}")
        file.run(f"result {n}")
        file.say(f"reply {n}")
    return reader, file


def read(reader: TranscriptReader, path: Path, data: bytes) -> tuple[list[Session], ReadReport]:
    path.write_bytes(data)
    before = path.stat().st_mtime_ns
    *sessions, report = reader.read(str(path))
    assert path.read_bytes() == data and path.stat().st_mtime_ns == before
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


@QUICK
@given(damage=st.lists(CUTS, min_size=1, max_size=3))
def test_random_damage_costs_only_what_it_touches(
    case: tuple[TranscriptReader, Any], tmp_path: Path, damage: list[tuple[float, float, bytes]]
) -> None:
    reader, file = case
    data = b"".join(line + b"\n" for line in file.lines())
    for at, share, put in damage:
        start = int(at * len(data))
        data = data[:start] + put + data[start + int(share * len(data)) :]
    sessions, _ = read(reader, tmp_path / "a.jsonl", data)
    repr(sessions).encode("utf-8")
    results = {call.result for one in sessions for turn in one.turns for call in turn.calls}
    whole = set(data.split(b"\n"))
    pairs = [(call, result) for call, result in zip(file.lines(), file.lines()[1:], strict=False)]
    for call, result in pairs:
        for n in range(5):
            if f'"result {n}"'.encode() in result and call in whole and result in whole:
                assert f"result {n}" in results


@QUICK
@given(which=st.integers(0, 30), key=st.integers(0, 30), value=VALUES)
def test_a_field_of_any_type_harms_no_other_record(
    case: tuple[TranscriptReader, Any], tmp_path: Path, which: int, key: int, value: Any
) -> None:
    reader, file = case
    import copy
    import json

    records = copy.deepcopy(file.records)
    record = records[which % len(records)]
    place = record
    for inner in ("message", "payload"):
        if isinstance(record.get(inner), dict) and key % 2:
            place = record[inner]
    place[sorted(place)[key % len(place)]] = value
    data = b"".join(json.dumps(one).encode("utf-8") + b"\n" for one in records)
    sessions, report = read(reader, tmp_path / "a.jsonl", data)
    prompts = {turn.prompt for one in sessions for turn in one.turns}
    assert len(prompts & {f"request {n}" for n in range(5)}) >= 3
    assert report.problem is None
