from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lessonbook.actions.brief import brief
from lessonbook.actions.mending import mend
from lessonbook.actions.propose import propose
from lessonbook.actions.watch import Watch, watch
from lessonbook.core.outcome import Effect
from lessonbook.learned import accept, pending, reject
from lessonbook.system.settings import Places, load, places

BAD_VERB = "Exit code 2\nerror: unrecognized subcommand 'npm'"
NOW = 1_790_000_000


def write(path: Path, cwd: Path, at: float, calls: list[tuple[str, str]]) -> None:
    base = {"sessionId": path.stem, "version": "2.1.0", "cwd": str(cwd)}
    base["timestamp"] = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    lines: list[dict[str, Any]] = [base | {"type": "user", "message": {"role": "user", "content": "go"}}]
    uses = [("Bash", {"command": command}, told) for command, told in calls]
    for n, (name, args, told) in enumerate(uses):
        use = {"type": "tool_use", "id": f"{path.stem}{n}", "name": name, "input": args}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": told or "ok", "is_error": bool(told)}
        message = {"id": f"{path.stem}-m{n}", "role": "assistant", "content": [use]}
        lines.append(base | {"type": "assistant", "message": message})
        lines.append(base | {"type": "user", "message": {"role": "user", "content": [result]}})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line | {"uuid": f"{path.stem}-{n}"}) + "\n" for n, line in enumerate(lines)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "shop"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture
def where(home: Path) -> Places:
    return places({"HOME": str(home)})


@pytest.fixture
def accepted(home: Path, tmp_path: Path, project: Path, where: Places) -> Path:
    """Six sessions with the same mistake, and the lesson of them accepted: the book's folder is returned."""
    for n in range(6):
        calls = [("tok npm x", BAD_VERB), ("npm x", "")]
        write(tmp_path / "s" / f"a{n}.jsonl", project, NOW - 9e7 + 9e4 * n, calls)
    digits = count(1)
    found = propose(
        [tmp_path / "s"], where, load(where), now=NOW, random_hex=lambda: f"{next(digits):06x}", env={"HOME": str(home)}
    )
    (only,) = found.offered
    assert only.id is not None and accept(only.book, only.id)["ok"]
    return only.book


@pytest.fixture
def look(home: Path, tmp_path: Path, where: Places) -> Callable[[], Watch]:
    return lambda: watch([tmp_path / "s"], where, load(where), env={"HOME": str(home)})


def later(tmp_path: Path, project: Path, sessions: int, calls: list[tuple[str, str]]) -> None:
    tomorrow = datetime.now(UTC).timestamp() + 90_000
    for n in range(sessions):
        write(tmp_path / "s" / f"b{n}.jsonl", project, tomorrow + 3_600 * n, calls)


def test_a_lesson_that_helps(tmp_path: Path, project: Path, accepted: Path, look: Callable[[], Watch]) -> None:
    (before,) = look().lessons
    assert before.outcome.effect is Effect.OPEN and (before.outcome.before, before.outcome.calls_before) == (6, 12)
    later(tmp_path, project, 9, [("npm x", "")] * 3)
    (found,) = look().lessons
    assert (found.outcome.since, found.outcome.calls_since, found.outcome.read) == (0, 27, 9)
    assert found.outcome.effect is Effect.HELPS
    assert mend(look(), NOW, lambda: "abcdef").lessons[0].retirement is None and pending(accepted) == []


def test_one_that_does_not_is_proposed_for_retirement_once(
    tmp_path: Path, project: Path, accepted: Path, look: Callable[[], Watch]
) -> None:
    later(tmp_path, project, 9, [("tok npm x", BAD_VERB), ("ls", "")])
    (found,) = mend(look(), NOW + 60, lambda: "abcdef").lessons
    assert found.outcome.effect is Effect.NO_HELP and found.retirement is not None
    (row,) = pending(accepted)
    assert row["subject"].startswith("Lesson from a replay: Retire: ") and row["stale"] is None
    assert mend(look(), NOW + 90, lambda: "abcdee").lessons[0].retirement is None, "it is waiting already"
    assert "tok npm" in (accepted / "AGENTS.md").read_text()
    assert accept(accepted, found.retirement)["ok"]
    assert "tok npm" not in (accepted / "AGENTS.md").read_text()
    assert look().lessons == () or all(not one.lesson.rule for one in look().lessons)


def test_a_rejected_retirement_is_not_proposed_again(
    tmp_path: Path, project: Path, accepted: Path, look: Callable[[], Watch]
) -> None:
    later(tmp_path, project, 9, [("tok npm x", BAD_VERB), ("ls", "")])
    id = mend(look(), NOW + 60, lambda: "abcdef").lessons[0].retirement
    assert id is not None and reject(accepted, id)["ok"]
    assert mend(look(), NOW + 90, lambda: "abcdee").lessons[0].retirement is None
    assert pending(accepted) == []


def test_another_projects_sessions_do_not_count(tmp_path: Path, accepted: Path, look: Callable[[], Watch]) -> None:
    later(tmp_path, tmp_path / "elsewhere", 9, [("tok npm x", BAD_VERB)])
    (found,) = look().lessons
    assert found.outcome.calls_since == 0


def test_the_command_line(
    tmp_path: Path, project: Path, accepted: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    later(tmp_path, project, 9, [("tok npm x", BAD_VERB), ("ls", "")])
    told = run("watch", "--from", str(tmp_path / "s"), "--propose").stdout
    assert told.startswith("does not help: ") and "before 6 in 12 calls, since 9 in 18 (9.0 were due)" in told
    assert "lessonbook learned diff" in told
    (one,) = json.loads(run("watch", "--from", str(tmp_path / "s"), "--json").stdout)["lessons"]
    assert one["effect"] == "does not help" and one["since"]["count"] == 9 and one["retirement"] is None


def test_what_cites_a_file_that_is_gone_is_told_and_proposed_for_retirement(
    home: Path, tmp_path: Path, project: Path, where: Places, look: Callable[[], Watch]
) -> None:
    (project / "bin").mkdir()
    script = project / "bin" / "check"
    script.write_text("")
    told = "bash: line 1: checkall: command not found"
    for n in range(6):
        calls = [("checkall src tests", f"Exit code 127\n{told}"), ("bin/check src tests", "")]
        write(tmp_path / "s" / f"a{n}.jsonl", project, NOW - 9e7 + 9e4 * n, calls)
    digits = count(1)
    (only,) = propose(
        [tmp_path / "s"], where, load(where), now=NOW, random_hex=lambda: f"{next(digits):06x}", env={"HOME": str(home)}
    ).offered
    assert only.id is not None
    said = accept(only.book, only.id)
    assert said["ok"], only
    text = brief(project, where, load(where), now=NOW).text
    assert "Use `bin/check …`" in text and "no longer there" not in text
    assert look().lessons[0].gone == () and not look().lessons[0].fails
    script.unlink()
    assert (
        "(`bin/check` is no longer there: check before you follow this.)"
        in brief(project, where, load(where), now=NOW).text
    )
    (found,) = mend(look(), NOW + 60, lambda: "abcdef").lessons
    assert found.gone == ("bin/check",) and found.retirement is not None
