from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.core.defect import DefectKind, Proof, defect_of, said
from lessonbook.core.session import Call, CallKind, CallStatus
from lessonbook.transcripts.values import RESULT_MAX, clip

CRASH, PROTOCOL, SCHEMA, TIME_OUT = DefectKind
KEY = "sk-ant-api03-" + "Zq7" * 16


def mcp(result: str, name: str = "mcp__db__fetch", kind: CallKind = CallKind.MCP, **more: Any) -> Call:
    return Call("c", name, kind, CallStatus.FAILED, {"path": "x"}, result=result, **more)


def shell(command: str, result: str, code: int | None = 1) -> Call:
    return Call("c", "Bash", CallKind.SHELL, CallStatus.FAILED, {"command": command}, None, command, result, code)


@pytest.mark.parametrize(
    ("call", "kind", "proof"),
    [
        (mcp("TypeError: Cannot read properties of undefined (reading 'rows')\n  at x"), CRASH, Proof.SESSIONS),
        (mcp("Traceback (most recent call last):\n  File a\nKeyError: 'rows'"), CRASH, Proof.SESSIONS),
        (mcp("TypeError: x is not a function", "mcp__figma__latestTranscript"), CRASH, Proof.SESSIONS),
        (mcp("thread 'main' panicked at src/main.rs:3:4"), CRASH, Proof.SESSIONS),
        (mcp("Error: Internal error: it broke"), CRASH, Proof.SESSIONS),
        (mcp("ENOENT: no such file or directory, posix_spawn 'rg'", "Glob", CallKind.LIST), CRASH, Proof.SESSIONS),
        (mcp("MCP error -32000: Connection closed"), PROTOCOL, Proof.SESSIONS),
        (mcp("Error: server disconnected"), PROTOCOL, Proof.SESSIONS),
        (mcp("error: Unexpected end of JSON input"), PROTOCOL, Proof.SESSIONS),
        (mcp("TypeError: fetch() missing 1 required positional argument: 'path'"), SCHEMA, Proof.SESSIONS),
        (mcp("TypeError: fetch() got an unexpected keyword argument 'limit'"), SCHEMA, Proof.SESSIONS),
        (mcp("error: has an output schema but did not return structured content"), SCHEMA, Proof.SESSIONS),
        (mcp("MCP error -32602: Invalid arguments for tool fetch"), SCHEMA, Proof.MODELS),
        (mcp("InputValidationError: Read failed: path is missing", "Read", CallKind.READ), SCHEMA, Proof.MODELS),
        (mcp("MCP error -32001: Request timed out"), TIME_OUT, Proof.SESSIONS),
        (mcp("error: deadline exceeded", "Task", CallKind.TASK), TIME_OUT, Proof.SESSIONS),
        (shell("ls", "Error: posix_spawn '/bin/zsh' failed"), CRASH, Proof.SESSIONS),
        (shell("rg x", "Segmentation fault (core dumped)", 139), CRASH, Proof.PROJECTS),
    ],
)
def test_a_tool_that_fails_by_itself_has_a_defect(call: Call, kind: DefectKind, proof: Proof) -> None:
    defect = defect_of(call)
    assert defect is not None
    assert (defect.kind, defect.proof) == (kind, proof)


@pytest.mark.parametrize(
    "call",
    [
        Call("c", "mcp__db__fetch", CallKind.MCP, CallStatus.OK, result="TypeError: x is not a function"),
        Call("c", "mcp__db__fetch", CallKind.MCP, CallStatus.DENIED, result="TypeError: x is not a function"),
        mcp("String to replace not found in file.", "Edit", CallKind.EDIT),
        mcp("File does not exist.", "Read", CallKind.READ),
        mcp("No such tool available: Foo", "Foo", CallKind.OTHER),
        mcp("no row of that name was found"),
        mcp("InputValidationError: not JSON", args_raw="{"),
        mcp("TypeError: x is not a function", "mcp__repl__run_python"),
        mcp("KeyError: 'rows'", "mcp__db__query"),
        mcp("KeyError: 'rows'", "browserEvaluate"),
        mcp("Error: the page timed out", "WebFetch", CallKind.WEB),
        mcp("Error: 500 Internal Server Error", "WebFetch", CallKind.WEB),
        mcp("Error: timed out, nobody answered", "AskUserQuestion", CallKind.ASK),
        mcp("Your edit has new errors:\n- TypeError: x is not a function", "edit", CallKind.EDIT),
        shell("python a.py", "Traceback (most recent call last):\n  File a\nTypeError: x"),
        shell("sleep 900", "Command timed out after 2m"),
        shell("cargo test", "Segmentation fault", 139),
        shell("./target/debug/shop", "Segmentation fault", 139),
        shell("cargo run", "thread 'main' panicked at src/main.rs:3:4", 101),
    ],
)
def test_a_mistake_or_an_answer_is_no_defect(call: Call) -> None:
    assert defect_of(call) is None


@given(
    st.integers(0, 10**9), st.from_regex(r"[a-z]{1,12}", fullmatch=True), st.from_regex(r"[a-z]{1,9}", fullmatch=True)
)
def test_the_same_failure_with_other_particulars_has_the_same_id(number: int, folder: str, quoted: str) -> None:
    one = defect_of(mcp("TypeError: Cannot read properties of undefined (reading 'a') at line 3 of /srv/a/b.js"))
    told = f"TypeError: Cannot read properties of undefined (reading '{quoted}') at line {number} of /srv/{folder}/b.js"
    other = defect_of(mcp(told))
    assert one is not None and other is not None
    assert one.id == other.id


def test_other_tools_and_other_failures_are_other_defects() -> None:
    calls = [mcp("TypeError: a"), mcp("TypeError: b"), mcp("TypeError: a", "mcp__db__store")]
    assert len({defect.id for call in calls if (defect := defect_of(call))}) == 3


@given(st.sampled_from(["{}", "TypeError: {}", "TypeError: no {} here", "MCP error -32000: {}"]))
def test_no_secret_is_in_a_defect(form: str) -> None:
    defect = defect_of(mcp(form.format(f"key {KEY} of ana.lind@example.org"), f"mcp__{KEY}__fetch"))
    if defect is not None:
        assert KEY not in repr(defect) and "ana.lind" not in repr(defect)


@settings(max_examples=300)
@given(st.integers(0, 9_000), st.booleans(), st.sampled_from(["a ", "word\n", "an error, a long line of words "]))
def test_no_part_of_a_secret_is_told_wherever_a_result_was_cut(at: int, first: bool, filler: str) -> None:
    text = filler * (9_000 // len(filler))
    text = f"{'TypeError: x ' if first else ''}{text[:at]} {KEY} {text[at:]}\nTypeError: y"
    call = mcp(clip(text, RESULT_MAX, errors=True))
    for told in (said(call), repr(defect_of(call))):
        assert "Zq7" not in told and "api03" not in told
