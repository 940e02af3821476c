from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.session import CallKind, CallStatus, ReadReport, Session, Usage
from lessonbook.testing_documents import DocumentContract
from lessonbook.transcripts.miniswe import MiniSweAgentReader

READER = MiniSweAgentReader()
ALIEN = b'{"history":[{"role":"user","content":"x","agent":"main"}]}'
TASK = "Please solve this issue: It breaks\n\nYou can execute bash commands and edit files."


def say(command: str, text: str = "I look.") -> dict[str, Any]:
    return {"role": "assistant", "content": f"{text}\n\n```mswea_bash_command\n{command}\n```"}


def answer(output: str, code: int | None = 0) -> dict[str, Any]:
    said = f"<output>\n{output}\n</output>"
    return {"role": "user", "content": said if code is None else f"<returncode>{code}</returncode>\n{said}"}


MESSAGES = (
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": TASK},
    say("cat a.py"),
    answer("no such file", 1),
    say("ls"),
    answer("b.py"),
    say("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "Done."),
    {"role": "user", "content": ""},
)


def whole(*messages: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": info, "messages": list(messages), "trajectory_format": "mini-swe-agent-1.1"}


class TestListContract(DocumentContract):
    def reader(self) -> TranscriptReader:
        return READER

    def document(self) -> Any:
        return list(MESSAGES)

    def where(self) -> str:
        return ""

    def name(self) -> str:
        return "run.traj.json"

    def alien(self) -> bytes:
        return ALIEN


class TestWholeContract(TestListContract):
    def document(self) -> Any:
        return whole(*MESSAGES, mini_version="1.9")

    def where(self) -> str:
        return "messages"


def read(tmp_path: Path, value: Any) -> Session:
    path = tmp_path / "run.traj.json"
    path.write_text(json.dumps(value))
    session, report = READER.read(str(path))
    assert isinstance(session, Session) and isinstance(report, ReadReport)
    return session


def test_a_run(tmp_path: Path) -> None:
    config = {"model": {"model_name": "model-1"}, "environment": {"cwd": "/shop"}}
    info = {"exit_status": "Submitted", "config": config, "model_stats": {"instance_cost": 0.5}, "mini_version": "1.9"}
    session = read(tmp_path, whole(*MESSAGES, **info))
    assert (session.agent, session.id, session.cwd, session.model) == ("mini-swe-agent", "run", "/shop", "model-1")
    assert session.agent_version == "1.9"
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, str(turn.state)) == ("It breaks", "Done.", "complete")
    assert turn.usage == Usage(cost=0.5)
    assert [(call.command, call.status, call.exit_code, call.result) for call in turn.calls] == [
        ("cat a.py", CallStatus.FAILED, 1, "no such file"),
        ("ls", CallStatus.OK, 0, "b.py"),
        ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", CallStatus.OK, None, ""),
    ]
    assert turn.calls[0].kind is CallKind.SHELL
    assert read(tmp_path, list(MESSAGES)).turns[0].calls == turn.calls


def test_calls_as_later_versions_record_them(tmp_path: Path) -> None:
    function = {"name": "bash", "arguments": json.dumps({"command": "make"})}
    session = read(
        tmp_path,
        whole(
            *MESSAGES[:2],
            {"role": "assistant", "content": "", "extra": {"actions": [{"command": "ls"}, {"command": "pwd"}]}},
            {"role": "tool", "content": "x", "extra": {"returncode": 0, "timestamp": 1_772_362_800.0}},
            {"role": "tool", "content": "y", "extra": {"returncode": 3}},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]},
            {"role": "tool", "content": "z", "extra": {"returncode": -1}},
            {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded"}},
        ),
    )
    assert [(call.command, call.exit_code) for call in session.turns[0].calls] == [("ls", 0), ("pwd", 3), ("make", -1)]
    assert str(session.turns[0].state) == "failed" and session.started == 1_772_362_800.0


@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        (
            "Command not executed. The user rejected your command with the following message:\nuse make",
            CallStatus.DENIED,
            "use make",
        ),
        ("Interrupted by user: stop it", CallStatus.CANCELLED, None),
        ("The last command <command>sleep 9</command> timed out and has been killed.", CallStatus.FAILED, None),
        ("some output", CallStatus.OK, None),
    ],
)
def test_how_a_call_ended(tmp_path: Path, said: str, status: CallStatus, reason: str | None) -> None:
    session = read(tmp_path, [*MESSAGES[:2], say("sleep 9"), {"role": "user", "content": said}])
    (call,) = session.turns[0].calls
    assert (call.status, call.deny_reason) == (status, reason)


def test_a_malformed_answer_is_no_call_and_a_new_task_is_a_turn(tmp_path: Path) -> None:
    two = {"role": "assistant", "content": "```bash\nls\n```\n```bash\npwd\n```"}
    wrong = {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks"}
    more = {"role": "user", "content": "The user added a new task: and test it"}
    session = read(tmp_path, [*MESSAGES[:2], two, wrong, say("ls"), answer("a"), more, say("pwd"), answer("b")])
    assert [(turn.prompt, [call.command for call in turn.calls]) for turn in session.turns] == [
        ("It breaks", ["ls"]),
        ("and test it", ["pwd"]),
    ]
