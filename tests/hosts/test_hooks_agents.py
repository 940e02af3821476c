"""Every agent's hooks: the exact JSON each expects, within its time, and nothing else (MH-04, for all of them)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lessonbook.actions.nudge import NUDGE
from lessonbook.core.briefing import CLOSING, OPENING, REMINDER
from lessonbook.hosts.agents.agent import EVENTS, SECONDS
from lessonbook.hosts.agents.registry import AGENTS, agents
from lessonbook.hosts.hooks import DEADLINES

HOOKED = [agent for agent in agents() if agent.dialect]
PAIRS = [(agent.name, event) for agent in HOOKED if agent.dialect for event in agent.dialect.events]
ON = '[autolearn]\nenabled = true\nmin_tool_calls = 2\n[memory]\nbackend = "local"\n[recall]\non_prompt = true\n'
KEYS = {
    ("claude", "session-start"): "hookSpecificOutput.additionalContext",
    ("claude", "prompt"): "hookSpecificOutput.additionalContext",
    ("claude", "stop"): "hookSpecificOutput.additionalContext",
    ("codex", "session-start"): "hookSpecificOutput.additionalContext",
    ("codex", "prompt"): "hookSpecificOutput.additionalContext",
    ("codex", "stop"): "reason",
    ("gemini", "session-start"): "hookSpecificOutput.additionalContext",
    ("gemini", "prompt"): "hookSpecificOutput.additionalContext",
    ("gemini", "stop"): "reason",
    ("copilot", "session-start"): "additionalContext",
    ("copilot", "prompt"): "additionalContext",
    ("copilot", "stop"): "reason",
    ("cursor", "session-start"): "additional_context",
    ("cursor", "stop"): "followup_message",
    **{(name, event): "text" for name in ("opencode", "omp", "pi") for event in EVENTS},
    ("hermes", "session-start"): "context",
    ("hermes", "prompt"): "context",
}
NAMES = {
    ("claude", "session-start"): "SessionStart",
    ("claude", "prompt"): "UserPromptSubmit",
    ("claude", "stop"): "Stop",
    ("codex", "session-start"): "SessionStart",
    ("codex", "prompt"): "UserPromptSubmit",
    ("gemini", "session-start"): "SessionStart",
    ("gemini", "prompt"): "BeforeAgent",
}
CALLS = {
    "claude": (
        '{"type":"user","message":{"role":"user","content":"fix it"}}',
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}',
        '{"type":"user","message":{"content":[{"tool_use_id":"t","type":"tool_result","content":"\\"type\\":\\"user\\""}]}}',
    ),
    "codex": (
        '{"type":"event_msg","payload":{"type":"user_message","message":"fix it"}}',
        '{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}',
        '{"type":"response_item","payload":{"type":"function_call_output","output":"x"}}',
    ),
    "gemini": (
        '{"type":"user","content":[{"text":"fix it"}]}',
        '{"type":"gemini","content":"","toolCalls":[{"name":"run_shell_command"}]}',
        '{"type":"user","content":[{"functionResponse":{"id":"r","response":{"output":"x"}}}]}',
    ),
    "copilot": (
        '{"type":"user.message","data":{"content":"fix it"}}',
        '{"type":"tool.execution_start","data":{"toolName":"bash"}}',
        '{"type":"tool.execution_complete","data":{}}',
    ),
    "cursor": (
        '{"role":"user","message":{"content":[{"type":"text","text":"fix it"}]}}',
        '{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Shell"}]}}',
        '{"role":"user","message":{"content":[{"type":"tool_result"}]}}',
    ),
}  # fmt: skip


def switch_on(home: Path, text: str = ON) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def transcript(path: Path, agent: str, calls: int, turns: int = 1) -> Path:
    said, called, answered = CALLS[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(([said, *[called, answered] * calls]) * turns) + "\n")
    return path


def said(agent: str, event: str, **data: object) -> dict[str, object]:
    """What the agent sends, with ``data`` under its own names."""
    (known,) = agents([agent])
    named = {key: data.pop(key) for key in ("session", "cwd", "transcript", "prompt") if key in data}
    found = {**known.said(event, {"session": "s1", "prompt": "run the tests", **named}), **data}
    if agent == "hermes":
        found["extra"] = {"user_message": named.get("prompt", "run the tests")}
    return found


def text_of(done: subprocess.CompletedProcess[str], agent: str, event: str) -> str:
    """The text of an answer, whose exact shape is checked; empty for none."""
    assert done.returncode == 0
    if not done.stdout:
        return ""
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout)
    inner = answer
    for key in KEYS[agent, event].split("."):
        assert key in inner
        outer, inner = inner, inner[key]
    if (agent, event) in NAMES:
        assert answer == {"hookSpecificOutput": {"hookEventName": NAMES[agent, event], "additionalContext": inner}}
    elif KEYS[agent, event] == "reason":
        assert answer == {"decision": "block", "reason": inner}
    else:
        assert answer == outer == {KEYS[agent, event]: inner}
    assert isinstance(inner, str) and len(inner) < 9_500
    return inner


@pytest.mark.parametrize(("agent", "event"), PAIRS)
def test_nothing_to_say_is_nothing_at_all(run, agent: str, event: str) -> None:
    done = run("hook", event, "--agent", agent, stdin=json.dumps(said(agent, event)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("agent", "event"), PAIRS)
def test_every_agent_gets_its_own_form(run, home: Path, tmp_path: Path, agent: str, event: str) -> None:
    switch_on(home)
    run("learn", "Run the tests with make test.", cwd=tmp_path)
    data: dict[str, object] = {"cwd": str(tmp_path), "tool_calls": 9}
    if agent in CALLS:
        data["transcript"] = str(transcript(tmp_path / "t.jsonl", agent, 3))
    if agent == "cursor":
        data["workspace_roots"] = [str(tmp_path)]
    text = text_of(run("hook", event, f"--agent={agent}", stdin=json.dumps(said(agent, event, **data))), agent, event)
    if event == "session-start":
        assert text.startswith(OPENING) and "make test" in text and text.endswith(CLOSING)
    elif event == "prompt":
        assert text.startswith("[lessonbook recall]") and "make test" in text
    elif event == "stop":
        assert text == NUDGE and text.startswith(REMINDER)
    else:
        assert text == ""


@pytest.mark.parametrize(
    "given",
    [
        b"", b"[]", b"{", b"\xff", b'{"session_id": 7, "cwd": 3, "prompt": [], "extra": 4}',
        b'{"session_id": "../../x", "transcript_path": "/dev/zero", "sessionId": "..\\u0000"}',
    ],
)  # fmt: skip
@pytest.mark.parametrize(("agent", "event"), PAIRS)
def test_any_input_ends_well(home: Path, agent: str, event: str, given: bytes) -> None:
    switch_on(home)
    from lessonbook.hosts.hooks import answer

    out, notes = answer(event, agent, given)
    assert not out or json.loads(out)
    assert not notes or all(isinstance(note, str) for note in notes)
    assert {path.name for path in (home / ".local/state/lessonbook").rglob("*.json")} <= {
        "start.json", "end.json", "asked.json", "skills.json",
    }  # fmt: skip
    assert not (home.parent / "x").exists()


@pytest.mark.parametrize("agent", list(CALLS))
def test_the_nudge_comes_after_enough_calls_of_this_turn_and_never_twice_in_a_row(
    run, home: Path, tmp_path: Path, agent: str
) -> None:
    switch_on(home)
    path = tmp_path / "t.jsonl"

    def stop(**more: object) -> str:
        given = json.dumps(said(agent, "stop", transcript=str(path), cwd=str(tmp_path), **more))
        return text_of(run("hook", "stop", "--agent", agent, stdin=given), agent, "stop")

    transcript(path, agent, 1, turns=3)
    assert stop() == ""  # never two in one turn
    transcript(path, agent, 2)
    assert stop() == NUDGE
    assert stop() == ""  # right after one
    assert stop() == NUDGE
    active = {"cursor": {"loop_count": 1}}.get(agent, {"stop_hook_active": True})
    stop()
    assert stop(**active) == ""
    broken = {
        "cursor": {"status": "aborted"},
        "copilot": {"stopReason": "abort"},
        "claude": {"permission_mode": "plan"},
    }
    assert stop(session="s2", **broken.get(agent, {"stop_hook_active": True})) == ""


def test_a_turn_that_was_broken_off_is_not_asked_about(run, home: Path, tmp_path: Path) -> None:
    switch_on(home)
    path = transcript(tmp_path / "t.jsonl", "claude", 5)
    with path.open("a") as file:
        file.write('{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}\n')
    assert run("hook", "stop", stdin=json.dumps(said("claude", "stop", transcript=str(path)))).stdout == ""
    path = transcript(tmp_path / "r.jsonl", "codex", 5)
    with path.open("a") as file:
        file.write('{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}\n')
    given = json.dumps(said("codex", "stop", transcript=str(path)))
    assert run("hook", "stop", "--agent", "codex", stdin=given).stdout == ""
    for agent in ("opencode", "omp", "pi"):
        given = json.dumps(said(agent, "stop", tool_calls=9, aborted=True))
        assert run("hook", "stop", "--agent", agent, stdin=given).stdout == ""


@pytest.mark.parametrize(
    "config",
    ["", ON.replace("enabled = true", "enabled = false"), ON.replace('"local"', '"off"'), "learning = false\n" + ON],
)
def test_the_nudge_needs_the_tool_to_be_there(run, home: Path, tmp_path: Path, config: str) -> None:
    switch_on(home, config)
    path = transcript(tmp_path / "t.jsonl", "claude", 9)
    assert run("hook", "stop", stdin=json.dumps(said("claude", "stop", transcript=str(path)))).stdout == ""


def test_a_huge_transcript_is_read_from_its_end(run, home: Path, tmp_path: Path) -> None:
    switch_on(home)
    path = transcript(tmp_path / "t.jsonl", "claude", 1)
    filler = '{"type":"system","text":"' + "x" * 1_000_000 + '"}\n'
    with path.open("a") as file:
        file.writelines([filler] * 60)
        file.write("\n".join([*CALLS["claude"][:1], *CALLS["claude"][1:] * 3]) + "\n")
    given = json.dumps(said("claude", "stop", transcript=str(path)))
    assert NUDGE in text_of(run("hook", "stop", stdin=given), "claude", "stop")


def test_prompt_recall_is_off_until_it_is_asked_for_and_needs_no_restart(run, home: Path, tmp_path: Path) -> None:
    switch_on(home, '[memory]\nbackend = "local"\n')
    run("learn", "Run the tests with make test.", cwd=tmp_path)
    given = json.dumps(said("claude", "prompt", cwd=str(tmp_path)))
    assert run("hook", "prompt", stdin=given).stdout == ""
    run("config", "set", "recall.on_prompt", "true")
    assert "make test" in text_of(run("hook", "prompt", stdin=given), "claude", "prompt")
    run("learned", "off")
    assert run("hook", "prompt", stdin=given).stdout == ""


def test_the_end_of_a_session_is_noted_for_the_batch_and_only_a_real_one(run, home: Path, tmp_path: Path) -> None:
    path = transcript(tmp_path / "t.jsonl", "claude", 1)
    state = home / ".local/state/lessonbook/sessions/claude"
    given = said("claude", "session-end", transcript=str(path), cwd=str(tmp_path))
    assert run("hook", "session-end", stdin=json.dumps(given)).stdout == ""
    row = json.loads((state / "s1/end.json").read_text())
    assert row == {"agent": "claude", "session": "s1", "at": row["at"], "cwd": str(tmp_path), "transcript": str(path)}
    listing = said("claude", "session-end", session="s2", transcript=str(tmp_path / "no such file"))
    run("hook", "session-end", stdin=json.dumps(listing))
    assert not (state / "s2").exists()
    run("learned", "off")
    run("hook", "session-end", stdin=json.dumps({**given, "session_id": "s3"}))
    assert not (state / "s3").exists()


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *words], check=True, capture_output=True
    )


def test_the_start_of_a_session_is_noted_with_commit_and_changes(run, home: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    (repo / "a.txt").write_text("a")
    (repo / "b.txt").write_text("b")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "one")
    (repo / "a.txt").write_text("changed")
    (repo / "new.txt").write_text("untracked")
    head = subprocess.run(
        ["git", "-C", str(repo), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    (repo / "sub").mkdir()
    state = home / ".local/state/lessonbook/sessions"
    for agent, session in (("claude", "s1"), ("codex", "a b/c"), ("copilot", "s1")):
        given = said(agent, "session-start", cwd=str(repo / "sub"), session=session)
        run("hook", "session-start", "--agent", agent, stdin=json.dumps(given))
        (found,) = (state / agent).glob("*/start.json")
        (row,) = json.loads(found.read_text())
        assert row == {
            "folder": str(repo / "sub"), "repo": str(repo), "head": head, "branch": "main", "dirty": ["a.txt"],
        }  # fmt: skip
    before = (state / "claude/s1/start.json").read_text()
    git(repo, "commit", "-qam", "two")
    run("hook", "session-start", stdin=json.dumps(said("claude", "session-start", cwd=str(repo))))
    assert (state / "claude/s1/start.json").read_text() == before  # where it began is where it began
    for more, words in (({"source": "resume", "session": "s4"}, ()), ({"session": "s5"}, ("--no-learned",))):
        run("hook", "session-start", *words, stdin=json.dumps(said("claude", "session-start", cwd=str(repo), **more)))
    run("learned", "off")
    run("hook", "session-start", stdin=json.dumps(said("claude", "session-start", cwd=str(repo), session="s6")))
    assert [path.name for path in (state / "claude").iterdir()] == ["s1"]


def test_no_program_of_the_repository_runs(run, home: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-q")
    (repo / ".gitattributes").write_text("* filter=x diff=x\n*.y filter=other.name\n")
    (repo / "a.txt").write_text("a")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "one")
    mark = tmp_path / "ran"
    for key in ("filter.x.clean", "filter.x.smudge", "filter.x.process", "filter.other.name.clean", "diff.x.command",
                "diff.x.textconv", "core.fsmonitor", "core.alternateRefsCommand"):  # fmt: skip
        git(repo, "config", key, f"sh -c 'touch {mark}; cat'")
    git(repo, "config", "filter.x.required", "true")
    (repo / "a.txt").write_text("b")  # of the same size, in the same second: git would have to read it
    for _ in range(3):
        given = said("claude", "session-start", cwd=str(repo), session=os.urandom(4).hex())
        assert run("hook", "session-start", stdin=json.dumps(given)).returncode == 0
    rows = list((home / ".local/state/lessonbook/sessions/claude").glob("*/start.json"))
    assert len(rows) == 3 and not mark.exists()


def test_hermes_is_told_once_a_session(run, home: Path, tmp_path: Path, commit) -> None:
    commit({"AGENTS.md": "A rule.\n"})
    given = json.dumps(said("hermes", "session-start", cwd=str(tmp_path)))
    assert "A rule." in text_of(
        run("hook", "session-start", "--agent", "hermes", stdin=given), "hermes", "session-start"
    )
    assert run("hook", "session-start", "--agent", "hermes", stdin=given).stdout == ""
    given = json.dumps(said("hermes", "session-start", cwd=str(tmp_path), session="s2"))
    assert "A rule." in run("hook", "session-start", "--agent", "hermes", stdin=given).stdout


def test_cursor_is_not_told_twice_by_the_hooks_of_claude_code(run, home: Path, tmp_path: Path, commit) -> None:
    commit({"AGENTS.md": "A rule.\n"})
    given = json.dumps({**said("claude", "session-start"), "cursor_version": "3.12"})
    assert "A rule." in run("hook", "session-start", "--agent", "claude", stdin=given).stdout
    (home / ".cursor").mkdir()
    run("setup", "cursor", "--yes")
    assert run("hook", "session-start", "--agent", "claude", stdin=given).stdout == ""
    own = json.dumps(said("cursor", "session-start"))
    assert "A rule." in run("hook", "session-start", "--agent", "cursor", stdin=own).stdout


@pytest.mark.parametrize("event", EVENTS)
def test_whatever_hangs_it_ends_within_the_agents_time(home: Path, tmp_path: Path, event: str) -> None:
    switch_on(home, ON.replace("local", "mnemopi"))
    pipe = home / ".local/share/lessonbook/agent/bank.db"
    pipe.parent.mkdir(parents=True)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    os.mkfifo(tmp_path / "t.jsonl")
    given = json.dumps(said("claude", event, transcript=str(tmp_path / "t.jsonl"), cwd=str(tmp_path)))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PATH": f"{slow.parent}:/usr/bin:/bin"}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "lessonbook", "hook", event],
        input=given,
        text=True,
        capture_output=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0 and (not done.stdout or json.loads(done.stdout))
    assert time.monotonic() - began < SECONDS[event] + 4  # the start of Python on a busy machine is not the hook's
    assert DEADLINES[event] < SECONDS[event]


def test_an_unknown_agent_and_one_without_hooks_are_said_and_block_nothing(run) -> None:
    for name in ("vim", "ramabana", ""):
        done = run("hook", "stop", "--agent", name, stdin="{}")
        assert (done.returncode, done.stdout) == (0, "") and done.stderr.startswith("lessonbook: ")
    assert run("hook", "prompt", "--agent", "cursor", stdin="{}").returncode == 0


def test_what_hooks_say_is_never_taken_for_a_persons_words() -> None:
    from lessonbook.actions.noting import _typed

    assert _typed(f"do it\n\n{NUDGE}") == "do it"
    assert _typed(f"{OPENING}\nx\n{CLOSING} do it") == "do it"


def test_every_agent_of_the_registry_has_its_name() -> None:
    assert [agent.name for agent in agents()] == list(AGENTS)
