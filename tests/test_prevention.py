"""The bench of prevention on a history that is small enough to be counted by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
BAD_VERB = "Exit code 2\nerror: unrecognized subcommand 'npm'"
RED = "Exit code 1\n3 failed"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def records(name: str, day: int, calls: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    base = {"sessionId": name, "version": "2.1.0", "cwd": "/srv/shop"}

    def record(at: int, kind: str, content: object) -> dict[str, Any]:
        message = {"role": kind, "content": content, "id": f"{name}-m{at}"}
        time = f"2026-03-{day:02}T10:00:{at:02}.000Z"
        return base | {"type": kind, "uuid": f"{name}-{at}", "timestamp": time, "message": message}

    yield record(0, "user", "go on")
    for n, (command, told) in enumerate(calls):
        use = {"type": "tool_use", "id": f"{name}-{n}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": f"{name}-{n}", "content": told or "ok", "is_error": bool(told)}
        yield record(2 * n + 1, "assistant", [use])
        yield record(2 * n + 2, "user", [result])


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    """Ten sessions: ``tok npm`` fails in all but two, ``pnpm`` once early and once late, tests are red in all."""
    for n in range(10):
        calls = [("npm test", RED)]
        if n not in (4, 9):
            calls += [("tok npm run build", BAD_VERB), ("npm run build", "")]
        if n in (1, 8):
            calls += [("kite sync", "Exit code 1\nerror: no route to 10.0.0.7")]
        if n == 8:
            calls += [("new thing", "Exit code 1\nerror: never seen before")]
        # Named so that the order of names is not the order of time.
        path = tmp_path / "shop" / "sessions" / f"{9 - n}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(one) + "\n" for one in records(f"s{n}", n + 1, calls)))
    return tmp_path


def test_the_split_the_mistakes_and_what_is_named(bench: None, histories: Path) -> None:
    from benchmarks.history import load
    from benchmarks.naming import judge

    project = load(histories / "shop")
    assert [group[0].id for group in project.early] == [f"s{n}" for n in range(6)]
    assert len(project.late_failures) == 3 + 4 + 1 + 1
    assert sorted(mistake.key for mistake in project.repeated) == [
        "kite sync | error: no route to N",
        *["tok npm | error: unrecognized subcommand '…'"] * 3,
    ]
    judged = judge(project)
    assert [mistake.key.split(" ", 1)[0] for mistake in judged.named] == ["tok"] * 3
    assert len(judged.proposals) == len(judged.useful) == 1 and judged.allowed == 3


def test_the_lists_beside_it(bench: None, histories: Path) -> None:
    from benchmarks.history import load
    from benchmarks.naming import fixed_list, most_frequent

    project = load(histories / "shop")
    everybody = {"kite sync | error: no route to N", "tok npm | error: unrecognized subcommand '…'"}
    assert fixed_list([project]) == everybody and fixed_list([]) == frozenset()
    assert most_frequent(project, 1) == {"tok npm | error: unrecognized subcommand '…'"}


def test_the_table_says_counts_and_misses(bench: None, histories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import prevention

    monkeypatch.setenv("LESSONBOOK_HISTORIES", str(histories))
    rows = {row.what: row for row in prevention.run()}
    assert list(rows["all: recall"].ours) == [75.0] and rows["all: recall"].met is None
    assert rows["all: recall"].note == "3 of 4; aim 70%"
    for late in "0123":  # other mistakes than the early ones: one that no lesson names is all that is repeated
        path = histories / "shop" / "sessions" / f"{late}.jsonl"
        path.write_text(path.read_text().replace("unrecognized subcommand 'npm'", "quite another thing"))
    missed = {row.what: row for row in prevention.run()}["all: recall"]
    assert list(missed.ours) == [0.0] and missed.met is False


def test_no_folder_is_said(bench: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import prevention

    monkeypatch.setenv("LESSONBOOK_HISTORIES", str(tmp_path / "none"))
    (row,) = prevention.run()
    assert str(tmp_path / "none") in row.skipped and "LESSONBOOK_HISTORIES" in row.skipped
