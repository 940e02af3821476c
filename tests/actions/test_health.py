"""Health end to end, on transcripts as agents write them: what is told, drafted, decided, and read only once."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.actions import health_told
from lessonbook.actions.health import Health, look
from lessonbook.actions.health_folder import HealthFolder
from lessonbook.core.defects import Repeated
from lessonbook.core.growth import Bounds
from lessonbook.system.settings import Places, places

DAY = 86_400.0
BROKEN = "TypeError: Cannot read properties of undefined (reading 'rows')"
KEY = "sk-ant-api03-" + "Zq7" * 16


@dataclass
class Machine:
    """A home with Claude Code's sessions in it. Each call is a turn of its own."""

    home: Path
    now: float = 1_790_000_000.0
    turns: dict[str, int] = field(default_factory=dict)

    @property
    def places(self) -> Places:
        return places({"HOME": str(self.home)})

    @property
    def folder(self) -> HealthFolder:
        return HealthFolder(self.places.state)

    def file(self, session: str) -> Path:
        return self.home / ".claude" / "projects" / "-srv-shop" / f"{session}.jsonl"

    def add(self, session: str, said: str = BROKEN, tool: str = "mcp__db__fetch", **more: Any) -> None:
        """One more turn at the end of a session: a request and a failed call."""
        n = self.turns[session] = self.turns.get(session, 0) + 1
        path, at = self.file(session), more.pop("at", self.now - DAY + 60 * n)
        stamp = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        base = {"sessionId": session, "version": "2.1.0", "cwd": f"/srv/{session}", "timestamp": stamp} | more
        use = {"type": "tool_use", "id": f"{session}-{n}", "name": tool, "input": {"path": "x", "limit": 3}}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": said, "is_error": True}
        messages = [
            ("user", {"role": "user", "content": f"request {n}"}),
            ("assistant", {"id": f"{session}-m{n}", "role": "assistant", "model": "m1", "content": [use]}),
            ("user", {"role": "user", "content": [result]}),
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            for at, (kind, message) in enumerate(messages):
                file.write(json.dumps(base | {"type": kind, "message": message, "uuid": f"{session}-{n}-{at}"}) + "\n")

    def look(self, **more: Any) -> Health:
        return look(None, self.places, Bounds(), env={"HOME": str(self.home)}, now=self.now, **more)

    def fresh(self) -> Health:
        """What one reading of everything says."""
        folder = self.home / ".claude" / "projects"
        return look([folder], self.places, Bounds(), env={"HOME": str(self.home)}, now=self.now)


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(home)


def counts(found: Health) -> list[tuple[str, int, tuple[str, ...], float | None, float | None]]:
    return [(one.id, one.count, one.sessions, one.first, one.last) for one in found.defects]


def only(found: Health) -> Repeated:
    (one,) = found.defects
    return one


def test_what_came_in_two_sessions_is_told_and_drafted(machine: Machine) -> None:
    machine.add("a")
    assert machine.look().defects == ()
    machine.add("b", BROKEN.replace("rows", "columns"), version="2.1.3")
    one = only(machine.look())
    assert (one.count, one.sessions, one.projects) == (2, ("claude/a", "claude/b"), 2)
    assert one.agents == {"claude": ("2.1.0", "2.1.3")}
    text = machine.folder.draft(one.id).read_text()
    assert "2 calls in 2 sessions of 2 projects" in text and BROKEN in text and "path: text, limit: number" in text


def test_only_what_is_new_is_read_and_the_result_is_that_of_everything(machine: Machine) -> None:
    for n in range(4):
        machine.add(f"s{n}")
    assert machine.look().sessions == 4
    assert machine.look().sessions == 0, "nothing is new"
    machine.add("s2")
    machine.add("new")
    found = machine.look()
    assert found.sessions == 2
    assert counts(found) == counts(machine.fresh())
    assert only(found).count == 6


def test_a_file_that_is_renamed_cut_or_replaced_counts_nothing_twice(machine: Machine) -> None:
    for _ in range(3):
        machine.add("a")
        machine.add("b")
    assert only(machine.look()).count == 6
    machine.file("a").rename(machine.file("a-older"))
    assert only(machine.look()).count == 6
    lines = machine.file("b").read_text().splitlines(keepends=True)
    machine.file("b").write_text("".join(lines[:3]))
    assert only(machine.look()).count == 6, "what happened has happened, also where the agent cut its file"
    machine.file("b").unlink()
    assert only(machine.look()).count == 6
    machine.file("b").write_text("".join(lines))
    assert only(machine.look()).count == 6


steps = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["fetch", "store"]), st.booleans()), max_size=14)


@settings(max_examples=25)
@given(steps)
def test_however_often_it_looks_meanwhile_the_result_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, done: list[tuple[str, str, bool]]
) -> None:
    machine = Machine(tmp_path_factory.mktemp("home"))
    (machine.home / ".claude" / "projects").mkdir(parents=True)
    for session, tool, looks in done:
        machine.add(session, tool=f"mcp__db__{tool}")
        if looks:
            machine.look()
    assert counts(machine.look()) == counts(machine.fresh())


LOOK = """\
import sys
from lessonbook.actions.health import look
from lessonbook.core.growth import Bounds
from lessonbook.system import faults
from lessonbook.system.settings import environment, places
faults.arm(sys.argv[1], int(sys.argv[2]))
look(None, places(), Bounds(), env=environment(), now=float(sys.argv[3]))
"""


@pytest.mark.parametrize(
    ("name", "passes", "read_again"),
    [
        ("health.read", 1, 3),
        ("health.kept", 1, 0),
        *(("files.before-rename", passes, 0) for passes in (1, 2)),
        *(("files.after-rename", passes, 0) for passes in (1, 2)),
    ],
)
def test_a_look_that_is_killed_is_done_again_where_it_was_not_kept(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str, passes: int, read_again: int
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    for session in "abc":
        machine.add(session)
    words = [sys.executable, "-c", LOOK, name, str(passes), str(machine.now)]
    done = subprocess.run(words, env=os.environ, capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    machine.now += DAY
    found = machine.look()
    assert found.sessions == read_again
    assert counts(found) == counts(machine.fresh())
    assert machine.folder.draft(only(found).id).exists()
    assert list(machine.folder.top.rglob(".*.tmp")) == []


def test_no_secret_and_no_name_is_in_anything_that_is_kept(machine: Machine) -> None:
    hidden = "\u200b".join((KEY[:20], KEY[20:]))
    planted = (
        f"{hidden} key={KEY} mail ana.lind@example.org phone +49 151 23456789 in /home/analind/shop by Marta Quell"
    )
    for session in "ab":
        machine.add(
            session, f"{BROKEN}\nGIT_AUTHOR_NAME='Marta Quell'\n{planted}", tool=f"mcp__{KEY}__fetch",
            version=f"2 {KEY}", gitBranch=planted,
        )  # fmt: skip
        text = machine.file(session).read_text()
        machine.file(session).write_text(text.replace('"m1"', json.dumps(KEY)).replace('"path"', json.dumps(KEY)))
    one = only(machine.look())
    kept = [path for path in machine.folder.top.rglob("*") if path.is_file()]
    assert machine.folder.draft(one.id) in kept
    shown = json.dumps(health_told.document(machine.look())) + "\n".join(health_told.lines(machine.look()))
    for text in (*(path.read_bytes() for path in kept), shown.encode()):
        for secret in (KEY, KEY[:19], KEY[20:40], "ana.lind", "23456789", "Quell", "analind"):
            assert secret.encode() not in text, secret


def test_a_draft_that_a_person_edited_is_left_alone_and_any_other_follows_the_counts(machine: Machine) -> None:
    for session in "ab":
        machine.add(session)
    path = machine.folder.draft(only(machine.look()).id)
    machine.add("c")
    machine.look()
    assert "3 calls in 3 sessions" in path.read_text()
    mine = path.read_text().replace("What was expected", "What I expected")
    path.write_text(mine)
    machine.add("d")
    machine.look()
    assert path.read_text() == mine


def test_growth_is_told_between_two_nights_and_past_a_bound(machine: Machine) -> None:
    machine.add("a")
    assert machine.look().rates == {}
    machine.now += 2 * DAY
    with machine.file("a").open("a") as file:
        file.write("\n" * 40_000)
    bounds = Bounds(agent_mb=0.03, agent_mb_day=0.01, file_mb=0.03)
    found = look(None, machine.places, bounds, env={"HOME": str(machine.home)}, now=machine.now)
    assert found.rates["claude"] == pytest.approx(20_000)
    assert [re.search(r"\((.*)\)\Z", one)[1] for one in found.notices] == [  # type: ignore[index]  # each has one
        "health.agent_mb", "health.agent_mb_day", "health.file_mb",
    ]  # fmt: skip
    assert machine.look().notices == ()


def test_without_keep_nothing_is_written(machine: Machine) -> None:
    for session in "ab":
        machine.add(session)
    assert only(machine.look(keep=False)).count == 2
    assert not machine.folder.top.exists()
    machine.look()
    machine.add("c")
    before = {path: path.read_bytes() for path in machine.home.rglob("*") if path.is_file()}
    assert only(machine.look(keep=False)).count == 3
    assert {path: path.read_bytes() for path in machine.home.rglob("*") if path.is_file()} == before
    assert machine.look().sessions == 1


Here = Callable[..., Any]


@pytest.fixture
def verb(machine: Machine, here: Here) -> Callable[..., Any]:
    """``verb("fixed", ID, …)``: the document it answers, and its exit code; ID is that of the one defect there is."""
    machine.now = time.time()
    for session in "ab":
        machine.add(session)
    id = only(machine.look()).id

    def call(*words: str) -> tuple[dict[str, Any], int]:
        said = here("health", *(id[:4] if word == "ID" else word for word in words), "--json")
        return json.loads(said.stdout), said.returncode

    return call


def state(told: dict[str, Any]) -> str:
    (one,) = told["defects"]
    return str(one["state"])


def test_what_is_dismissed_is_told_no_more_until_that_is_taken_back(machine: Machine, verb: Any, here: Here) -> None:
    told, code = verb("dismiss", "ID", "--note", f"by design {KEY}")
    assert (state(told), code) == ("dismissed", 0)
    assert not list(machine.folder.drafts.glob("*"))
    assert KEY not in (machine.folder.top / "decisions.json").read_text()
    assert here("health").stdout.startswith("no defect of a tool came again and again\n1 more is fixed or dismissed")
    assert "dismissed" in here("health", "--all").stdout
    assert state(verb("undo", "ID")[0]) == "open"
    assert len(list(machine.folder.drafts.glob("*"))) == 1
    told, code = verb("undo", "ID")
    assert code == 2 and "Nothing was decided" in told["error"]


def test_a_fix_comes_back_when_it_is_met_again(machine: Machine, verb: Any, here: Here) -> None:
    assert state(verb("fixed", "ID", "--note", "in 2.2")[0]) == "fixed"
    assert state(verb()[0]) == "fixed"
    machine.add("c", at=time.time() + 60)
    told, _ = verb()
    assert (state(told), told["defects"][0]["since_fixed"]) == ("came back", 1)
    assert "came 1 times since" in here("health").stdout
    assert "**came back**: 1 times" in verb("show", "ID")[0]["draft"]


def test_a_version_or_a_day_says_from_when_on_it_counts(machine: Machine, verb: Any) -> None:
    assert state(verb("fixed", "ID", "--since", "3d")[0]) == "came back"
    assert state(verb("fixed", "ID", "--version", "2.1.1")[0]) == "fixed"
    machine.add("c", version="2.1.1", at=time.time() - DAY)
    assert state(verb()[0]) == "came back"
    assert state(verb("undo", "ID")[0]) == "came back", "the decision before it holds again"
    assert state(verb("undo", "ID")[0]) == "open"


def test_a_check_is_run_as_it_was_typed_and_holds_the_fix_to_its_word(
    machine: Machine, verb: Any, tmp_path: Path
) -> None:
    (tmp_path / "work" / "done").touch()
    check = "sh -c 'test -e done || { echo \"error: it is gone, says ana.lind@example.org\" >&2; exit 7; }'"
    assert state(verb("fixed", "ID", "--check", check)[0]) == "fixed"
    told, code = verb("check")
    assert (state(told), code) == ("fixed", 0)
    (tmp_path / "work" / "done").unlink()
    told, code = verb("check", "ID")
    assert (state(told), code) == ("came back", 1)
    assert told["defects"][0]["check_failed"] == "exit code 7: error: it is gone, says [EMAIL]"
    assert state(verb()[0]) == "came back"
    assert state(verb("fixed", "ID")[0]) == "fixed", "what another check said is over"


def test_what_a_check_said_is_over_when_its_decision_is_taken_back(verb: Any) -> None:
    verb("fixed", "ID", "--check", "false")
    verb("fixed", "ID", "--check", "true")
    assert verb("check")[1] == 0
    told = verb("undo", "ID")[0]["defects"][0]
    assert "was not run yet" in told["why"] and told["check_failed"] is None
    assert verb("check")[1] == 1


def test_a_check_that_is_decided_otherwise_while_it_runs_says_nothing(machine: Machine, verb: Any, run: Any) -> None:
    began = machine.home / "began"
    verb("fixed", "ID", "--check", f"sh -c 'touch {began}; sleep 2; false'")
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(run, "health", "check", "--json")
        while not began.exists():
            time.sleep(0.02)
        verb("fixed", "ID", "--check", "true")
        checking.result()
    assert "was not run yet" in verb()[0]["defects"][0]["why"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show",), "Say which defect"),
        (("show", "zzzz"), "There is no one defect 'zzzz'"),
        (("show", "z"), "There is no one defect"),
        (("list", "ID"), "takes no id"),
        (("dismiss", "ID", "--check", "true"), "--check belongs to `lessonbook health fixed`"),
        (("fixed", "ID", "--check", " "), "is no command"),
        (("fixed", "ID", "--check", ""), "is no command"),
        (("check", "ID", "--check", ""), "--check belongs to"),
        (("fixed", "ID", "--since", ""), "--since is a day"),
        (("fixed", "ID", "--version", ""), "--version is a version"),
        (("fixed", "ID", "--version", "2\x1b[31m.1"), "--version is a version"),
        (("fixed", "ID", "--version", "2.1 and more"), "--version is a version"),
        (("fixed", "ID", "--check", "a 'b"), "cannot be read as a command"),
        (("fixed", "ID", "--check", f"curl -H 'x-api-key: {KEY}' x"), "looks like a secret"),
        (("fixed", "ID", "--since", "soon"), "--since is a day"),
        (("fixed", "ID", "--version", "new"), "--version is a version"),
        (("check", "ID"), "has no check"),
        (("--from", "/no/such/path"), "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said(verb: Any, words: tuple[str, ...], sentence: str) -> None:
    told, code = verb(*words)
    assert code == 2
    assert sentence in told["error"] and KEY not in told["error"]


def test_a_check_that_hangs_or_cannot_be_run_fails_with_the_reason(
    machine: Machine, verb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lessonbook.actions import health_decide

    monkeypatch.setitem(vars(health_decide), "CHECK_SECONDS", 0.3)
    for check, why in (("sleep 30", "did not answer within 0.3 seconds"), ("no-such-program-here", "is not there")):
        verb("fixed", "ID", "--check", check)
        told, code = verb("check")
        assert (code, told["ok"]) == (1, False) and why in told["defects"][0]["check_failed"]


def test_settings_that_cannot_be_are_named(machine: Machine, here: Here) -> None:
    file = machine.home / ".config" / "lessonbook" / "config.toml"
    file.parent.mkdir(parents=True)
    for line, key in (("agent_mb = -1", "health.agent_mb"), ("sessions = 1", "health.sessions")):
        file.write_text(f"[health]\n{line}\n")
        said = here("health")
        assert said.returncode == 4 and key in said.stderr
    assert here("config", "get", "health.agent_mb").returncode != 0


def test_a_fix_counts_from_the_call_and_not_from_the_start_of_its_session(machine: Machine, verb: Any) -> None:
    machine.add("c", "fine", at=time.time() - DAY)
    verb("fixed", "ID")
    machine.add("c", at=time.time() + 60)
    assert state(verb()[0]) == "came back"


def test_a_file_that_cannot_be_read_is_said(here: Here, tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text("what is this\n")
    said = here("health", "--from", str(tmp_path / "odd.jsonl"))
    assert said.returncode == 0 and f"not read: {tmp_path / 'odd.jsonl'}" in said.stderr


def test_what_can_go_is_ours_and_is_only_told(machine: Machine, here: Here) -> None:
    work = machine.places.state / "nights" / "work" / "20261201-010101"
    work.mkdir(parents=True)
    (work / "a").write_bytes(b"x" * 2_000_000)
    machine.places.data.mkdir(parents=True)
    (machine.places.data / "bank.db.damaged-1").write_bytes(b"x" * 1_000_000)
    (machine.places.data / "gone.damaged").symlink_to("nowhere")
    said = here("health").stdout
    assert "can go: 2.0 MB, work folders of nights" in said
    assert f"can go: 1.0 MB, {machine.places.data / 'bank.db.damaged-1'}" in said
    assert (work / "a").exists() and (machine.places.data / "bank.db.damaged-1").exists()


def test_decisions_that_are_damaged_are_not_written_over(machine: Machine, verb: Any, here: Here) -> None:
    verb("dismiss", "ID")
    path = machine.folder.top / "decisions.json"
    other = json.dumps({"aa": [{"kind": "later", "at": 1, "by": "a later version"}]})
    for damaged in ("{", "[1]", other, '{"aa": 1e999}'):
        path.write_text(damaged)
        for words in (("undo", "ID"), ("dismiss", "ID"), ("list",)):
            told, code = verb(*words)
            assert code == 5 and "decisions.json is not as it was written" in told["error"]
        assert path.read_text() == damaged


@pytest.mark.parametrize("name", ["measures.json", "checks.json"])
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '[{"at": 1e999, "agents": {"a": 1e999}, "ours": {}}]', "[" * 9_999]
)
def test_damage_to_what_can_be_made_anew_costs_only_itself(machine: Machine, verb: Any, name: str, text: str) -> None:
    (machine.folder.top / name).write_text(text)
    assert verb()[1] == 0
    assert verb("fixed", "ID", "--check", "true")[1] == verb("check")[1] == 0
    (machine.folder.top / name).write_text(json.dumps({verb()[0]["defects"][0]["id"]: {"at": 1e999, "why": 3}}))
    assert verb("check")[1] == 0


def test_a_clock_that_was_wrong_once_ends_no_measuring(machine: Machine) -> None:
    machine.add("a")
    right, machine.now = machine.now, machine.now + 9_000 * DAY
    machine.look()
    for day in range(3):
        machine.now = right + day * DAY
        found = machine.look()
    assert found.rates == {"claude": 0.0}


def test_a_clock_that_was_wrong_once_costs_nothing_that_was_met(machine: Machine) -> None:
    for session in "ab":
        machine.add(session)
    before, right = counts(machine.look()), machine.now
    for machine.now in (right + 9_000 * DAY, 0.0, right):
        machine.look()
    assert counts(machine.look()) == before


def test_what_a_later_version_kept_is_left_alone(machine: Machine, verb: Any) -> None:
    with closing(sqlite3.connect(machine.folder.seen)) as db, db:
        db.execute("INSERT INTO defect VALUES ('aa', 'wonder', 'x', 'y', 'moons', '', '')")
    told, code = verb()
    assert code == 0 and len(told["defects"]) == 1


def test_a_tool_with_a_name_without_end_is_told_in_a_line(machine: Machine) -> None:
    for session in "ab":
        machine.add(session, tool="mcp__db__" + "z" * 50_000)
    assert len(only(machine.look()).told.title) < 500


def test_several_looks_at_once_count_nothing_twice(machine: Machine, run: Any) -> None:
    for session in "abcd":
        machine.add(session, at=time.time() - DAY)
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: run("health", "--json"), range(4)))
    assert [one.returncode for one in said] == [0] * 4, said
    found = [json.loads(one.stdout) for one in said]
    assert sorted(one["sessions_read"] for one in found) == [0, 0, 0, 4]
    assert all([defect["count"] for defect in one["defects"]] == [4] for one in found)
    assert json.loads(run("health", "--json").stdout)["defects"] == found[0]["defects"]


def test_the_night_tells_it_runs_the_checks_and_a_dry_run_runs_none(
    machine: Machine, verb: Any, here: Here, tmp_path: Path
) -> None:
    def note(*words: str) -> str:
        said = here("nightly", "--no-replay", *words)
        assert said.returncode == 0, said.stderr
        return str(said.stdout)

    assert "- a tool fails again and again: mcp__db__fetch: TypeError" in note("--dry-run")
    assert "2 calls in 2 sessions of 2 projects" in note()
    verb("fixed", "ID", "--check", f"sh -c 'touch {tmp_path}/ran; exit 3'")
    assert "TypeError" not in note("--dry-run").replace("keeps failing", "") and not (tmp_path / "ran").exists()
    told = note()
    assert (tmp_path / "ran").exists() and "- check failed: mcp__db__fetch" in told and "exit code 3" in told
    record = json.loads(here("nightly", "--no-replay", "--json").stdout)
    assert record["health"]["said"][0].startswith("check failed: mcp__db__fetch")
    machine.now = time.time() + 30 * DAY
    verb("undo", "ID")
    assert list(health_told.said(machine.look())) == [], "what did not come for a month is no news"


def test_where_learning_is_off_the_night_looks_at_nothing(machine: Machine, here: Here) -> None:
    for session in "ab":
        machine.add(session)
    here("learned", "off")
    assert json.loads(here("nightly", "--json").stdout)["health"] is None
    assert not machine.folder.top.exists()


def test_health_that_cannot_be_looked_at_costs_the_night_only_itself(machine: Machine, verb: Any, here: Here) -> None:
    (machine.folder.top / "decisions.json").write_text("{")
    record = json.loads(here("nightly", "--no-replay", "--json").stdout)
    assert record["sessions"] == 2 and not record["ok"]
    assert (
        record["failed"][0].startswith("health: ") and "decisions.json is not as it was written" in record["failed"][0]
    )


def test_a_tool_that_says_something_else_each_time_fills_no_disk_with_drafts(machine: Machine) -> None:
    for session in "ab":
        for one in product("bdfgk", "aeiou", "lmnrs", "oa"):
            machine.add(session, f"TypeError: {''.join(one)}x is not a function")
    found = machine.look()
    assert len(found.defects) == 250
    assert {path.stem for path in machine.folder.drafts.iterdir()} == {one.id for one in found.defects[:200]}
    for one in found.defects[:200]:
        machine.folder.draft(one.id).unlink()
    machine.look()
    assert len(list(machine.folder.drafts.iterdir())) == 200


ODD_FOLDERS = [
    "/" + "a" * 5_000,
    "/" + "a/" * 3_000,
    "/a\0b",
    "/\ud800",
    "/dev/null/x",
    "/proc/self/fd/0",
    "",
    "~",
    "C:\\x",
]


@pytest.mark.parametrize("cwd", ODD_FOLDERS)
def test_a_session_that_names_an_odd_folder_ends_no_reading(machine: Machine, here: Here, cwd: str) -> None:
    for session in "ab":
        machine.add(session, cwd=cwd, at=time.time() - DAY)
    for verb in ("health", "watch", "propose", "findings"):
        said = here(verb, "--json")
        assert said.returncode == 0 and json.loads(said.stdout)["ok"], said.stderr
    assert only(machine.look()).count == 2
