from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, Usage
from lessonbook.testing_readers import ReaderContract
from lessonbook.transcripts.ramabana import RamabanaReader
from lessonbook.transcripts.ramabana_talk import COPY
from lessonbook.transcripts.walk import find

READER = RamabanaReader()
ID = "20260301_110000_ab12"


class RamabanaFile:
    """Builds the rows of a history: one for each turn, of any session."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.clock = 1_772_362_800.0

    def turn(self, prompt: str, *actions: dict[str, Any], session: str = ID, **fields: Any) -> dict[str, Any]:
        self.clock += 60
        turn = f"{session}:turn_{len(self.rows):06d}"
        self.rows.append(
            {
                "at": self.clock,
                "session": session,
                "state": "complete",
                "turn_id": turn,
                "model": "model-1",
                "prompt": prompt,
                "steered": [],
                "reply": "Done.",
                "activity": [{"id": f"a{n}", "action_id": f"{turn}:a{n}", **one} for n, one in enumerate(actions)],
                **fields,
            }
        )
        return self.rows[-1]

    def lines(self) -> list[bytes]:
        return [json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() for one in self.rows]


def act(
    detail: str = "fine", ok: bool = True, tool: str = "run_shell", args: Any = None, **more: Any
) -> dict[str, Any]:
    sent = {"command": "make test"} if args is None else args
    common = {"tool": tool, "kind": "tool", "state": "complete", "done": True, "secs": 0.5, "parent_action_id": ""}
    return {**common, "detail": detail, "ok": ok, "args": sent, **more}


class TestContract(ReaderContract):
    def reader(self) -> TranscriptReader:
        return READER

    def lines(self) -> Sequence[bytes]:
        file = RamabanaFile()
        file.turn("please run the tests", act("make: no rule", False))
        file.turn("another session", act(tool="view_file", args={"path": "a"}), session="20260301_120000_cd34")
        file.turn("then run check", act("all good", args={"command": "make check"}))
        return file.lines()

    def name(self) -> str:
        return "agent-history.jsonl"

    def alien(self) -> bytes:
        return b'{"turn_id":"x","details":{"a1":"text"}}\n'


def read(folder: Path, file: RamabanaFile, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    path = folder / "agent-history.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in file.lines()))
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


@pytest.mark.parametrize("prompt", ["x" * 200_000, "short"])
def test_a_first_row_that_is_longer_than_what_is_looked_at(tmp_path: Path, prompt: str) -> None:
    file = RamabanaFile()
    file.turn(prompt, act("y" * 200_000))
    file.turn("and then")
    sessions, _ = read(tmp_path, file)
    assert [turn.prompt[:5] for turn in sessions[0].turns] == [prompt[:5], "and t"]
    (found,) = find([tmp_path])
    assert found.reader is not None and found.reader.agent == "ramabana"


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def test_a_session_and_what_lies_beside_it(tmp_path: Path) -> None:
    file = RamabanaFile()
    spent = {"input": 100, "output": 7, "cached": 90, "cache_write": 3, "reasoning": 2, "cost": 0.25}
    file.turn("run the tests", act("1 failed", False), usage=spent, steered=["and be quick"])
    put(tmp_path / "agent-sessions.json", {"version": 3, "sessions": {ID: {"title": "The tests", "roots": ["/x"]}}})
    start = {"folder": "/home/ada/shop", "repo": "/home/ada/shop", "head": "d" * 40, "branch": "topic", "dirty": []}
    put(tmp_path / "runs" / ID / "start.json", [start])
    (session,), report = read(tmp_path, file)
    assert (session.agent, session.id, session.title, session.model) == ("ramabana", ID, "The tests", "model-1")
    assert (session.cwd, session.branch, session.commit) == ("/home/ada/shop", "topic", "d" * 40)
    assert (session.started, session.ended) == (file.clock - 0.5, file.clock)
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, turn.steered) == ("run the tests", "Done.", ("and be quick",))
    assert turn.usage == Usage(input=100, output=7, cache_read=90, cache_write=3, reasoning=2, cost=0.25)
    (call,) = turn.calls
    assert (call.kind, call.command, call.status, call.secs) == (CallKind.SHELL, "make test", CallStatus.FAILED, 0.5)
    assert report.failed == 1


def test_sessions_that_are_mixed_in_the_file_come_apart(tmp_path: Path) -> None:
    file = RamabanaFile()
    for n in range(9):
        file.turn(f"request {n}", session=f"session_{n % 3}_of_three")
    sessions, _ = read(tmp_path, file)
    assert [one.id for one in sessions] == [f"session_{n}_of_three" for n in range(3)]
    assert [turn.prompt for turn in sessions[1].turns] == ["request 1", "request 4", "request 7"]


@pytest.mark.parametrize(
    ("action", "status", "reason"),
    [
        (act("Denied by human operator", False), CallStatus.DENIED, None),
        (act("Denied by human operator. Reason given: not yet", False, kind="ask"), CallStatus.DENIED, "not yet"),
        (act("refused", False, kind="ask"), CallStatus.DENIED, None),
        (act("denied by the host policy", False, kind="ask"), CallStatus.BLOCKED, None),
        (act("denied by a saved rule", False), CallStatus.BLOCKED, None),
        (act("boom", False), CallStatus.FAILED, None),
        (act("", False, state="running", done=False), CallStatus.UNFINISHED, None),
    ],
)
def test_how_a_call_ended(tmp_path: Path, action: dict[str, Any], status: CallStatus, reason: str | None) -> None:
    file = RamabanaFile()
    file.turn("go", action, act(kind="ask"), act(parent_action_id="a0"))
    (session,), _ = read(tmp_path, file)
    first, second = session.turns[0].calls  # an approval that was given is no call of its own
    assert (first.status, first.deny_reason, first.by_subagent) == (status, reason, False)
    assert second.by_subagent


def test_states(tmp_path: Path) -> None:
    file = RamabanaFile()
    for state in ("complete", "interrupted", "failed"):
        file.turn(state, state=state, reply="")
    (session,), _ = read(tmp_path, file)
    assert [str(turn.state) for turn in session.turns] == ["complete", "interrupted", "failed"]


def test_long_texts_come_from_beside_and_from_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "cfg"
    folder.mkdir()
    file = RamabanaFile()
    inside = file.turn("a long …", act("first …"), details=f"agent-details/{ID}.jsonl")
    outside = file.turn("b", act("kept"), details="../outside.jsonl")
    put(folder / "agent-details" / f"{ID}.jsonl", {"turn_id": inside["turn_id"], "details": {"a0": "first and last"}})
    put(tmp_path / "outside.jsonl", {"turn_id": outside["turn_id"], "details": {"a0": "stolen"}, "prompt": "stolen"})
    first, second = read(folder, file)[0][0].turns
    assert (first.prompt, first.calls[0].result) == ("a long …", "first and last")
    assert (second.prompt, second.calls[0].result) == ("b", "kept")


def test_a_turn_counts_once(tmp_path: Path) -> None:
    seen, file = Seen(), RamabanaFile()
    file.turn("first", act())
    read(tmp_path, file, seen)
    file.turn("second", act())
    (session,), report = read(tmp_path, file, seen)
    assert [turn.prompt for turn in session.turns] == ["second"] and report.skipped == {COPY: 1}
