from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, Usage
from lessonbook.testing_documents import DocumentContract
from lessonbook.transcripts.sweagent import SweAgentReader

READER = SweAgentReader()
ALIEN = b'[{"role":"user","content":"x"},{"role":"assistant","content":"```bash\\nls\\n```"}]'
TASK = "We solve this issue:\nISSUE:\nIt breaks\n\nINSTRUCTIONS:\nNow you solve it."


def step(action: str, observation: str = "", **fields: Any) -> dict[str, Any]:
    state = json.dumps({"open_file": "n/a", "working_dir": "/shop"})
    return {"action": action, "observation": observation, "thought": f"I {action}", "state": state, **fields}


def document(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    common = {"agent": "main"}
    history = [
        {"role": "system", "content": "You are an agent.", "message_type": "system_prompt", **common},
        {"role": "user", "content": "a demonstration", "is_demo": True, **common},
        {"role": "user", "content": TASK, "message_type": "observation", **common},
    ]
    for one in steps:
        said = {"role": "assistant", "content": one["thought"], "thought": one["thought"], "action": one["action"]}
        history += [{**said, **common}, {"role": "tool", "content": one["observation"], **common}]
    return {"environment": "shop", "trajectory": list(steps), "history": history, **more}


STEPS = (
    step('open "a.py"', "[File: a.py (9 lines total)]", execution_time=0.5),
    step("python a.py\n", "Traceback (most recent call last):\n  File x\nValueError: no"),
    step("edit 1:1\nx\nend_of_edit", "Your proposed edit has introduced new syntax error(s)."),
    step("submit", "diff --git"),
)


class TestContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return document(*STEPS)

    def where(self) -> str:
        return "trajectory"

    def name(self) -> str:
        return "shop__1.traj"

    def alien(self) -> bytes:
        return ALIEN

    def has_folder(self) -> bool:
        return False


class TestDemonstrationContract(TestContract):
    def document(self) -> Any:
        return {"history": document(*STEPS)["history"]}

    def where(self) -> str:
        return "history"


def read(tmp_path: Path, value: Any) -> tuple[Session, ReadReport]:
    path = tmp_path / "shop__1.traj"
    path.write_text(json.dumps(value))
    session, report = READER.read(str(path))
    assert isinstance(session, Session) and isinstance(report, ReadReport)
    return session, report


def test_a_run(tmp_path: Path) -> None:
    info = {"exit_status": "submitted", "model_stats": {"tokens_sent": 9, "tokens_received": 3, "instance_cost": 0.5}}
    repo = {"github_url": "https://x.invalid/o/r", "base_commit": "HEAD"}
    config = json.dumps({"agent": {"model": {"name": "model-1"}}, "env": {"repo": repo}})
    session, report = read(tmp_path, document(*STEPS, info=info, replay_config=config))
    assert (session.agent, session.id, session.cwd, session.model) == ("swe-agent", "shop__1", "/shop", "model-1")
    assert (session.repo, session.commit, session.title) == ("https://x.invalid/o/r", None, "shop")
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, str(turn.state)) == ("It breaks", "I submit", "complete")
    assert turn.usage == Usage(input=9, output=3, cost=0.5)
    assert [(call.name, call.kind, call.status) for call in turn.calls] == [
        ("open", CallKind.READ, CallStatus.OK),
        ("bash", CallKind.SHELL, CallStatus.FAILED),
        ("edit", CallKind.EDIT, CallStatus.FAILED),
        ("submit", CallKind.OTHER, CallStatus.OK),
    ]
    assert (turn.calls[0].secs, turn.calls[1].command) == (0.5, "python a.py")
    assert (report.calls, report.failed) == (4, 2)


def test_a_demonstration_says_the_same(tmp_path: Path) -> None:
    whole, _ = read(tmp_path, document(*STEPS))
    demo, _ = read(tmp_path, {"history": document(*STEPS)["history"]})
    assert [(call.name, call.status, call.args) for call in demo.turns[0].calls] == [
        (call.name, call.status, call.args) for call in whole.turns[0].calls
    ]
    assert demo.turns[0].prompt == "It breaks"


def test_a_run_that_ran_out_has_failed(tmp_path: Path) -> None:
    for state, wanted in (("exit_cost", "failed"), ("submitted (exit_cost)", "complete"), (None, "complete")):
        assert str(read(tmp_path, document(*STEPS, info={"exit_status": state}))[0].turns[0].state) == wanted


@pytest.mark.parametrize(
    ("action", "observation", "status", "kind"),
    [
        ("ls", "", CallStatus.OK, CallKind.SHELL),
        ("mytool", "/bin/bash: line 1: mytool: command not found", CallStatus.FAILED, CallKind.SHELL),
        ("sleep 9", "EXECUTION TIMED OUT", CallStatus.FAILED, CallKind.SHELL),
        ("vim a", "Operation 'vim a' is not supported by this environment.", CallStatus.BLOCKED, CallKind.SHELL),
        ("cat log", "the log quotes a command not found", CallStatus.OK, CallKind.SHELL),
        ("str_replace_editor view /a", "text", CallStatus.OK, CallKind.READ),
        ("str_replace_editor str_replace /a --old x", "No replacement was performed", CallStatus.FAILED, CallKind.EDIT),
    ],
)
def test_how_a_call_ended(tmp_path: Path, action: str, observation: str, status: CallStatus, kind: CallKind) -> None:
    (call,) = read(tmp_path, document(step(action, observation)))[0].turns[0].calls
    assert (call.status, call.kind) == (status, kind)
