from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Run

from lessonbook.actions.findings import Account, Which, account
from lessonbook.actions.trend import trend
from lessonbook.core.errors import SetupError
from lessonbook.learned import accept
from lessonbook.system.settings import load, places

BAD_VERB = "Exit code 2\nerror: unrecognized subcommand 'npm'"
MARCH_9 = 1_773_014_400.0
"""2026-03-09, a Monday."""


def write(path: Path, cwd: Path, at: str, calls: list[tuple[str, str]], prompt: str = "go", model: str = "m-1") -> None:
    base = {"sessionId": path.stem, "version": "2.1.0", "cwd": str(cwd), "timestamp": at}
    lines: list[dict[str, Any]] = [base | {"type": "user", "message": {"role": "user", "content": prompt}}]
    for n, (command, error) in enumerate(calls):
        use = {"type": "tool_use", "id": f"{path.stem}{n}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": error or "ok", "is_error": bool(error)}
        message = {"id": f"{path.stem}-m{n}", "model": model, "role": "assistant", "content": [use]}
        lines.append(base | {"type": "assistant", "message": message})
        lines.append(base | {"type": "user", "message": {"role": "user", "content": [result]}})
    path.parent.mkdir(parents=True, exist_ok=True)
    records = (line | {"uuid": f"{path.stem}-{n}"} for n, line in enumerate(lines))
    path.write_text("".join(json.dumps(line) + "\n" for line in records))


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Three sessions of two projects in two weeks."""
    folder = tmp_path / "sessions"
    shop, bank = tmp_path / "work" / "shop", tmp_path / "work" / "bank"
    write(folder / "a.jsonl", shop, "2026-03-03T10:00:00.000Z", [("tok npm x", BAD_VERB), ("pwd", "")])
    write(folder / "b.jsonl", shop, "2026-03-10T10:00:00.000Z", [("npm x", ""), ("cat a.txt", "")], model="m-2")
    write(folder / "c.jsonl", bank, "2026-03-11T10:00:00.000Z", [("tok npm x", BAD_VERB)] * 2)
    return folder


@pytest.fixture
def read(home: Path, sessions: Path) -> Callable[..., Account]:
    def read(**which: Any) -> Account:
        where = places({"HOME": str(home)})
        return account([sessions], where, load(where), Which(**which), env={"HOME": str(home)})

    return read


def test_rates_by_kind_and_session(read: Callable[..., Account]) -> None:
    found = read()
    assert [seen.id for seen in found.sessions] == ["a", "b", "c"]
    assert found.calls == 6 and dict(found.kinds) == {"tool_protocol": 3, "bypass": 1, "repeat_failure": 1}
    assert found.in_sessions("tool_protocol") == 2
    assert [(seen.project, seen.model, seen.failed) for seen in found.sessions] == [
        ("shop", "m-1", 1),
        ("shop", "m-2", 0),
        ("bank", "m-1", 2),
    ]


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        ({"agent": "Claude"}, ["a", "b", "c"]),
        ({"agent": "codex"}, []),
        ({"project": "bank"}, ["c"]),
        ({"project": "work/shop"}, ["a", "b"]),
        ({"since": MARCH_9}, ["b", "c"]),
    ],
)
def test_which_sessions_count(read: Callable[..., Account], which: dict[str, Any], ids: list[str]) -> None:
    assert [seen.id for seen in read(**which).sessions] == ids


def test_a_persons_rule_from_the_configuration(home: Path, tmp_path: Path) -> None:
    where = places({"HOME": str(home)})
    where.config.mkdir(parents=True)
    write(tmp_path / "s" / "a.jsonl", tmp_path, "2026-03-03T10:00:00.000Z", [("git tag 1", "")], prompt="Release it")
    where.config_file.write_text('[[findings.route]]\nwhen = "release"\nfirst = "make changelog"\nkinds = ["shell"]\n')
    found = account([tmp_path / "s"], where, load(where), Which(), env={"HOME": str(home)})
    assert dict(found.kinds) == {"route": 1}
    for wrong in ('when = "("\nfirst = "a"', 'when = "a"', 'when = "a"\nfirst = "b"\nkinds = ["all"]'):
        where.config_file.write_text(f"[[findings.route]]\n{wrong}\n")
        with pytest.raises(SetupError, match=r"findings\.route"):
            load(where)


def test_weeks_with_what_was_accepted(read: Callable[..., Account], home: Path) -> None:
    where = places({"HOME": str(home)})
    book, id = where.learned, "20260303-120000-abcdef"
    book.mkdir(parents=True)
    who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    for words in (
        ("init", "-q", "-b", "main"),
        (*who, "commit", "-q", "--allow-empty", "-m", "start"),
        ("checkout", "-q", "-b", f"pending/{id}"),
        (*who, "commit", "-q", "--allow-empty", "-m", "Lesson: Use npm"),
        ("checkout", "-q", "main"),
    ):
        if "Lesson: Use npm" in words:
            (book / "AGENTS.md").write_text("Use npm.\n")
            subprocess.run(["git", "-C", str(book), "add", "-A"], check=True)
        subprocess.run(["git", "-C", str(book), *words], check=True)
    assert accept(book, id)["ok"]
    weeks = trend(read(), where).weeks
    assert [(str(week.start), week.sessions, week.calls) for week in weeks[:2]] == [
        ("2026-03-02", 1, 2),
        ("2026-03-09", 2, 4),
    ]
    assert weeks[0].rate == 50 and weeks[1].rate == 100
    (last,) = weeks[2:]  # accepted now, in a week that has no sessions
    assert [one.lesson.title for one in last.accepted] == ["Lesson: Use npm"] and last.sessions == 0
    assert [week.group for week in trend(read(), where, "project").weeks[:3]] == ["shop", "bank", "shop"]


def test_the_command_line(sessions: Path, run: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    told = run("findings", "--from", str(sessions), "--project", "bank", "--each").stdout
    assert "3 findings in 2 calls of 1 session" in told and "turn 1  repeat_failure  Bash  failed again" in told
    document = json.loads(run("findings", "--from", str(sessions), "--json").stdout)
    assert document["kinds"]["tool_protocol"]["count"] == 3 and len(document["sessions"]) == 3
    only = json.loads(run("findings", "--from", str(sessions), "--kind", "bypass", "--json").stdout)
    assert list(only["kinds"]) == ["bypass"]
    rows = run("report", "--from", str(sessions), "--by", "model").stdout.splitlines()
    assert [row.split("\t")[:3] for row in rows] == [
        ["2026-03-02", "m-1", "1"],
        ["2026-03-09", "m-1", "1"],
        ["2026-03-09", "m-2", "1"],
    ]
    for wrong in (("--kind", "x"), ("--since", "soon"), ("--from", "/nowhere/at/all")):
        done = run("findings", *wrong)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("cores", ["1", "2", "all"])
def test_on_every_core_it_is_the_same(run: Run, sessions: Path, cores: str) -> None:
    plain = run("findings", "--from", str(sessions), "--each", "--json")
    assert run("config", "set", "propose.cores", cores).returncode == 0
    assert run("findings", "--from", str(sessions), "--each", "--json").stdout == plain.stdout
    offered = run("propose", "--from", str(sessions), "--dry-run", "--json")
    assert offered.returncode == 0 and json.loads(offered.stdout)["calls"] == 6
