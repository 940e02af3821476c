"""``lessonbook`` as a person calls it, with lessons on a real PostgreSQL and on a real Hindsight server."""

from __future__ import annotations

import json
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.memory.test_offers import words
from tests.servers.running import PASSWORD, TOKEN, Hindsight, Postgres

from lessonbook.memory import offers

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def team(run: Run, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """A team's schema, configured."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    name = f"t{uuid.uuid4().hex[:10]}"
    url = f"postgresql://tests@127.0.0.1:{postgres.port}/tests"
    for key, value in (("memory.backend", "postgres"), ("postgres.url", url), ("postgres.team", name)):
        assert run("config", "set", key, value).returncode == 0
    return name


@pytest.fixture
def server(run: Run, hindsight: Hindsight, bank: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bank of a Hindsight server, configured."""
    monkeypatch.setenv("LESSONBOOK_HINDSIGHT_TOKEN", TOKEN)
    more = (("hindsight.bank", bank), ("hindsight.list_seconds", "20"))
    for key, value in (("memory.backend", "hindsight"), ("hindsight.url", hindsight.url), *more):
        assert run("config", "set", key, value).returncode == 0
    return bank


def document(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("action", offers.ACTIONS)
def test_every_action_on_postgres(action: str, run: Run, team: str, tmp_path: Path) -> None:
    assert run("learn", "Quote every path.", "--tag", "ci").stdout == "Lesson stored.\n"
    done = run(*words(action))
    if sentence := offers.instead("postgres", action):
        assert done.returncode == 4 and sentence.partition("{")[0] in done.stderr
        assert "{" not in done.stderr and done.stderr.count("\n") == 1
        assert action != "backup" or f"--schema lessonbook_{team}" in done.stderr
    else:
        assert done.returncode in (0, 2) and "Traceback" not in done.stderr, done.stderr
        said = {"unpin": "not pinned", "undo": "no change", "import": "lessons.jsonl", "dismiss": "Name two lessons"}
        if done.returncode == 2:
            assert action in said or action in ("merge", "apart"), done.stderr


def test_a_walk_on_postgres(run: Run, team: str, tmp_path: Path) -> None:
    run("learn", "Tests need port 5433.", "--context", "a red build", "--title", "Port", "--tag", "db")
    assert run("learn", "Tests need port 5434.").stdout == "Lesson stored.\n", "tests may need both"
    run("learn", "Quote every path in scripts."), run("learn", "In scripts, quote every path!")
    assert [one["text"] for one in document(run("memory", "list", "--tag", "DB", "--json"))["lessons"]] == [
        "Tests need port 5433."
    ]
    shown = run("memory", "show", "1").stdout
    assert "port 5433" in shown and "a red build" in shown and "bank" in shown
    assert run("memory", "edit", "1", "--text", "Tests need port 5435.", "--clear", "title").returncode == 0
    assert "text was “Tests need port 5433.”" in run("memory", "history", "1").stdout
    assert "took back" in run("memory", "undo", "1").stdout
    assert "near twins found" in run("memory", "sleep").stdout
    assert "`lessonbook memory merge 4 3`" in run("memory", "merges").stdout
    assert run("memory", "merge", "4", "3").returncode == 0
    assert document(run("memory", "show", "3", "--json"))["lesson"]["superseded_by"] == "4"
    stats = run("memory", "stats").stdout
    assert f"lessonbook_{team}" in stats and "1 replaced" in stats
    done = run("memory", "diagnose", "--deep")
    assert done.returncode == 0 and "nothing is wrong" in done.stdout and "PostgreSQL" in done.stdout
    target = tmp_path / "lessons.jsonl"
    assert run("memory", "export", str(target)).stdout.startswith("exported 4 ")
    assert run("memory", "import", str(target)).stdout.splitlines()[1] == "  0 stored, 4 were there already"
    assert run("memory", "erase", "2", "--yes").returncode == 0
    assert "1 stored" in run("memory", "import", str(target)).stdout
    why = run("recall", "port of the tests", "--why").stdout
    assert "words" in why and "score" in why and "does not say" not in why
    assert "4" in run("status").stdout and "postgres: 4 remembered" in run("doctor").stdout
    run("config", "set", "memory.backend", "mnemopi")
    assert "4 stored" in run("memory", "import", str(target)).stdout
    copy = tmp_path / "copy.jsonl"
    run("memory", "export", str(copy))
    run("config", "set", "memory.backend", "postgres")
    assert "0 stored" in run("memory", "import", str(copy)).stdout, "it comes back as it went"


def test_what_may_contradict_is_said_on_postgres(run: Run, team: str) -> None:
    run("learn", "Use pnpm, not npm, in web.")
    done = run("learn", "Do not use pnpm in web.")
    assert done.stdout.startswith("Lesson stored. It may contradict lesson 1: ")
    assert "memory invalidate 1 --by 2" in run("memory", "contradictions").stdout
    assert run("memory", "dismiss", "2", "1").returncode == 0
    assert "no lessons are known to contradict" in run("memory", "contradictions").stdout


def test_postgres_goes_away_under_the_commands(run: Run, team: str, home: Path) -> None:
    run("config", "set", "postgres.url", "postgresql://tests@127.0.0.1:9/tests")
    done = run("learn", "Told while it is away.")
    assert done.returncode == 0 and done.stdout.startswith("Lesson queued for retention. The PostgreSQL server cannot")
    assert "Told while it is away." in run("outbox").stdout
    done = run("recall", "told away")
    assert "Told while it is away." in done.stdout and "only what was told on this machine" in done.stderr
    assert "only what this machine knows is counted" in run("status").stdout + run("status").stderr
    done = run("doctor")
    assert done.returncode == 1 and "1 wait for the server" in done.stdout
    done = run("memory", "list")
    assert done.returncode == 5 and done.stderr.count("\n") == 1 and "cannot be used" in done.stderr
    done = run("outbox", "flush", "--seconds", "1")
    assert done.returncode == 1 and "1 item waiting" in done.stdout


@pytest.mark.parametrize("action", [one for one in offers.ACTIONS if offers.instead("hindsight", one)])
def test_what_hindsight_does_not_offer(action: str, run: Run, server: str) -> None:
    done = run(*words(action, "h:1"))
    assert done.returncode == 4 and done.stderr.count("\n") == 1 and "{" not in done.stderr
    assert str(offers.instead("hindsight", action)).partition("{")[0] in done.stderr


def test_a_walk_on_hindsight(run: Run, server: str, tmp_path: Path) -> None:
    run("learn", "Tests need port 5433.", "--context", "a red build", "--title", "Port", "--tag", "db")
    run("learn", "Quote every path.")
    assert run("outbox", "flush", "--seconds", "60").returncode == 0
    rows = document(run("memory", "list", "--json"))["lessons"]
    assert {one["text"] for one in rows} == {"Quote every path.", "Tests need port 5433."}
    (row,) = document(run("memory", "list", "--tag", "DB", "--json"))["lessons"]
    assert (row["title"], row["context"], row["tags"]) == ("Port", "a red build", ["db"])
    assert document(run("memory", "list", "--after", rows[0]["id"], "--json"))["lessons"] == rows[1:]
    assert run("memory", "list", "--type", "fact").returncode == 2
    shown = run("memory", "show", row["id"]).stdout
    assert shown.startswith("Tests need port 5433.\n") and "a red build" in shown and "told first" in shown
    target = tmp_path / "lessons.jsonl"
    assert run("memory", "export", str(target)).stdout.startswith("exported 2 ")
    assert "0 stored" in run("memory", "import", str(target)).stdout
    assert run("memory", "erase", row["id"], "--yes").returncode == 0
    assert run("memory", "show", row["id"]).returncode == 2 and run("memory", "erase", "h:0", "--yes").returncode == 2
    assert "Port" not in run("recall", "port").stdout
    assert run("learn", "Tests need port 5433.").stdout == "Lesson queued for retention.\n", (
        "told anew, it is sent anew"
    )
    assert run("outbox", "flush", "--seconds", "60").returncode == 0
    until = time.monotonic() + 20
    while "5433" not in run("recall", "port").stdout and time.monotonic() < until:
        time.sleep(0.5)
    assert "5433" in run("recall", "port").stdout
    assert "2" in run("status").stdout and "hindsight: 2 remembered" in run("doctor").stdout
    assert run("recall", "port", "--why").returncode == 0


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """``page()``: the review page of this test's folder, entered."""
    pytest.importorskip("jinja2")
    from tests.hosts.web.conftest import Served

    started: list[Served] = []

    def start() -> Served:
        started.append(Served(cwd=tmp_path / "work"))
        started[-1].enter()
        return started[-1]

    yield start
    for served in started:
        served.process.kill()
        served.process.communicate()


def test_the_page_shows_and_changes_lessons_on_postgres(run: Run, team: str, page: Callable[[], Any]) -> None:
    assert run("learn", "Quote every path.", "--tag", "ci").stdout == "Lesson stored.\n"
    served = page()
    listed = served.get("/memories").text
    assert "Quote every path." in listed and "/lesson?id=1" in listed and "What was left out" not in listed
    why = served.get("/memories?q=path").text
    assert "Why it was found" in why and "words" in why
    assert "Quote every path." in served.get("/lesson?id=1").text
    done = served.follow(served.post("/lesson-change", {"id": "1", "what": "pin"}))
    assert done.status == 200 and "Pinned 1" in done.text
    assert "pinned" in run("memory", "list").stdout
    run("config", "set", "postgres.url", "postgresql://tests@127.0.0.1:9/tests")
    away = served.get("/memories")
    assert away.status == 200 and "cannot be used" in away.text


def test_the_page_shows_lessons_on_hindsight(run: Run, server: str, page: Callable[[], Any]) -> None:
    run("learn", "Quote every path.")
    assert run("outbox", "flush", "--seconds", "60").returncode == 0
    listed = page().get("/memories")
    assert listed.status == 200 and "Quote every path." in listed.text and "on a server" in listed.text
