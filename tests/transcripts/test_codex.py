from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, Session, TurnState, Usage
from lessonbook.testing_readers import ReaderContract
from lessonbook.transcripts.codex import CodexReader

READER = CodexReader()
NAME = "rollout-2026-03-01T11-00-00-5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d.jsonl"


class TestContract(ReaderContract):
    @pytest.fixture(autouse=True)
    def _builder(self, codex_file: Any) -> None:
        self.builder = codex_file

    def reader(self) -> TranscriptReader:
        return READER

    def lines(self) -> Sequence[bytes]:
        file = self.builder()
        file.user("please run the tests")
        file.run("Exit code: 2\nWall time: 0.5 seconds\nOutput:\nmake: no rule to make target 'test'")
        file.say("There is no such target.")
        file.user("then run check")
        file.run("Exit code: 0\nWall time: 0.5 seconds\nOutput:\nall good")
        file.say("It passes.")
        lines: list[bytes] = file.lines()
        return lines

    def alien(self) -> bytes:
        return b'{"type":"user","sessionId":"s","uuid":"u","parentUuid":null,"message":{"content":"hi"}}\n'

    def name(self) -> str:
        return NAME


class TestBareContract(TestContract):
    """The form until September 2025: bare items, no times but in the first line."""

    def lines(self) -> Sequence[bytes]:
        return [json.dumps(one).encode() for one in BARE]


def message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def envelope(code: int, output: str = "x") -> str:
    return json.dumps({"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.8}})


BARE: list[dict[str, Any]] = [
    {
        "id": "0aee5c2e-0000-4000-8000-00000000c0de",
        "timestamp": "2025-08-20T10:00:00.000Z",
        "instructions": None,
        "git": {"commit_hash": "c" * 40, "branch": "main", "repository_url": "https://ada:pw@example.invalid/o/r.git"},
    },
    {"record_type": "state"},
    message("user", "<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>"),
    message("user", "run the tests"),
    {
        "type": "function_call",
        "name": "shell",
        "call_id": "call_000000000000000001",
        "arguments": json.dumps({"command": ["bash", "-lc", "pytest -q"]}),
    },
    {"type": "function_call_output", "call_id": "call_000000000000000001", "output": envelope(1, "1 failed")},
    {
        "type": "local_shell_call",
        "call_id": "call_000000000000000002",
        "status": "completed",
        "action": {"type": "exec", "command": ["cat", "a b.py"]},
    },
    {"type": "function_call_output", "call_id": "call_000000000000000002", "output": "exec command rejected by user"},
    message("assistant", "One test fails."),
]


@pytest.fixture
def read(read_lines: Any) -> Any:
    """Reads a built file: sessions, report."""
    return lambda file, **more: read_lines(READER, file.lines(), **{"name": NAME, **more})


def only(read: Any, file: Any) -> Session:
    sessions, _ = read(file)
    assert len(sessions) == 1
    session: Session = sessions[0]
    return session


def test_a_session(codex_file: Any, read: Any) -> None:
    git = {"commit_hash": "d" * 40, "branch": "topic", "repository_url": "https://x-token:pw@example.invalid/o/r.git"}
    file = codex_file(git=git)
    file.user("add a test")
    id = file.call("shell", json.dumps({"command": ["bash", "-lc", "ls -a"], "workdir": "/x"}))
    file.result(id, envelope(0, "a.py"))
    file.say("Done.")
    session = only(read, file)
    assert (session.agent, session.id, session.parent_id) == ("codex", file.session, None)
    assert (session.cwd, session.branch, session.commit) == ("/home/ada/shop", "topic", "d" * 40)
    assert session.repo == "https://example.invalid/o/r.git"
    assert (session.model, session.agent_version) == ("gpt-5.6-codex", "0.146.0")
    assert (session.started, session.ended) == (1772362800.0, 1772362808.0)
    (turn,) = session.turns
    assert (turn.prompt, turn.reply, turn.state) == ("add a test", "Done.", TurnState.COMPLETE)
    (call,) = turn.calls
    assert (call.id, call.name, call.kind, call.status) == (id, "shell", CallKind.SHELL, CallStatus.OK)
    assert (call.command, call.exit_code, call.secs, call.result) == ("ls -a", 0, 0.8, "a.py")


def test_the_bare_form(read_lines: Any) -> None:
    (session,), report = read_lines(READER, [json.dumps(one).encode() for one in BARE], NAME)
    assert session.id == "0aee5c2e-0000-4000-8000-00000000c0de"
    assert (session.cwd, session.branch, session.commit) == ("/home/ada/shop", "main", "c" * 40)
    assert session.repo == "https://example.invalid/o/r.git"
    (turn,) = session.turns
    assert (turn.prompt, turn.reply) == ("run the tests", "One test fails.")
    first, second = turn.calls
    assert (first.command, first.status, first.exit_code) == ("pytest -q", CallStatus.FAILED, 1)
    assert (second.command, second.status, second.kind) == ("cat 'a b.py'", CallStatus.DENIED, CallKind.SHELL)
    assert (report.failed, report.denied) == (1, 1)


@pytest.mark.parametrize(
    ("output", "status", "code"),
    [
        (envelope(0), CallStatus.OK, 0),
        (envelope(2), CallStatus.FAILED, 2),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nfine", CallStatus.OK, 0),
        ("Exit code: 124\nWall time: 1 seconds\nOutput:\ncommand timed out", CallStatus.FAILED, 124),
        ("Exit code: 1\nWall time: 2 seconds\nTotal output lines: 23\nOutput:\nno", CallStatus.FAILED, 1),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nProcess exited with code 1\n", CallStatus.OK, 0),
        (
            "Command: make\nChunk ID: a1\nWall time: 1.5 seconds\nProcess exited with code 3\n"
            "Original token count: 9\nOutput:\nno",
            CallStatus.FAILED,
            3,
        ),
        ("Process exited with code 0\nOutput:\nfine", CallStatus.OK, 0),
        ("a text that says\nExit code: 1", CallStatus.OK, None),
        ([{"type": "input_text", "text": "Exit code: 1\nOutput:\nno"}], CallStatus.FAILED, 1),
        ({"type": "input_text", "text": "a.txt"}, CallStatus.OK, None),
        ({"content": "no such tool", "success": False}, CallStatus.FAILED, None),
        (json.dumps({"chunk_id": "1", "wall_time_seconds": 0.1, "exit_code": 9, "output": "x"}), CallStatus.FAILED, 9),
        ("exec command rejected by user", CallStatus.DENIED, None),
        ("patch rejected by user", CallStatus.DENIED, None),
        ("the exec command rejected by user was a mistake", CallStatus.OK, None),
        ("This action was rejected due to unacceptable risk.\nReason: …", CallStatus.BLOCKED, None),
        (
            "failed in sandbox MacosSeatbelt with execution error: sandbox denied exec error, exit code: 1, stdout: ",
            CallStatus.BLOCKED,
            1,
        ),
        ("approval policy is Never; reject command — you should not ask", CallStatus.BLOCKED, None),
        (
            "patch rejected: writing outside of the project; rejected by user approval settings",
            CallStatus.BLOCKED,
            None,
        ),
        ("aborted by user after 3.2s", CallStatus.CANCELLED, None),
        ("apply_patch verification failed: Failed to find expected lines in /a.py:\nx", CallStatus.FAILED, None),
        ("failed to parse function arguments: missing field `command`", CallStatus.FAILED, None),
        ("unsupported call: nope", CallStatus.FAILED, None),
        ("Plan updated", CallStatus.OK, None),
        ("", CallStatus.OK, None),
        (None, CallStatus.OK, None),
    ],
)
def test_how_calls_end(codex_file: Any, read: Any, output: Any, status: CallStatus, code: int | None) -> None:
    file = codex_file()
    file.user("go on")
    file.run(output)
    file.say("…")
    (call,) = only(read, file).turns[0].calls
    assert (call.status, call.exit_code) == (status, code)


def poll(file: Any, process: int, output: str) -> None:
    file.run(output, "write_stdin", json.dumps({"session_id": process, "chars": ""}))


def test_a_long_command_ends_with_a_later_poll(codex_file: Any, read: Any) -> None:
    running = "Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID {}\nOutput:\nbuilding"
    file = codex_file()
    file.user("build both")
    file.run(running.format(42), "exec_command", json.dumps({"cmd": "make all"}))
    file.run(running.format(43), "exec_command", json.dumps({"cmd": "make docs"}))
    poll(file, 42, running.format(42))
    poll(file, 42, "Chunk ID: b\nWall time: 2.0 seconds\nProcess exited with code 2\nOutput:\nerror: no rule")
    make, docs, first, second = only(read, file).turns[0].calls
    assert (make.status, make.exit_code, make.result) == (CallStatus.FAILED, 2, "building\nerror: no rule")
    assert docs.status is CallStatus.UNFINISHED
    assert [first.status, second.status] == [CallStatus.OK, CallStatus.OK]


def test_events_say_what_results_do_not(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.user("go")
    bare = file.call("exec_command", json.dumps({"cmd": "ls"}))
    file.result(bare, "README.md")
    file.event("exec_command_end", call_id=bare, exit_code=1)
    patch = file.call("apply_patch", json.dumps({"patch": "*** Begin Patch"}))
    file.event("patch_apply_end", call_id=patch, success=False, stderr="no such line")
    file.result(patch, "sorry")
    known = file.call()
    file.result(known, envelope(0))
    file.event("exec_command_end", call_id=known, exit_code=5)
    file.event("exec_command_end", call_id="elsewhere", exit_code=5)
    calls = only(read, file).turns[0].calls
    assert [(call.status, call.exit_code) for call in calls] == [
        (CallStatus.FAILED, 1),
        (CallStatus.FAILED, None),
        (CallStatus.OK, 0),
    ]


def test_calls_of_every_form(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.user("go")
    file.item("custom_tool_call", name="apply_patch", input="*** Begin Patch\n*** End Patch", call_id="c" * 20)
    file.item("custom_tool_call_output", call_id="c" * 20, output=envelope(0, "Success."))
    file.item("web_search_call", status="completed", action={"type": "search", "query": "x"})
    file.item("web_search_call", status="failed", action={"type": "search", "query": "y"})
    file.call("shell", "{broken")
    file.call("mcp_thing", {"already": "an object"})
    patch, found, missed, broken, plain = only(read, file).turns[0].calls
    assert (patch.kind, patch.args, patch.args_raw) == (
        CallKind.EDIT,
        {"input": "*** Begin Patch\n*** End Patch"},
        None,
    )
    assert (found.name, found.kind, found.status) == ("web_search", CallKind.WEB, CallStatus.OK)
    assert missed.status is CallStatus.FAILED
    assert (broken.args, broken.args_raw, broken.status) == ({}, "{broken", CallStatus.UNFINISHED)
    assert plain.args == {"already": "an object"}


def test_mcp_calls(codex_file: Any, read: Any) -> None:
    asked = {"server": "tracker", "tool": "list", "arguments": {"q": "x"}}
    file = codex_file()
    file.user("go")
    known = file.call("tracker__list", "{}")
    file.event("mcp_tool_call_end", call_id=known, invocation=asked, result={"Err": "no such project"})
    file.result(known, "tool call error: no such project")
    file.event(
        "mcp_tool_call_end", call_id="m" * 20, invocation=asked, result={"Ok": {"content": [], "isError": False}}
    )
    first, second = only(read, file).turns[0].calls
    assert (first.name, first.kind, first.status) == ("tracker__list", CallKind.MCP, CallStatus.FAILED)
    assert (second.name, second.kind, second.status) == ("mcp__tracker__list", CallKind.MCP, CallStatus.OK)
    assert second.args == {"q": "x"}


@pytest.mark.parametrize("event", [True, False])
def test_requests_with_and_without_their_event(codex_file: Any, read: Any, event: bool) -> None:
    file = codex_file()
    for text in (
        "<environment_context>\n<cwd>/x</cwd></environment_context>",
        "# AGENTS.md instructions for /x\n\nUse pnpm",
    ):
        file.user(text, event=False)
    file.item("message", role="developer", content=[{"type": "input_text", "text": "our briefing"}])
    file.user("first", event=event)
    file.say("ok")
    file.user("<turn_aborted>\nThe user interrupted</turn_aborted>", event=False)
    file.user('<hook_prompt hook_run_id="stop:0:/h.json">Go on: is it tested?</hook_prompt>', event=False)
    file.user("second", event=event)
    file.run(envelope(0))
    file.user("third, never answered", event=event)
    session = only(read, file)
    assert [turn.prompt for turn in session.turns] == ["first", "second", "third, never answered"]
    assert session.turns[-1].state is TurnState.UNFINISHED
    assert "briefing" not in repr(session) and "pnpm" not in repr(session) and "Go on" not in repr(session)


def test_what_an_ide_puts_before_a_request_is_taken_out(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.user(
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts: a.ts\n\n## My request for Codex:\nrename it\nplease "
    )
    file.say("ok")
    assert only(read, file).turns[0].prompt == "rename it\nplease"


def test_tasks_and_steering(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.event("task_started", turn_id="1")
    file.user("first")
    file.run(envelope(0))
    file.user("and use tabs")
    file.say("done")
    file.event("task_complete", turn_id="1")
    file.event("task_started", turn_id="2")
    file.user("second")
    file.event("turn_aborted", turn_id="2", reason="interrupted")
    file.event("task_started", turn_id="3")
    file.user("third")
    file.event("error", message="stream disconnected")
    turns = only(read, file).turns
    assert [(turn.prompt, turn.steered, turn.state) for turn in turns] == [
        ("first", ("and use tabs",), TurnState.COMPLETE),
        ("second", (), TurnState.INTERRUPTED),
        ("third", (), TurnState.FAILED),
    ]


def test_turns_taken_back_are_left_out(codex_file: Any, read: Any) -> None:
    file = codex_file()
    for text in ("keep", "always force-push", "and again"):
        file.user(text)
        file.run(envelope(0))
    file.event("thread_rolled_back", num_turns=2)
    file.user("never force-push")
    file.say("ok")
    sessions, report = read(file)
    assert [turn.prompt for turn in sessions[0].turns] == ["keep", "never force-push"]
    assert report.skipped == {"turn the person took back": 2}
    assert report.calls == 1


def tokens(file: Any, total: int, **last: int) -> None:
    file.event("token_count", info={"last_token_usage": last, "total_token_usage": {"total_tokens": total}})


def test_usage(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.user("go")
    tokens(file, 120, input_tokens=100, cached_input_tokens=60, output_tokens=20, reasoning_output_tokens=7)
    tokens(file, 120, input_tokens=100, cached_input_tokens=60, output_tokens=20, reasoning_output_tokens=7)
    file.event("token_count", info=None)
    tokens(file, 260, input_tokens=130, output_tokens=10)
    file.user("more")
    tokens(file, 260, input_tokens=130, output_tokens=10)
    first, second = only(read, file).turns
    assert first.usage == Usage(input=230, output=30, cache_read=60, reasoning=7)
    assert second.usage is None


FORK = "99999999-3a52-4c51-9d1e-0a6f5a7b1c2d"


@pytest.mark.parametrize("subagent", [False, True])
def test_what_a_fork_copied_is_left_out(codex_file: Any, read_lines: Any, subagent: bool) -> None:
    old = codex_file()
    old.user("go")
    old.run(envelope(1, "no"))
    old.say("It failed.")
    old.user("try again")
    old.run(envelope(1, "no"))
    meta: dict[str, Any] = {"forked_from_id": old.session}
    if subagent:
        meta["source"] = {"subagent": {"thread_spawn": {"parent_thread_id": old.session, "depth": 1}}}
    new = codex_file(FORK, start=100, **meta)
    for record in old.records:
        new.clock += 1
        new.records.append({**record, "timestamp": new.now()})
    new.user("something else")
    new.run(envelope(1, "no"))
    seen = Seen()
    (first,), _ = read_lines(READER, old.lines(), NAME, seen)
    (second,), report = read_lines(READER, new.lines(), f"rollout-x-{FORK}.jsonl", seen)
    assert [len(turn.calls) for turn in first.turns] == [1, 1]
    assert [(turn.prompt, len(turn.calls)) for turn in second.turns] == [("" if subagent else "something else", 1)]
    assert (second.id, second.parent_id) == (FORK, old.session if subagent else None)
    assert report.skipped == {"copy of a record already read": 4}
    assert {call.by_subagent for turn in second.turns for call in turn.calls} == {subagent}
    assert second.title == ("something else" if subagent else None)


def test_a_copy_older_than_its_file_is_left_out_though_its_source_is_gone(codex_file: Any, read: Any) -> None:
    new = codex_file(FORK, start=1_000, forked_from_id="gone")
    for record in codex_file(start=0).records:
        new.records.append(record)
    old = codex_file()
    old.user("old request")
    old.run(envelope(1))
    new.records += old.records[2:]
    new.user("new request")
    new.say("ok")
    assert [turn.prompt for turn in only(read, new).turns] == ["new request"]


def test_a_resumed_session_says_its_meta_again(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.user("one")
    file.say("ok")
    file.records.append(file.records[0])
    file.user("one")
    file.say("ok")
    assert [turn.prompt for turn in only(read, file).turns] == ["one", "one"]


def test_short_call_ids_of_different_files_are_not_copies(codex_file: Any, read_lines: Any) -> None:
    seen = Seen()
    for n in (1, 2):
        file = codex_file(f"{n}" * 8 + "-3a52-4c51-9d1e-0a6f5a7b1c2d")
        file.user("go")
        file.result(file.call(id="call_1"), envelope(1))
        (session,), _ = read_lines(READER, file.lines(), f"{n}.jsonl", seen)
        assert [len(turn.calls) for turn in session.turns] == [1]


def test_a_file_without_its_first_line(codex_file: Any, read_lines: Any) -> None:
    file = codex_file()
    file.user("go")
    file.run(envelope(0))
    (session,), report = read_lines(READER, [b'a cut first line","id":', *file.lines()[1:]], NAME)
    assert session.id == "5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d"
    assert [turn.prompt for turn in session.turns] == ["go"]
    assert report.skipped == {"line that is not JSON": 1}


def test_record_types_are_counted(codex_file: Any, read: Any) -> None:
    file = codex_file()
    file.user("go")
    file.add("brand_new", a=1)
    _, report = read(file)
    assert report.record_types == {
        "brand_new": 1,
        "event_msg/user_message": 1,
        "response_item/message": 1,
        "session_meta": 1,
        "turn_context": 1,
    }


def test_what_exec_json_prints_is_not_claimed() -> None:
    printed = b'{"type":"thread.started","thread_id":"t"}\n{"type":"item.completed","item":{"type":"agent_message"}}\n'
    assert not READER.matches("a.jsonl", printed)


def test_a_first_line_longer_than_the_head_is_claimed(codex_file: Any) -> None:
    line = codex_file(instructions="x" * 100_000).lines()[0]
    assert READER.matches("a.jsonl", line[:65_536])


def test_roots() -> None:
    assert READER.roots("/h", {}) == ["/h/.codex/sessions", "/h/.codex/archived_sessions"]
    assert READER.roots("/h", {"CODEX_HOME": "/c"}) == ["/c/sessions", "/c/archived_sessions"]


@pytest.fixture
def compressed(codex_file: Any, tmp_path: Path) -> Path:
    """A rollout as newer versions keep it."""
    zstandard = pytest.importorskip("zstandard")
    file = codex_file()
    file.user("go")
    file.run(envelope(1))
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(zstandard.compress(b"\n".join(file.lines()) + b"\n"))
    return path


def test_compressed_files(compressed: Path) -> None:
    head = compressed.read_bytes()
    assert READER.matches(str(compressed), head)
    session, report = READER.read(str(compressed))
    assert isinstance(session, Session)
    assert session.id == "5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d"
    assert report.calls == 1 and report.problem is None  # type: ignore[union-attr]


@pytest.mark.parametrize("damage", ["cut early", "cut late", "overwritten", "followed by rubbish"])
def test_a_damaged_compressed_file_is_read_as_far_as_it_goes(compressed: Path, damage: str) -> None:
    data = compressed.read_bytes()
    half = len(data) // 2
    compressed.write_bytes(
        {
            "cut early": data[:8],
            "cut late": data[:-3],
            "overwritten": data[:half] + b"\xff" * 40 + data[half + 40 :],
            "followed by rubbish": data + b"\x00rubbish",
        }[damage]
    )
    *sessions, report = READER.read(str(compressed))
    skipped = report.skipped  # type: ignore[union-attr]
    if damage == "overwritten":  # without a checksum it may only show in the lines
        assert skipped
        return
    assert skipped["rest of a compressed file that is damaged"] == 1
    assert len(sessions) == (damage == "followed by rubbish")


def test_several_frames_are_one_file(codex_file: Any, tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    file = codex_file()
    file.user("go")
    file.run(envelope(1))
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(b"".join(zstandard.compress(line + b"\n") for line in file.lines()))
    _, report = READER.read(str(path))
    assert (report.calls, report.skipped) == (1, {})  # type: ignore[union-attr]


def test_without_the_library_a_compressed_file_is_one_sentence(compressed: Path) -> None:
    """In a process of its own, where the library cannot be imported."""
    script = (
        "import sys; sys.modules['zstandard'] = None\n"
        "from lessonbook.transcripts.walk import read_paths\n"
        "from pathlib import Path\n"
        "print([item.problem for item in read_paths([Path(sys.argv[1])])])"
    )
    said = subprocess.run([sys.executable, "-c", script, str(compressed)], capture_output=True, text=True, check=True)
    assert said.stdout == "['It is compressed with zstd; install the extra lessonbook[zst] to read it.']\n"
