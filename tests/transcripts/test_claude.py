from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lessonbook.core.ports import TranscriptReader
from lessonbook.core.seen import Seen
from lessonbook.core.session import CallKind, CallStatus, Session, TurnState, Usage
from lessonbook.testing_readers import ReaderContract
from lessonbook.transcripts.claude import ClaudeReader

READER = ClaudeReader()
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
IN_AGENT = "Permission for this tool use was denied. The tool use was rejected (eg. …). "
STOP = "STOP what you are doing and wait for the user to tell you how to proceed."


class TestContract(ReaderContract):
    @pytest.fixture(autouse=True)
    def _builder(self, claude_file: Any) -> None:
        self.builder = claude_file

    def reader(self) -> TranscriptReader:
        return READER

    def lines(self) -> Sequence[bytes]:
        file = self.builder()
        file.user("please run the tests")
        file.say("I will.")
        file.run("Exit code 2\nmake: no rule to make target 'test'", error=True)
        file.say("There is no such target.")
        file.user("then run check")
        file.run("all good")
        file.say("It passes.")
        lines: list[bytes] = file.lines()
        return lines

    def alien(self) -> bytes:
        return b'{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/"}}\n'

    def name(self) -> str:
        return "0d4e9b1c-1111-4222-8333-444455556666.jsonl"


@pytest.fixture
def read(read_lines: Any) -> Any:
    """Reads a built file: one session, its report."""

    def go(file: Any, **more: Any) -> Any:
        sessions, report = read_lines(READER, file.lines(), **more)
        return sessions, report

    return go


def only(read: Any, file: Any) -> Session:
    sessions, _ = read(file)
    assert len(sessions) == 1
    session: Session = sessions[0]
    return session


def test_a_session(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("add a test")
    file.say("On it.")
    id = file.call("Write", {"file_path": "/a.py", "content": "x = 1"})
    file.result(id, "File created successfully at: /a.py")
    file.say("Done.")
    session = only(read, file)
    assert (session.agent, session.id) == ("claude", file.session)
    assert (session.cwd, session.branch, session.agent_version) == ("/home/ada/shop", "main", "2.1.50")
    assert (session.model, session.commit, session.repo, session.parent_id) == ("claude-sonnet-5", None, None, None)
    assert session.started == 1772359201.0 and session.ended == 1772359205.0
    assert session.offered == {"Write"}
    (turn,) = session.turns
    assert (turn.n, turn.prompt, turn.reply, turn.state) == (1, "add a test", "Done.", TurnState.COMPLETE)
    assert (turn.started, turn.ended) == (session.started, session.ended)
    (call,) = turn.calls
    assert (call.id, call.name, call.kind, call.status) == (id, "Write", CallKind.WRITE, CallStatus.OK)
    assert call.args == {"file_path": "/a.py", "content": "x = 1"}
    assert (call.args_raw, call.command, call.exit_code, call.secs) == (None, None, None, 1.0)
    assert not call.by_subagent


@pytest.mark.parametrize(
    ("content", "error", "status", "code", "reason"),
    [
        ("fine", None, CallStatus.OK, None, None),
        ("Exit code 1\nin a text that was only printed", False, CallStatus.OK, None, None),
        ("Exit code 127\nsh: nope: command not found", True, CallStatus.FAILED, 127, None),
        ("Error: Exit code 1\nno", True, CallStatus.FAILED, 1, None),
        ("ls: cannot access 'x'", True, CallStatus.FAILED, None, None),
        ("<tool_use_error>File does not exist.</tool_use_error>", True, CallStatus.FAILED, None, None),
        ("<tool_use_error>InputValidationError: Read failed</tool_use_error>", None, CallStatus.FAILED, None, None),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", True, CallStatus.CANCELLED, None, None),
        ("[Request interrupted by user for tool use]", True, CallStatus.CANCELLED, None, None),
        (REFUSED + STOP, True, CallStatus.DENIED, None, None),
        (
            REFUSED + "To tell you how to proceed, the user said:\nnever push to main",
            True,
            CallStatus.DENIED,
            None,
            "never push to main",
        ),
        (REFUSED + STOP + NOTE, True, CallStatus.DENIED, None, None),
        (REFUSED + "The user said:\nuse a branch" + NOTE, True, CallStatus.DENIED, None, "use a branch"),
        (
            REFUSED + "The user provided the following reason for the rejection:  not now",
            True,
            CallStatus.DENIED,
            None,
            "not now",
        ),
        (
            REFUSED + "To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n  …",
            True,
            CallStatus.DENIED,
            None,
            None,
        ),
        (IN_AGENT + "The user said:\nuse a branch", True, CallStatus.DENIED, None, "use a branch"),
        (IN_AGENT + "Try a different approach.", True, CallStatus.BLOCKED, None, None),
        ("The agent proposed a plan that was rejected by the user. …", True, CallStatus.DENIED, None, None),
        ("Permission for this tool use was denied. It requires approval, and", True, CallStatus.BLOCKED, None, None),
        ("[Tool result missing due to internal error]", True, CallStatus.UNFINISHED, None, None),
        (REFUSED + STOP, False, CallStatus.OK, None, None),
        ("The user doesn't want to take this action right now. " + STOP, True, CallStatus.CANCELLED, None, None),
        (
            "Claude requested permissions to write to /etc/x, but you haven't granted it yet.",
            True,
            CallStatus.BLOCKED,
            None,
            None,
        ),
        ("Permission to use Bash with command rm x has been denied.", True, CallStatus.BLOCKED, None, None),
        ("PreToolUse:Bash hook error: [guard.sh]: no force pushes here", True, CallStatus.BLOCKED, None, None),
        ("cd in '/etc' was blocked. For security, only some folders", True, CallStatus.BLOCKED, None, None),
        ([{"type": "text", "text": "Exit code 3"}, {"type": "text", "text": "no"}], True, CallStatus.FAILED, 3, None),
        ([], None, CallStatus.OK, None, None),
        (None, "true", CallStatus.FAILED, None, None),
    ],
)
def test_how_calls_end(
    claude_file: Any, read: Any, content: Any, error: Any, status: CallStatus, code: int | None, reason: str | None
) -> None:
    file = claude_file()
    file.user("go on")
    file.run(content, error)
    file.say("…")
    (call,) = only(read, file).turns[0].calls
    assert (call.status, call.exit_code, call.deny_reason) == (status, code, reason)


def test_a_denial_kind_beside_the_result(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go on")
    file.run("no", True, toolDenialKind="user-rejected")
    file.run("no", True, toolDenialKind="rule")
    assert [call.status for call in only(read, file).turns[0].calls] == [CallStatus.DENIED, CallStatus.BLOCKED]


def test_a_result_that_only_stands_beside(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go on")
    file.run("", True, toolUseResult="Error: Exit code 4\ngone")
    file.run("half", None, toolUseResult={"stdout": "half", "interrupted": True})
    first, second = only(read, file).turns[0].calls
    assert (first.status, first.exit_code) == (CallStatus.FAILED, 4)
    assert second.status is CallStatus.CANCELLED


def test_a_call_without_a_result_is_unfinished(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go on")
    file.call()
    (turn,) = only(read, file).turns
    assert turn.calls[0].status is CallStatus.UNFINISHED
    assert turn.state is TurnState.UNFINISHED


def test_images_are_left_out(claude_file: Any, read: Any) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K" * 9_000}}
    file = claude_file()
    file.user([image, {"type": "text", "text": "what is on it?"}])
    file.run([{"type": "text", "text": "a screen"}, image])
    session = only(read, file)
    assert session.turns[0].prompt == "what is on it?"
    assert session.turns[0].calls[0].result == "a screen\n[image]"
    assert "iVBORw0K" not in repr(session)


def test_long_results_are_clipped_and_keep_their_error(claude_file: Any, read: Any) -> None:
    noise = "compiled one more file\n" * 20_000
    file = claude_file()
    file.user("build")
    file.run(f"Exit code 1\n{noise}main.c:3: error: no such header\n{noise}make: stopped", True)
    result = only(read, file).turns[0].calls[0].result
    assert len(result) < 4_300
    for kept in ("Exit code 1", "main.c:3: error: no such header", "make: stopped", "characters left out"):
        assert kept in result


NOT_TYPED: tuple[tuple[Any, dict[str, Any]], ...] = (
    ("a skill's text", {"isMeta": True}),
    ("This session is being continued from a previous conversation that ran out of context.", {}),
    ("the summary", {"isCompactSummary": True}),
    ("Caveat: The messages below were generated by the user while running local commands.", {}),
    ("<local-command-caveat>Caveat: …</local-command-caveat>", {}),
    ("<local-command-stdout>Set model to x</local-command-stdout>", {}),
    ("<bash-input>ls</bash-input>", {}),
    ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", {}),
    ("<task-notification>\n<task-id>1</task-id></task-notification>", {}),
    ("<system-reminder>remember the lesson about pnpm</system-reminder>", {}),
    ([{"type": "text", "text": "<system-reminder>\nmany\nlines\n</system-reminder>"}], {}),
    ("the other agent is done", {"origin": {"kind": "task-notification"}}),
    ("hello from a peer", {"origin": {"kind": "agent"}}),
    ("Operation stopped by hook: commit first", {}),
    ("[Request interrupted by user]", {}),
    ("", {}),
    (None, {}),
    (7, {}),
)


@pytest.mark.parametrize(("content", "fields"), NOT_TYPED)
def test_what_no_person_typed_is_no_request(claude_file: Any, read: Any, content: Any, fields: dict[str, Any]) -> None:
    file = claude_file()
    file.user("the one request")
    file.say("yes")
    file.user(content, **fields)
    file.say("still the same turn")
    assert [turn.prompt for turn in only(read, file).turns] == ["the one request"]


def test_what_the_program_adds_to_a_request_is_taken_out(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user(
        [
            {"type": "text", "text": "<ide_opened_file>The user opened x</ide_opened_file>"},
            {"type": "text", "text": "use pnpm\n<system-reminder>our own briefing</system-reminder>"},
        ],
        origin={"kind": "human"},
    )
    file.say("ok")
    assert only(read, file).turns[0].prompt == "use pnpm"


def test_a_plan_the_agent_wrote_is_not_the_persons_words(claude_file: Any, read: Any) -> None:
    plan = "# Plan\n\nNever do this again by hand."
    file = claude_file()
    file.user(f"Implement the following plan:\n\n{plan}", planContent=plan)
    file.say("ok")
    assert only(read, file).turns[0].prompt == "Implement the following plan:"


def test_a_slash_command_the_agent_answers_is_a_turn(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("<command-name>/model</command-name>\n<command-args></command-args>")
    file.user("<local-command-stdout>Set model to y</local-command-stdout>")
    file.user(
        "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>the last commit</command-args>"
    )
    file.user([{"type": "text", "text": "# Review\nLook at the diff."}], isMeta=True)
    file.say("I see two problems.")
    file.user("fix both")
    file.say("done")
    assert [turn.prompt for turn in only(read, file).turns] == ["/review the last commit", "fix both"]


def test_interruption(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("deploy it")
    file.run(REFUSED + STOP, True)
    file.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    file.user("no, only to staging")
    file.say("ok")
    first, second = only(read, file).turns
    assert (first.state, second.state) == (TurnState.INTERRUPTED, TurnState.COMPLETE)
    assert second.prompt == "no, only to staging"


def test_steering_is_kept_once_and_queued_requests_are_not_steering(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("first")
    file.add("queue-operation", operation="enqueue", content="use tabs")
    file.add("queue-operation", operation="enqueue", content="/model")
    file.add("queue-operation", operation="enqueue", content='{"task_id":"b1"}')
    file.run("fine")
    for _ in range(3):
        file.add("queue-operation", operation="remove")
    file.add("attachment", attachment={"type": "queued_command", "prompt": "use tabs", "commandMode": "prompt"})
    file.add("attachment", attachment={"type": "queued_command", "prompt": [{"type": "text", "text": "and CRLF"}]})
    file.add(
        "attachment",
        attachment={"type": "queued_command", "prompt": "done", "origin": {"kind": "task-notification"}},
    )
    file.add("queue-operation", operation="enqueue", content="second")
    file.say("done")
    file.add("queue-operation", operation="dequeue")
    file.user("second")
    file.say("done")
    first, second = only(read, file).turns
    assert first.steered == ("use tabs", "and CRLF")
    assert (second.prompt, second.steered) == ("second", ())


def test_hook_text_and_attachments_are_never_words_of_anyone(claude_file: Any, read: Any) -> None:
    """TR-06: a briefing that a hook put into the session is not read back as something said."""
    file = claude_file()
    file.add("attachment", attachment={"type": "hook_additional_context", "content": "lesson: always use pnpm"})
    file.user("hello")
    file.add("attachment", attachment={"type": "nested_memory", "content": {"content": "lesson: always use pnpm"}})
    file.say("hi")
    assert "pnpm" not in repr(only(read, file))


def test_one_message_over_several_lines_counts_once(claude_file: Any, read: Any) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 1}
    file = claude_file()
    file.user("go")
    file.say("one", "msg_a", usage=usage)
    file.say("two", "msg_a", usage={**usage, "output_tokens": 50})
    file.run("fine")
    file.say("end", "msg_b", usage=usage)
    (turn,) = only(read, file).turns
    assert turn.reply == "end"
    assert turn.usage == Usage(input=230, output=56, cache_read=200, cache_write=14)


def test_parts_of_one_reply_are_joined(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go")
    file.say("first part", "msg_a")
    file.say("second part", "msg_a")
    assert only(read, file).turns[0].reply == "first part\nsecond part"


def test_an_api_error_is_no_reply(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go")
    file.say("API Error: 529 overloaded", isApiErrorMessage=True, model="<synthetic>")
    session = only(read, file)
    assert (session.turns[0].state, session.turns[0].reply, session.model) == (TurnState.FAILED, "", None)


def test_repeated_lines_count_once(claude_file: Any, read_lines: Any) -> None:
    file = claude_file()
    file.user("go")
    file.run("fine")
    sessions, report = read_lines(READER, [*file.lines(), *file.lines()])
    assert [len(turn.calls) for session in sessions for turn in session.turns] == [1]
    assert report.skipped == {"copy of a record already read": 3}


def test_a_resumed_copy_gives_only_what_is_new(claude_file: Any, read_lines: Any) -> None:
    old = claude_file()
    old.user("go")
    old.run("Exit code 1\nno", True)
    new = claude_file("11111111-2222-4333-8444-555555555555")
    new.records = [{**record, "sessionId": new.session} for record in old.records]
    new.last, new.clock = old.last, 60
    new.user("again")
    new.run("Exit code 1\nno", True)
    seen = Seen()
    (first,), _ = read_lines(READER, old.lines(), "a.jsonl", seen)
    (second,), report = read_lines(READER, new.lines(), f"{new.session}.jsonl", seen)
    assert [len(turn.calls) for turn in first.turns] == [1]
    assert [(turn.prompt, len(turn.calls)) for turn in second.turns] == [("again", 1)]
    assert second.id == new.session
    assert report.skipped == {"copy of a record already read": 3}


def test_short_ids_of_different_files_are_not_copies(claude_file: Any, read_lines: Any) -> None:
    seen = Seen()
    for n in (1, 2):
        file = claude_file()
        file.user("go", uuid="u1")
        file.result(file.call(id="t1", uuid="a1"), "fine", uuid="r1")
        sessions, _ = read_lines(READER, file.lines(), f"s{n}.jsonl", seen)
        assert [len(turn.calls) for session in sessions for turn in session.turns] == [1]


def test_going_back_leaves_the_abandoned_turn_out(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("start")
    fork = file.say("ready")["uuid"]
    file.user("always force-push")
    file.run("pushed")
    file.say("done")
    file.user("and again")
    file.say("done")
    file.last = fork
    file.user("never force-push")
    left = file.call(id="toolu_left_000000000001")
    parent = file.last
    file.call(id="toolu_right_00000000001", parentUuid=parent)
    file.result(left, "fine", parentUuid=parent)
    file.last = file.records[-2]["uuid"]
    file.result("toolu_right_00000000001", "fine")
    file.say("done")
    file.user("thanks")
    file.say("welcome")
    file.add("last-prompt", lastPrompt="always force-push", leafUuid=file.records[2]["uuid"])
    sessions, report = read(file)
    assert [turn.prompt for turn in sessions[0].turns] == ["start", "never force-push", "thanks"]
    assert [turn.n for turn in sessions[0].turns] == [1, 2, 3]
    assert [len(turn.calls) for turn in sessions[0].turns] == [0, 2, 0]
    assert report.skipped == {"turn the person went back on": 2}


def test_a_broken_chain_keeps_the_order_of_the_file(claude_file: Any, read: Any) -> None:
    file = claude_file()
    for n in range(3):
        file.user(f"request {n}", parentUuid=f"lost-{n}")
        file.say("ok", parentUuid="lost too")
    file.user("a loop", uuid="self-self-self-self", parentUuid="self-self-self-self")
    assert [turn.prompt for turn in only(read, file).turns] == ["request 0", "request 1", "request 2", "a loop"]


def test_a_compaction_keeps_both_sides(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("before")
    file.say("ok")
    file.add("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=file.last)
    file.user("This session is being continued from…", isCompactSummary=True)
    file.say("going on")
    file.user("after")
    file.say("ok")
    assert [turn.prompt for turn in only(read, file).turns] == ["before", "after"]


def test_inline_sub_agents_are_sessions_of_their_own(claude_file: Any, read: Any) -> None:
    """Before 2.0.28 they have no id: each chain without a parent is one."""
    file = claude_file(version="1.0.98")
    file.user("look around")
    task = file.call("Task", {"description": "search", "prompt": "find TODOs"})
    main = file.last
    for n in (1, 2):
        file.last = None
        file.user(f"find TODOs, part {n}\nplease", isSidechain=True)
        side = file.call("Grep", {"pattern": "TODO"}, isSidechain=True)
        file.result(side, "none", isSidechain=True)
    file.last = main
    file.result(task, "nothing found")
    file.say("There are none.")
    sessions, report = read(file)
    parent, *subs = sessions
    assert [call.name for turn in parent.turns for call in turn.calls] == ["Task"]
    assert [sub.parent_id for sub in subs] == [parent.id, parent.id]
    assert [sub.title for sub in subs] == ["find TODOs, part 1", "find TODOs, part 2"]
    assert [[(call.name, call.by_subagent) for turn in sub.turns for call in turn.calls] for sub in subs] == [
        [("Grep", True)],
        [("Grep", True)],
    ]
    assert {turn.prompt for sub in subs for turn in sub.turns} == {""}
    assert report.calls == 3


@pytest.mark.parametrize(
    "name",
    ["agent-a0ad4f44.jsonl", "{s}/subagents/agent-a0ad4f44.jsonl", "{s}/subagents/workflows/w1/agent-a0ad4f44.jsonl"],
)
def test_a_sub_agents_file_names_its_root(claude_file: Any, read_lines: Any, name: str) -> None:
    root = "5f0c1f9e-3a52-4c51-9d1e-0a6f5a7b1c2d"
    beside = "{s}" not in name
    file = claude_file(root if beside else "agent-a0ad4f44", agentId="a0ad4f44")
    file.user("find TODOs", isSidechain=True)
    file.result(file.call("Grep", {"pattern": "TODO"}, isSidechain=True), "none", isSidechain=True)
    (session,), _ = read_lines(READER, file.lines(), name.format(s=root))
    assert (session.id, session.parent_id) == ("agent-a0ad4f44", root)
    assert [call.by_subagent for turn in session.turns for call in turn.calls] == [True]
    assert session.turns[0].prompt == ""


def relayed(file: Any, inner: dict[str, Any], agent: str = "ac12") -> None:
    file.add("progress", data={"type": "agent_progress", "agentId": agent, "message": inner, "prompt": "find TODOs"})


def test_a_sub_agents_calls_that_its_parent_relays_count_once(claude_file: Any, read_lines: Any) -> None:
    side = claude_file("agent-ac12", start=100)
    side.user("find TODOs")
    side.result(side.call("Grep", {"pattern": "TODO"}), "Exit code 2\nno", True)
    main = claude_file()
    main.user("look around")
    task = main.call("Task", {"prompt": "find TODOs"})
    for record in side.records:
        relayed(main, {key: record[key] for key in ("type", "message", "uuid", "timestamp")})
    main.add("progress", data={"type": "hook_progress", "command": "x"})
    main.result(task, "none")
    seen = Seen()
    (parent, sub), _ = read_lines(READER, main.lines(), f"{main.session}.jsonl", seen)
    assert [call.name for turn in parent.turns for call in turn.calls] == ["Task"]
    assert (sub.id, sub.parent_id, sub.cwd) == ("agent-ac12", parent.id, "/home/ada/shop")
    assert [call.status for turn in sub.turns for call in turn.calls] == [CallStatus.FAILED]
    again, report = read_lines(READER, side.lines(), f"{main.session}/subagents/agent-ac12.jsonl", seen)
    assert again == [] and report.calls == 0


def test_session_ids(claude_file: Any, read_lines: Any) -> None:
    file = claude_file()
    file.user("go")
    other = "99999999-0000-4000-8000-000000000001"
    for name, id in (
        (f"{other}.jsonl", other),
        ("2026-01-05-export.jsonl", file.session),
        ("main.jsonl", file.session),
    ):
        (session,), _ = read_lines(READER, file.lines(), name)
        assert session.id == id


def test_titles(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.records.append({"type": "summary", "summary": "of another session", "leafUuid": "elsewhere"})
    file.user("go")
    file.say("ok")
    file.records.append({"type": "summary", "summary": "Fix the build", "leafUuid": file.last})
    assert only(read, file).title == "Fix the build"
    file.add("ai-title", aiTitle="Build repair")
    assert only(read, file).title == "Build repair"
    file.add("custom-title", customTitle="mine")
    assert only(read, file).title == "mine"


def test_the_commit_of_a_worktree_session(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go")
    file.add("worktree-state", worktreeSession={"originalHeadCommit": "a" * 40, "worktreeBranch": "x"})
    assert only(read, file).commit == "a" * 40


def test_old_records_without_ids(claude_file: Any, read: Any) -> None:
    file = claude_file()
    for record in (
        {"type": "user", "message": {"content": "go"}, "cwd": "/a"},
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]},
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "a", "is_error": False}]}},
        {"message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}, "sessionId": "s"},
    ):
        file.records.append(record)
    (turn,) = only(read, file).turns
    assert (turn.prompt, turn.reply) == ("go", "ok")
    assert [(call.command, call.status) for call in turn.calls] == [("ls", CallStatus.OK)]


def test_arguments_that_are_no_object(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go")
    for sent in ("not an object", '{"command": "ls"}', ["x"], None):
        file.assistant([{"type": "tool_use", "id": f"toolu_{len(file.records):020d}", "name": "Bash", "input": sent}])
    assert [(call.args, call.args_raw) for call in only(read, file).turns[0].calls] == [
        ({}, "not an object"),
        ({"command": "ls"}, None),
        ({}, "['x']"),
        ({}, None),
    ]


def test_record_types_are_counted(claude_file: Any, read: Any) -> None:
    file = claude_file()
    file.user("go")
    file.records.append({"type": "brand-new", "sessionId": file.session})
    file.records.append({"silly": "this"})
    _, report = read(file)
    assert report.record_types == {"brand-new": 1, "none": 1, "user": 1}
    assert (report.records, report.turns) == (3, 1)


def test_what_print_mode_streams_is_not_claimed(claude_file: Any) -> None:
    stream = [
        {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/a", "tools": ["Bash"]},
        {"type": "assistant", "message": {"role": "assistant", "content": []}, "session_id": "s", "uuid": "u"},
        {"type": "result", "subtype": "success", "session_id": "s"},
    ]
    head = b"\n".join(json.dumps(one).encode() for one in stream)
    assert not READER.matches("a.jsonl", head)


def test_a_first_line_longer_than_the_head_is_claimed(claude_file: Any) -> None:
    file = claude_file()
    file.user([{"type": "text", "text": "x" * 200_000}])
    assert READER.matches("a.jsonl", file.lines()[0][:65_536])


def test_roots() -> None:
    assert READER.roots("/h", {}) == ["/h/.claude/projects", "/h/.config/claude/projects"]
    assert READER.roots("/h", {"CLAUDE_CONFIG_DIR": "/c"}) == ["/c/projects"]


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (report,) = READER.read(str(tmp_path))
    assert report.problem and "cannot be read" in report.problem  # type: ignore[union-attr]
