"""Every published session that could be saved is read, and counted as a second look at the raw lines counts it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.session import CallStatus, ReadReport, Session
from lessonbook.transcripts.walk import read_paths

pytestmark = pytest.mark.shared


def read(folder: Path) -> tuple[list[Session], list[ReadReport]]:
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()}
    items = list(read_paths([folder]))
    assert before == {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in before}
    reports = [item for item in items if isinstance(item, ReadReport)]
    assert sorted(report.path for report in reports) == sorted(map(str, before))
    return [item for item in items if isinstance(item, Session)], reports


def statuses(sessions: list[Session]) -> Counter[CallStatus]:
    return Counter(call.status for one in sessions for turn in one.turns for call in turn.calls)


def test_every_file_is_read_without_a_failure(shared: Path) -> None:
    sessions, reports = read(shared / "data" / "transcripts")
    repr(sessions).encode("utf-8")
    by_agent = defaultdict(Counter)
    for report in reports:
        if report.problem is None:
            by_agent[report.agent].update(files=1, turns=report.turns, calls=report.calls, failed=report.failed)
    assert by_agent["claude"]["files"] >= 59 and by_agent["codex"]["files"] >= 22
    assert by_agent["claude"]["calls"] >= 260 and by_agent["codex"]["calls"] >= 160
    problems = {report.problem for report in reports} - {None}
    assert all(problem.endswith(".") for problem in problems if problem)
    assert not any("cannot be read" in problem for problem in problems if problem)


def test_context_evaluator(shared: Path) -> None:
    """98 sessions, 3,493 calls, 213 failed, 7 refused: what its notes say, sub-agents' relayed calls included."""
    sessions, reports = read(shared / "data" / "histories" / "PackmindHub+context-evaluator")
    found = statuses(sessions)
    assert len([one for one in sessions if one.parent_id is None]) == 98
    assert (found.total(), found[CallStatus.FAILED], found[CallStatus.DENIED]) == (3493, 213, 7)
    assert sum(report.skipped.get("line that is not JSON", 0) for report in reports) == 0


def test_entireio(shared: Path) -> None:
    """38 files, two of them Gemini's; 62 failed and 2 blocked by a rule; 12 refusals, 11 with the person's words."""
    both, _ = read(shared / "data" / "histories" / "entireio+cli@first-38")
    assert [len(one.turns) > 0 for one in both if one.agent == "gemini"] == [True, True]
    sessions = [one for one in both if one.agent == "claude"]
    found = statuses(sessions)
    assert len([one for one in sessions if one.parent_id is None]) == 36
    assert found.total() == 2158 + 13
    assert (found[CallStatus.FAILED], found[CallStatus.BLOCKED], found[CallStatus.DENIED]) == (62, 2, 12)
    reasons = [call.deny_reason for one in sessions for turn in one.turns for call in turn.calls if call.deny_reason]
    assert len(reasons) == 11
    assert "no, I did not say commit anything" in reasons


def test_session_bridge(shared: Path) -> None:
    """The 17 Codex sessions: 57 requests, 85 failed; 1,499 calls of its notes and 9 web searches."""
    every, _ = read(shared / "data" / "histories" / "savekirk+session-bridge")
    sessions = [one for one in every if one.agent == "codex"]
    found = statuses(sessions)
    assert len(sessions) == 17
    assert sum(len(one.turns) for one in sessions) == 57
    assert (found.total(), found[CallStatus.FAILED], found[CallStatus.DENIED]) == (1499 + 9, 85, 0)


@pytest.mark.parametrize("name", ["PackmindHub+context-evaluator", "savekirk+session-bridge"])
def test_sessions_come_in_order_of_time(shared: Path, name: str) -> None:
    sessions, _ = read(shared / "data" / "histories" / name)
    starts = [one.started or 0.0 for one in sessions if one.parent_id is None]
    assert starts == sorted(starts) and starts[0] > 0
    order = (shared / "data" / "histories" / name / "order.tsv").read_text("utf-8").splitlines()[1:]
    ids = {one.id for one in sessions if one.parent_id is None}
    wanted = [row.split("\t")[3] for row in order]
    assert [one.id for one in sessions if one.parent_id is None] == [id for id in wanted if id in ids]


@pytest.mark.parametrize("name", ["PackmindHub+context-evaluator", "entireio+cli@first-38"])
def test_a_second_look_at_the_raw_lines_finds_the_same_calls(shared: Path, name: str) -> None:
    folder = shared / "data" / "histories" / name
    raw: set[str] = set()
    for path in folder.rglob("*.jsonl"):
        for record in raw_records(path):
            relayed = (record.get("data") or {}).get("message") if record.get("type") == "progress" else None
            message = (relayed or record).get("message")
            content = message.get("content") if isinstance(message, dict) else None
            for block in content if isinstance(content, list) else []:
                if isinstance(block, dict) and block.get("type") == "tool_use":
                    raw.add(block["id"])
    sessions = [one for one in read(folder)[0] if one.agent == "claude"]
    ours = [call.id for one in sessions for turn in one.turns for call in turn.calls]
    assert len(ours) == len(set(ours))
    assert set(ours) == raw


def raw_records(path: Path) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    for line in path.read_text("utf-8").split("\n"):
        at = 0
        while at < len(line):
            record, at = decoder.raw_decode(line, at)
            yield record
            while at < len(line) and line[at].isspace():
                at += 1
