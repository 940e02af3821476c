from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lessonbook.core.finding import FindingKind, RouteCost, findings, route_cost
from lessonbook.core.route import Route
from lessonbook.core.session import Call, CallKind, CallStatus, Session, Turn, TurnState

OK, FAILED, DENIED = CallStatus.OK, CallStatus.FAILED, CallStatus.DENIED


def sh(command: str, status: CallStatus = OK, result: str = "", **args: object) -> Call:
    code = 1 if status is FAILED else 0
    return Call(command, "Bash", CallKind.SHELL, status, {"command": command, **args}, None, command, result, code)


def edit(path: str, status: CallStatus = OK, result: str = "", text: str = "x") -> Call:
    return Call(path, "Edit", CallKind.EDIT, status, {"file_path": path, "new_string": text}, result=result)


def read(path: str, result: str = "text") -> Call:
    return Call(path, "Read", CallKind.READ, OK, {"file_path": path}, result=result)


def session(*turns: Turn, agent: str = "claude", offered: frozenset[str] = frozenset()) -> Session:
    return Session(agent, "s", "/s.jsonl", turns, offered=offered)


def turn(*calls: Call, n: int = 1, prompt: str = "do it", reply: str = "") -> Turn:
    return Turn(n, prompt, calls, reply)


def kinds(*turns: Turn, agent: str = "claude", offered: frozenset[str] = frozenset()) -> list[FindingKind]:
    return [finding.kind for finding in findings(session(*turns, agent=agent, offered=offered))]


def test_schema() -> None:
    bad = Call("1", "Read", CallKind.READ, FAILED, result="<tool_use_error>InputValidationError: x</tool_use_error>")
    raw = Call("2", "shell", CallKind.SHELL, FAILED, args_raw='{"a":', command=None, result="no")
    unknown = Call("3", "Foo", CallKind.OTHER, FAILED, result="Error: No such tool available: Foo")
    assert kinds(turn(bad, raw, unknown)) == [FindingKind.SCHEMA] * 3


def test_tool_protocol_needs_a_failure() -> None:
    assert kinds(turn(sh("tool --bad", FAILED, "error: unknown option '--bad'"))) == [FindingKind.TOOL_PROTOCOL]
    assert kinds(turn(sh("tool", FAILED, "usage: tool [-h]"))) == [FindingKind.TOOL_PROTOCOL]
    assert kinds(turn(sh("tool --help", OK, "usage: tool [-h]"))) == []


def test_repeat_failure_needs_the_same_call_and_nothing_changed_between() -> None:
    fail = sh("deploy now", FAILED, "error: no")
    assert kinds(turn(fail, sh("ls"), fail)) == [FindingKind.REPEAT_FAILURE]
    assert kinds(turn(fail, edit("a.py"), fail)) == []
    assert kinds(turn(fail, sh("npm install"), fail)) == []
    assert kinds(turn(fail), turn(fail, n=2)) == []
    assert kinds(turn(fail, replace(fail, status=CallStatus.UNFINISHED))) == []


def test_repeat_failure_looks_past_what_a_call_is_described_as() -> None:
    first = sh("deploy now", FAILED, "error", description="try", timeout=5)
    again = sh("deploy now", FAILED, "error", description="once more", timeout=9)
    assert kinds(turn(first, again)) == [FindingKind.REPEAT_FAILURE]


@pytest.mark.parametrize("prompt", ["yes, push", "ok go on", "push it now", "continue"])
def test_consent_ends_a_refusal(prompt: str) -> None:
    refused = turn(sh("git push", DENIED))
    assert kinds(refused, turn(sh("git push --force"), n=2, prompt=prompt)) == []


def test_denial_retry() -> None:
    refused = turn(sh("git add a && git push", DENIED))
    again = turn(sh("git push --force"), n=2, prompt="now write the docs")
    assert kinds(refused, again) == [FindingKind.DENIAL_RETRY]
    assert kinds(turn(sh("git push", DENIED), sh("git push origin"))) == [FindingKind.DENIAL_RETRY]
    assert kinds(replace(refused, reply="Shall I push?"), again) == []
    assert kinds(refused, turn(sh("git add b"), n=2, prompt="now write the docs")) == []


def test_only_a_persons_refusal_counts() -> None:
    blocked = turn(sh("git push", CallStatus.BLOCKED))
    assert kinds(blocked, turn(sh("git push"), n=2, prompt="now write the docs")) == []


def test_an_edit_that_obeys_a_refusal_is_no_retry() -> None:
    assert kinds(turn(edit("a", DENIED, text="1"), edit("a", text="2"))) == []
    assert kinds(turn(edit("a", DENIED, text="1"), edit("a", text="1"))) == [FindingKind.DENIAL_RETRY]


@pytest.mark.parametrize("command", ["cat a.py", "sed -n 1,9p a.py", "cd x && head -5 a.py", "cat a.py | head -3"])
def test_bypass_of_reading(command: str) -> None:
    assert kinds(turn(sh(command))) == [FindingKind.BYPASS]


@pytest.mark.parametrize(
    "command",
    [
        "git log -p",
        "git diff HEAD~1 -- a",
        "ls && pytest",
        "cat a | wc -l",
        "cat a && make",
        "grep x a",
        "find . -delete",
        "cat",
    ],
)
def test_no_bypass(command: str) -> None:
    assert kinds(turn(sh(command))) == []


def test_bypass_needs_the_tool_and_counts_once_a_turn() -> None:
    assert kinds(turn(sh("grep x a"), sh("rg y")), offered=frozenset({"Grep"})) == [FindingKind.BYPASS]
    assert kinds(turn(sh("cat a")), agent="codex") == []
    assert kinds(turn(sh("cat > a <<'E'\nx\nE")), agent="codex") == [FindingKind.BYPASS]


def test_edit_before_read_reread_interrupted_and_escalation() -> None:
    unread = edit("a", FAILED, "<tool_use_error>File has not been read yet. Read it first</tool_use_error>")
    assert kinds(turn(unread)) == [FindingKind.EDIT_BEFORE_READ]
    assert kinds(turn(read("a"), read("a"))) == [FindingKind.REREAD]
    assert kinds(turn(read("a"), edit("a"), read("a"))) == []
    assert kinds(turn(read("a"), read("a", "other"))) == []
    assert kinds(replace(turn(), state=TurnState.INTERRUPTED)) == [FindingKind.INTERRUPTED]
    stopped = sh("pnpm i", FAILED, "failed in sandbox: denied")
    asked = sh("pnpm i", OK, with_escalated_permissions=True)
    assert FindingKind.SANDBOX_ESCALATED in kinds(turn(stopped, asked))


def test_route_cost_compares_findings_then_failures_then_calls() -> None:
    one = turn(sh("deploy", FAILED, "error: x"), sh("deploy", FAILED, "error: x"), sh("ls"))
    assert route_cost(one) == RouteCost(findings=1, failed=2, calls=3)
    assert route_cost(one, findings(session(one))) == route_cost(one)
    assert RouteCost(0, 9, 9) < RouteCost(1, 0, 0)


CUT = "x" * 2000 + "\n... [312 lines truncated] ..."


def test_a_call_made_again_because_its_answer_was_cut() -> None:
    again = sh("pytest -q | tail -50", result="3 passed")
    assert kinds(turn(sh("pytest -q", result=CUT), sh("ls x.py"), again), agent="pi") == [FindingKind.TRUNCATED]
    assert kinds(turn(sh("pytest -q", result=CUT), edit("a.py"), again)) == [], "a new state is a new question"
    assert kinds(turn(sh("pytest -q", result="all"), again)) == []
    assert kinds(turn(sh("pytest -q", result=CUT), sh("pytest -q tests/a", result="ok"))) == []
    told = sh("git log --grep=truncated", result="[truncated]")
    assert kinds(turn(told, told)) == [], "a short answer only speaks of it"


def test_a_call_that_was_stopped_while_it_ran_is_one_finding() -> None:
    running = replace(sh("sleep 900"), status=CallStatus.UNFINISHED)
    stopped = replace(turn(sh("pwd"), running), state=TurnState.INTERRUPTED)
    (only,) = findings(session(stopped))
    assert only.kind is FindingKind.ABORTED and only.detail == "sleep 900"
    assert kinds(replace(turn(sh("pwd")), state=TurnState.INTERRUPTED)) == [FindingKind.INTERRUPTED]
    assert kinds(turn(running)) == [], "it may only not have been written down yet"


def test_a_persons_own_rule_of_the_way() -> None:
    rule = Route(re.compile("release", re.I), re.compile("make changelog"))
    wrong = turn(sh("git tag v2"), sh("make changelog"), prompt="Release it")
    assert [one.kind for one in findings(session(wrong), [rule])] == [FindingKind.ROUTE]
    right = turn(read("a"), sh("cd x && make changelog"), sh("git tag v2"), prompt="Release it")
    assert findings(session(right), [rule]) == ()
    assert findings(session(turn(sh("git tag v2"), prompt="tag it")), [rule]) == ()
    assert findings(session(turn(read("a"), prompt="Release notes?")), [rule]) == ()
    only_web = Route(rule.when, re.compile("make changelog"), frozenset({CallKind.WEB}))
    assert findings(session(wrong), [only_web]) == ()


def test_git_and_the_background_are_bypasses_only_where_the_agent_has_tools_for_them() -> None:
    for command in ("git status --short", "git -C x status", "git push origin main", "git log -3", "npm run dev &"):
        assert kinds(turn(sh(command)), agent="ramabana") == [FindingKind.BYPASS], command
        assert kinds(turn(sh(command)), agent="claude") == [], command
    for command in ("git log -p", "git log --stat", "git diff HEAD~1 -- a", "git rebase main", "git status && pytest"):
        assert kinds(turn(sh(command)), agent="ramabana") == [], command
