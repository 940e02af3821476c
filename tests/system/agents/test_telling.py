"""How each agent's own words are read: what is a success, what only looks like one, and what it cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessonbook.core.agent_run import Network, Permission, Task
from lessonbook.core.ports import AgentRunner
from lessonbook.system.agents.registry import AGENTS

TASK = Task("Do it.", "/clone", "/nowhere", "5f0c2c1e-8a77-4d6a-9c61-0d8f6a1b2c3d", dollars=0.5)


def lines(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def claude(**more: Any) -> str:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3}
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s-1"}
    return lines({"type": "system", "subtype": "init"}, result | {"total_cost_usd": 0.02, "usage": usage} | more)


def codex(last: dict[str, Any]) -> str:
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
    return lines({"type": "thread.started", "thread_id": "s-1"}, {"type": "turn.started"}, said, last)


def opencode(reason: str = "stop", *more: dict[str, Any]) -> str:
    step = {"tokens": {"input": 12, "output": 3}, "cost": 0.01}
    return lines(
        {"type": "step_start", "sessionID": "s-1", "part": {}},
        {"type": "text", "sessionID": "s-1", "part": {"text": "Let me look."}},
        {"type": "step_finish", "sessionID": "s-1", "part": step | {"reason": "tool-calls"}},
        {"type": "step_start", "sessionID": "s-1", "part": {}},
        {"type": "text", "sessionID": "s-1", "part": {"text": "Done."}},
        {"type": "step_finish", "sessionID": "s-1", "part": {"reason": reason, "cost": 0.01}},
        *more,
    )


def omp(reason: str = "stop", **more: Any) -> str:
    usage = {"input": 12, "output": 3, "cost": {"total": 0.02}}
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Done."}],
        "usage": usage,
        "stopReason": reason,
    }
    return lines({"type": "session", "id": "s-1"}, {"type": "message_end", "message": message | more})


def gemini(status: str = "success", *more: dict[str, Any]) -> str:
    return lines(
        {"type": "init", "session_id": "s-1", "model": "m"},
        {"type": "message", "role": "assistant", "content": "Let me look.", "delta": True},
        {"type": "tool_use", "tool_name": "read_file"},
        {"type": "message", "role": "assistant", "content": "Do", "delta": True},
        {"type": "message", "role": "assistant", "content": "ne.", "delta": True},
        *more,
        {"type": "result", "status": status, "stats": {"input_tokens": 12, "output_tokens": 3}},
    )


def ramabana(**more: Any) -> str:
    used = {"input": 12, "output": 3, "cost": 0.02}
    return json.dumps({"reply": "Done.", "usage": used, "session": "s-1", "problems": []} | more)


GOOD = {
    "claude": (claude(), 0.02),
    "codex": (codex({"type": "turn.completed", "usage": {"input_tokens": 12, "output_tokens": 3}}), None),
    "gemini": (gemini(), None),
    "opencode": (opencode(), 0.02),
    "omp": (omp(), 0.02),
    "ramabana": (ramabana(), 0.02),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_success_is_read_with_what_it_cost(name: str) -> None:
    out, cost = GOOD[name]
    ran = AGENTS[name]().told(TASK, 0, f"a warning\n{out}", "")
    assert (ran.problem, ran.reply, ran.session) == (None, "Done.", "s-1")
    assert (ran.cost, ran.tokens_in, ran.tokens_out) == (cost, 12, 3)


@pytest.mark.parametrize("name", GOOD)
def test_any_exit_code_but_zero_is_a_failure(name: str) -> None:
    ran = AGENTS[name]().told(TASK, 1, GOOD[name][0], "")
    assert ran.problem is not None and ran.problem.startswith(f"{name} ended with exit code 1")


@pytest.mark.parametrize(
    ("name", "out", "why"),
    [
        ("claude", claude(is_error=True, result="API Error: 529"), "API Error: 529"),
        ("claude", claude(subtype="error_max_turns", result=""), "error_max_turns"),
        ("claude", lines({"type": "system"}), "system"),
        ("codex", codex({"type": "turn.failed", "error": {"message": "no quota"}}), "no quota"),
        ("codex", lines({"type": "thread.started", "thread_id": "s-1"}), "thread.started"),
        ("codex", lines({"type": "turn.completed", "usage": {}}), "turn.completed"),
        ("gemini", gemini("error", {"type": "error", "message": "loop"}), "loop"),
        ("gemini", lines({"type": "init", "session_id": "s"}), "init"),
        ("opencode", opencode("stop", {"type": "error", "error": {"name": "APIError"}}), "APIError"),
        ("opencode", opencode("length"), "step_finish"),
        ("omp", omp("aborted"), "aborted"),
        ("omp", omp("error", errorMessage="400 bad"), "400 bad"),
        ("ramabana", ramabana(reply="(no reply)"), "(no reply)"),
        ("ramabana", ramabana(usage={"output": 0}, reply="the model call failed: 400"), "the model call failed: 400"),
        ("ramabana", ramabana(problems=["limit"]), "Done"),
    ],
)
def test_exit_code_zero_is_not_enough(name: str, out: str, why: str) -> None:
    ran = AGENTS[name]().told(TASK, 0, out, "")
    assert ran.problem is not None and ran.problem.startswith(f"{name} did not finish") and why in ran.problem


@pytest.mark.parametrize(
    ("usage", "ok"),
    [
        ({"failed": False, "completed": True}, True),
        ({"failed": True, "completed": False}, False),
        ({"failed": False, "completed": False}, False),
        ({}, False),
    ],
)
def test_hermes_tells_in_a_file(tmp_path: Path, usage: dict[str, Any], ok: bool) -> None:
    full = {"session_id": "s-1", "estimated_cost_usd": 0.02, "input_tokens": 12, "output_tokens": 3} | usage
    (tmp_path / "usage.json").write_text(json.dumps(full))
    ran = AGENTS["hermes"]().told(Task("p", "/f", str(tmp_path), "id"), 0, "Done.\n", "")
    assert (ran.problem is None) is ok
    assert (ran.session, ran.cost, ran.tokens_in) == ("s-1", 0.02, 12)


def test_hermes_without_its_file_failed() -> None:
    assert AGENTS["hermes"]().told(TASK, 0, "Done.", "").problem is not None


@pytest.mark.parametrize("name", AGENTS)
@given(
    out=st.text(max_size=300) | st.recursive(st.none() | st.text(max_size=9) | st.integers(), st.lists).map(json.dumps)
)
def test_nothing_it_prints_makes_reading_fail_or_pass(name: str, out: str) -> None:
    ran = AGENTS[name]().told(TASK, 0, out, "")
    assert name == "hermes" or ran.problem is not None


@pytest.mark.parametrize("name", AGENTS)
@given(value=st.recursive(st.none() | st.booleans() | st.text(max_size=5) | st.integers() | st.floats(), st.lists))
def test_no_value_in_a_record_makes_reading_fail(name: str, value: Any) -> None:
    keys = ("type", "result", "item", "part", "message", "usage", "error", "stats", "reply", "session", "is_error")
    for key in keys:
        for kind in ("result", "item.completed", "message_end", "turn.failed", "step_finish", "error", "session"):
            ran = AGENTS[name]().told(TASK, 0, json.dumps({"type": kind, key: value}), "")
            assert ran.problem is None or ran.problem.strip(), "a failure says why"
            assert ran.cost is None or ran.cost >= 0


@pytest.mark.parametrize("name", AGENTS)
def test_each_meets_the_protocol(name: str) -> None:
    agent = AGENTS[name]()
    assert isinstance(agent, AgentRunner)
    assert (agent.name, agent.reader) == (name, name)
    for permission in agent.permissions:
        for network in Network:
            task = Task("-x", "/c", "/s", "id", permission, network, 60, 0.5, "m")
            words = list(agent.words(task))
            assert words[0] == name
            assert "-x" not in words  # a prompt is never an option
            assert agent.data(task) == b"-x" or any("-x" in word for word in words)


def test_what_each_may_do_is_in_its_words() -> None:
    def words(name: str, permission: Permission) -> str:
        return " ".join(AGENTS[name]().words(Task("p", "/c", "/s", "id", permission, dollars=0.5)))

    assert "--tools Read,Grep,Glob --permission-mode default" in words("claude", Permission.READ)
    assert "Bash" not in words("claude", Permission.EDIT) and "--max-budget-usd 0.5" in words("claude", Permission.EDIT)
    assert "--setting-sources  --strict-mcp-config" in words("claude", Permission.SHELL)
    assert "-s read-only" in words("codex", Permission.READ)
    assert "-s workspace-write" in words("codex", Permission.EDIT)
    assert "network_access=false" in words("codex", Permission.SHELL)
    assert "--approval-mode auto_edit" in words("gemini", Permission.EDIT)
    assert "--approval-mode=write" in words("omp", Permission.EDIT)
    assert "--max-cost 0.5" in words("ramabana", Permission.EDIT)
    allowed = json.loads(AGENTS["opencode"]().environment(Task("p", "/c", "/s", "id"))["OPENCODE_PERMISSION"])
    assert (allowed["edit"], allowed["bash"], allowed["webfetch"]) == ("allow", "deny", "deny")
