from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.redact import redact
from lessonbook.core.seen import Seen
from lessonbook.core.session import Call, CallKind, CallStatus, ReadReport, Session, Turn, TurnState, Usage
from lessonbook.core.tools import command_of, kind_of
from lessonbook.testing_documents import DocumentContract
from lessonbook.transcripts.atif import AtifReader
from lessonbook.transcripts.atif_export import as_atif
from lessonbook.transcripts.atif_talk import COPY

READER = AtifReader()
ALIEN = b'{"session_id":"1","model":"m","messages":[{"role":"user","content":"hi"}]}'


def step(n: int, source: str, message: Any, **fields: Any) -> dict[str, Any]:
    return {"step_id": n, "timestamp": f"2026-03-01T11:00:{n:02d}Z", "source": source, "message": message, **fields}


def call_step(n: int, content: str, name: str = "bash", args: Any = None, **extra: Any) -> dict[str, Any]:
    sent = {"command": "make test"} if args is None else args
    called = {"tool_call_id": f"call_{n}", "function_name": name, "arguments": sent}
    result = {"source_call_id": f"call_{n}", "content": content, **({"extra": extra} if extra else {})}
    return step(n, "agent", "", tool_calls=[called], observation={"results": [result]})


def document(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    agent = {"name": "some-agent", "version": "1.0", "model_name": "model-1"}
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "trajectory-0001",
        "agent": agent,
        "steps": list(steps),
        **fields,
    }


STEPS = (
    step(1, "system", "You are an agent."),
    step(2, "user", "please run the tests"),
    call_step(3, "no rule", exit_code=2),
    step(4, "agent", "There is no such target."),
    step(5, "user", [{"type": "text", "text": "then run check"}]),
    call_step(6, "all good", args={"command": "make check"}),
    step(7, "agent", "It passes.", metrics={"prompt_tokens": 98, "completion_tokens": 7, "cached_tokens": 90}),
)


class TestContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return document(*STEPS)

    def where(self) -> str:
        return "steps"

    def alien(self) -> bytes:
        return ALIEN

    def has_folder(self) -> bool:
        return False


def read(path: Path, value: Any, seen: Seen | None = None) -> tuple[list[Session], ReadReport]:
    path.write_text(json.dumps(value))
    *sessions, report = READER.read(str(path), seen)
    assert isinstance(report, ReadReport)
    return [one for one in sessions if isinstance(one, Session)], report


def test_a_trajectory_of_another_program(tmp_path: Path) -> None:
    (session,), report = read(tmp_path / "t.json", document(*STEPS))
    assert (session.agent, session.id, session.model) == ("atif", "trajectory-0001", "model-1")
    first, second = session.turns
    assert (first.prompt, first.reply) == ("please run the tests", "There is no such target.")
    assert (first.calls[0].kind, first.calls[0].status, first.calls[0].exit_code) == (
        CallKind.SHELL,
        CallStatus.FAILED,
        2,
    )
    assert (second.prompt, second.calls[0].status) == ("then run check", CallStatus.OK)
    assert second.usage == Usage(input=98, output=7, cache_read=90)
    assert (report.calls, report.failed) == (2, 1)


@pytest.mark.parametrize(
    ("content", "extra", "status"),
    [
        ("fine", {}, CallStatus.OK),
        ("boom", {"is_error": True}, CallStatus.FAILED),
        ("boom", {"status": "error"}, CallStatus.FAILED),
        ("boom", {"exit_code": 1}, CallStatus.FAILED),
        ("User denied the call", {"is_error": True}, CallStatus.DENIED),
    ],
)
def test_how_a_call_ended(tmp_path: Path, content: str, extra: Any, status: CallStatus) -> None:
    (session,), _ = read(tmp_path / "t.json", document(step(1, "user", "go"), call_step(2, content, **extra)))
    assert session.turns[0].calls[0].status is status


def test_copied_steps_and_sub_agents(tmp_path: Path) -> None:
    inner = {**document(step(1, "user", "look"), call_step(2, "x")), "session_id": None, "trajectory_id": "sub-1"}
    copied = step(1, "user", "old", is_copied_context=True)
    whole = document(copied, *STEPS, subagent_trajectories=[inner])
    (main, sub), report = read(tmp_path / "t.json", whole)
    assert report.skipped == {COPY: 1} and [turn.prompt for turn in main.turns] == [
        "please run the tests",
        "then run check",
    ]
    assert (sub.id, sub.parent_id, sub.title, sub.turns[0].prompt) == ("sub-1", main.id, "look", "")
    assert sub.turns[0].calls[0].by_subagent


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20).map(str.strip)
NAME = st.sampled_from(["Bash", "Read", "mcp__a__b", "some_tool"])
TIME = st.none() | st.floats(1.7e9, 1.8e9)
ARGS = st.dictionaries(st.sampled_from(["command", "path", "n"]), TEXT | st.integers(0, 9), max_size=3)


@st.composite
def made_calls(draw: st.DrawFn) -> Call:
    name, args = draw(NAME), draw(ARGS)
    raw = draw(st.none() | st.just("{not json"))
    status = draw(st.sampled_from(CallStatus))
    open_ended = status is CallStatus.UNFINISHED
    kept = {} if raw else args
    return Call(
        id=f"call_{draw(st.integers(0, 10**9)):016d}",
        name=name,
        kind=kind_of(name),
        status=status,
        args=kept,
        args_raw=raw,
        command=command_of(kept) if kind_of(name) is CallKind.SHELL else None,
        result="" if open_ended else draw(TEXT),
        exit_code=None if open_ended else draw(st.none() | st.integers(-1, 255)),
        secs=None if open_ended else draw(st.none() | st.floats(0, 1e6)),
        deny_reason=draw(TEXT.filter(bool)) if status is CallStatus.DENIED else None,
        at=draw(TIME),
        by_subagent=draw(st.booleans()),
    )


@st.composite
def made_sessions(draw: st.DrawFn) -> Session:
    turns = []
    for n in range(draw(st.integers(1, 4))):
        cost = draw(st.none() | st.floats(0, 9))
        spent = Usage(*draw(st.tuples(*[st.integers(1, 99)] * 5)), cost=cost)
        turns.append(
            Turn(
                n=n + 1,
                prompt=draw(TEXT),
                calls=tuple(draw(st.lists(made_calls(), max_size=3))),
                reply=draw(TEXT),
                started=draw(st.floats(1.7e9, 1.75e9)),
                ended=draw(st.floats(1.75e9, 1.8e9)),
                state=draw(st.sampled_from([TurnState.COMPLETE, TurnState.INTERRUPTED, TurnState.FAILED])),
                steered=tuple(dict.fromkeys(draw(st.lists(TEXT.filter(bool), max_size=2)))),
                usage=draw(st.none() | st.just(spent)),
            )
        )
    return Session(
        agent="claude",
        id="5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d",
        path="/somewhere",
        turns=tuple(turns),
        cwd=draw(st.none() | st.just("/home/ada/shop")),
        branch="main",
        commit=draw(st.none() | st.just("d" * 40)),
        started=1.6e9,
        ended=1.9e9,
        model="model-1",
        agent_version="2.1",
        title="The tests",
        offered=frozenset({"Bash", "Grep"}) | {call.name for turn in turns for call in turn.calls},
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(session=made_sessions())
def test_what_is_exported_comes_back(tmp_path: Path, session: Session) -> None:
    (back,), report = read(tmp_path / "t.json", as_atif(session, lambda text: text))
    assert not report.skipped
    for turn, again in zip(session.turns, back.turns, strict=True):
        assert again == turn
    assert replace(back, agent="claude", path=session.path) == session


def test_no_secret_is_exported() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    call = Call(
        "c1", "Bash", CallKind.SHELL, CallStatus.OK, {"command": f"git push https://{key}@x", key: [key]}, result=key
    )
    session = Session("claude", "s" * 20, "/p", (Turn(1, key, (call,), key, steered=(key,)),), title=key)
    told = json.dumps(as_atif(session, lambda text: redact(text).text))
    assert key not in told and "[REDACTED]" in told
