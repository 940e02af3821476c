"""``hook session-start`` (MH-04): one JSON object or nothing, and exit 0 whatever happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = ["startup", "resume", "clear", "compact", "unknown", 7, None, {"x": []}]


def hook_input(**changes: object) -> str:
    return json.dumps(
        {"hook_event_name": "SessionStart", "source": "startup", "cwd": "/p", "session_id": "s", **changes}
    )


def switch_on(home: Path, text: str = '[autolearn]\nenabled = true\n[memory]\nbackend = "local"\n') -> Path:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def answered(done: subprocess.CompletedProcess[str]) -> str:
    """The injected text of a finished hook; its shape is checked on the way."""
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert set(answer) == {"hookSpecificOutput"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert done.stdout.count("\n") == 1 and len(done.stdout) < 10_000
    return str(answer["hookSpecificOutput"]["additionalContext"])


def test_nothing_to_say_is_no_output(run) -> None:
    done = run("hook", "session-start", stdin=hook_input())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("source", SOURCES)
def test_any_source_is_answered(run, home: Path, source: object) -> None:
    switch_on(home)
    assert "lessonbook learn" in answered(run("hook", "session-start", stdin=hook_input(source=source)))


@pytest.mark.parametrize(
    "given",
    [None, b"", b"null", b"[]", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"cwd": 7}', b'{"cwd": "a\\u0000b"}',
     b'{"cwd": ""}', b'{"cwd": "\\ud800"}', b'{"cwd": "/gone/for/ever"}', b'\xef\xbb\xbf{"cwd": "/"}',
     b'{"cwd": "' + b"x" * 9_000 + b'"}'],
)  # fmt: skip
def test_any_input_is_answered(run, home: Path, given: bytes | None) -> None:
    switch_on(home)
    assert answered(run("hook", "session-start", stdin=given)).startswith("[lessonbook briefing]")


@pytest.mark.parametrize(
    "config", ["learning = [", 'learning = "off"', "memory = 3", "\x00", '[memory]\nbackend = "x"']
)
def test_a_broken_configuration_does_not_stop_a_session(run, home: Path, config: str) -> None:
    switch_on(home, config)
    done = run("hook", "session-start", stdin=hook_input())
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("lessonbook: Left out memory: ")


def test_a_closed_standard_input_and_a_deleted_folder(home: Path, tmp_path: Path) -> None:
    switch_on(home)
    (tmp_path / "gone").mkdir()
    command = (
        f'cd {tmp_path}/gone && rmdir {tmp_path}/gone && exec "{sys.executable}" -m lessonbook hook session-start <&-'
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env=env, check=False)
    assert "lessonbook learn" in answered(done)


def test_a_standard_input_that_never_ends_is_not_waited_for(home: Path) -> None:
    switch_on(home)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-m", "lessonbook", "hook", "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    ) as child:
        assert child.stdout is not None and child.stdin is not None
        assert b"additionalContext" in child.stdout.read()
        assert child.wait(30) == 0


def test_a_closed_standard_output_is_no_failure(home: Path) -> None:
    switch_on(home)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f'exec "{sys.executable}" -m lessonbook hook session-start >&- 2>&-'
    assert subprocess.run(["/bin/sh", "-c", command], input=b"{}", env=env, check=False).returncode == 0


def test_another_event_is_refused_without_blocking_anything(run) -> None:
    done = run("hook", "before-tool")
    assert (done.returncode, done.stdout) == (1, "")
    assert run("hook", "--help").returncode == 0
    assert run("hook", "session-start", "--help").stdout.startswith("usage: lessonbook hook")


def test_unknown_options_do_not_stop_a_session(run, home: Path) -> None:
    switch_on(home)
    text = answered(run("hook", "session-start", "--from-a-newer-version", stdin=hook_input()))
    assert text == answered(run("hook", "session-start", stdin=hook_input()))


def test_a_source_that_hangs_is_left_out(run, home: Path, tmp_path: Path) -> None:
    switch_on(home)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 15\n")
    slow.chmod(0o755)
    done = run("hook", "session-start", stdin=hook_input(), env={"PATH": f"{slow.parent}:/usr/bin:/bin"})
    text = answered(done)
    assert "lessonbook learn" in text and "(Left out project: it did not answer in time)" in text


@pytest.mark.parametrize("backend", ["local", "mnemopi"])
def test_lessons_are_cut_between_items_in_json_too(run, home: Path, tmp_path: Path, backend: str, commit) -> None:
    switch_on(home, f'[memory]\nbackend = "{backend}"\n')
    commit({"AGENTS.md": "".join(f'Rule {n}: say "yes" \\ "no".\n\n' for n in range(600))})
    text = answered(run("hook", "session-start", stdin=hook_input(cwd=str(tmp_path))))
    assert "more: run `lessonbook brief --full`" in text
    assert all(line.endswith('"no".') for line in text.splitlines() if line.startswith("Rule"))


def test_a_corrupt_store_costs_only_itself(run, home: Path, commit) -> None:
    switch_on(home, '[memory]\nbackend = "mnemopi"\n')
    commit({"AGENTS.md": "A rule.\n"})
    bank = home / ".local/share/lessonbook/agent/bank.db"
    bank.parent.mkdir(parents=True)
    bank.write_bytes(b"not a database " * 1_000)
    text = answered(run("hook", "session-start", stdin=hook_input()))
    assert "A rule." in text and "Left out memory" in text


def test_no_learned_leaves_out_what_review_accepted(run, home: Path, commit) -> None:
    commit({"AGENTS.md": "A rule.\n"})
    assert "A rule." in answered(run("hook", "session-start", stdin=hook_input()))
    assert run("hook", "session-start", "--no-learned", stdin=hook_input()).stdout == ""
