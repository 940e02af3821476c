"""The real agents, headless and offline: set up, briefed, taught, checked with their own commands, left as they were.

The model is scripted (``realagents``); the agents, their homes, our server, hooks and store are real.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from realagents.host import DONE, LESSON, MARKET, PLUGIN, PROMPT, Host, Look
from realagents.hosts.registry import HOSTS
from realagents.model import Model
from realagents.run import Place

from lessonbook.actions.sessions import Reading
from lessonbook.core.briefing import CLOSING, OPENING, REMINDER
from lessonbook.core.tidy import RECALL_OPENING
from lessonbook.hosts.agents.registry import agent
from lessonbook.system.surroundings import own_command
from lessonbook.transcripts.registry import reader_of

RULE = "Stop the quarry crane with the brass key before anybody oils it."
RECALLED = "The quarry crane restarts only after its brake lamp is green."
MANAGED, MANAGED_FOR = "oil-the-crane", "Use before oiling the quarry crane, with its order of valves."
LEARNED, LEARNED_FOR = "park-the-crane", "Use to park the quarry crane for the night."
SETTINGS = {
    "memory.backend": "mnemopi",
    "autolearn.enabled": "true",
    "autolearn.min_tool_calls": "1",
    "recall.on_prompt": "true",
}


def fill(run, commit, home: Path, work: Path) -> None:
    """A book with as many lessons as it takes and a skill, a managed skill, memories, and everything switched on."""
    skill = "---\nname: {0}\ndescription: {1}\n---\n\n1. Look at the lamp.\n"
    rules = "\n\n".join([RULE, *(_more(number) for number in range(17))])
    dated = "\n\n".join(_more(number) for number in range(17, 51))
    book = {"AGENTS.md": f"{rules}\n", "dhrona-2026-11-28.md": f"{dated}\n"}
    commit({**book, f"skills/{LEARNED}/SKILL.md": skill.format(LEARNED, LEARNED_FOR)})
    managed = home / ".local/share/lessonbook/agent/managed-skills" / MANAGED
    managed.mkdir(parents=True)
    (managed / "SKILL.md").write_text(skill.format(MANAGED, MANAGED_FOR))
    for key, value in SETTINGS.items():
        assert run("config", "set", key, value).returncode == 0
    lessons = [{"text": f"{_more(number)} That was in winter."} for number in range(51, 120)]
    file = home.parent / "lessons.jsonl"
    rows = [{"lessonbook": 1, "kind": "lessons"}, *lessons]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert run("memory", "import", str(file), cwd=work).returncode == 0
    assert run("learn", RECALLED, cwd=work).returncode == 0


def _more(number: int) -> str:
    return f'Drum {number} of the wharf winch turns – slowly – "to the left" only, so says C:\\log\\{number}.'


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTS)
def test_an_agent_is_briefed_learns_and_is_left_as_it_was(
    name: str, installed, run, commit, home: Path, work: Path
) -> None:
    installed(name)
    host = HOSTS[name]
    fill(run, commit, home, work)
    with Model(host.steps, host.wait) as model:
        place = Place(host, home, work, model.url)
        before = place.snapshot()
        said = {"cwd": work, "env": {"PATH": place.env["PATH"]}}
        assert run("setup", name, "--yes", **said).returncode == 0
        assert place.snapshot() != before
        assert run("setup", name, "--remove", "--yes", **said).returncode == 0
        assert place.snapshot() == before

        assert run("setup", name, "--yes", **said).returncode == 0
        written = files_of(home, name)
        checks_say(host, run, **said)
        look(place, host.looks)
        briefing = run("brief", cwd=work).stdout.strip()
        out = place.said(host.command(PROMPT, work))
        was_shown(host, model, out)
        assert len(briefing) > 8_000 and model.shown(briefing), "the longest briefing there is did not arrive whole"
        has_learned(run, work)
        was_noted(host, home)
        next_session_knows(host, place, model)

        assert run("setup", name, "--remove", "--yes", **said).returncode == 0
        for one in host.looks:
            told = place.said(one.words, fails=True)
            assert not [text for text in (own_command()[0], MANAGED, LEARNED) if text in told], told
    is_as_it_was(place, before, written)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, host in HOSTS.items() if host.plugin])
def test_an_agent_takes_the_plugin_with_all_its_parts(
    name: str, installed, run, commit, home: Path, work: Path, tmp_path: Path
) -> None:
    installed(name)
    host = HOSTS[name]
    fill(run, commit, home, work)
    market = tmp_path / "market"
    assert run("setup", "--plugin", name, str(market)).returncode == 0
    folders = {MARKET: str(market), PLUGIN: str(market / "plugins/lessonbook")}
    with Model(host.steps, host.wait) as model:
        place = Place(host, home, work, model.url)
        look(place, host.plugin, folders)
        was_shown(host, model, place.said(host.command(PROMPT, work)))
        has_learned(run, work)
        was_noted(host, home)
        look(place, host.unplug, folders)


def files_of(home: Path, name: str) -> list[Path]:
    """The files that set-up changed."""
    receipt = json.loads((home / f".local/state/lessonbook/setup/{name}.json").read_text())
    return [Path(row["path"]) for row in receipt["files"]]


def is_as_it_was(place: Place, before: dict[str, tuple[str, bytes]], written: list[Path]) -> None:
    """Nothing of ours is left, and nothing else is different but what the agent itself wrote while it ran."""
    assert place.changed(before) == []
    now = place.snapshot()
    for path in written:
        name = str(path.relative_to(place.home))
        if name in place.host.shared:  # the agent wrote to it, too
            text = path.read_text()
            assert own_command()[0] not in text and "hook session-start" not in text
        else:
            assert now.get(name) == before.get(name), name
    assert not [name for name in now if Path(name).name in (MANAGED, LEARNED)]


def checks_say(host: Host, run, **said: object) -> None:
    done = run("setup", host.name, "--check", "--json", **said)
    rows = json.loads(done.stdout)["checks"]
    wrong = [row["found"] for row in rows if not row["ok"]]
    assert [found for found in wrong if not any(doubt in found for doubt in host.doubts)] == []
    assert all(any(doubt in found for found in wrong) for doubt in host.doubts), wrong
    (server,) = [row["found"] for row in rows if row["what"] == "MCP server started"]
    assert "works" in server


def look(place: Place, looks: Sequence[Look], named: Mapping[str, str] = MappingProxyType({})) -> None:
    """What the agent's own commands say."""
    for one in looks:
        told = place.said([named.get(word, word) for word in one.words])
        assert all(text in told for text in one.has), told
        assert not any(text in told for text in one.lacks), told


def was_shown(host: Host, model: Model, out: str) -> None:
    """What the model was shown, request by request, and that the agent came to the end of the script."""
    seen = {
        "session-start": model.shown(OPENING) and model.shown(RULE),
        "prompt": model.shown(RECALL_OPENING) and model.shown(RECALLED),
        "stop": model.shown(REMINDER),
    }
    told = [(asked.path, asked.results, asked.answer) for asked in model.asked]
    assert DONE in out, (out[-3000:], told, model.strange)
    assert model.strange == []
    missing = [event for event, times in seen.items() if event in host.events and not times]
    assert missing == [], (told, out[-3000:])
    for text in (MANAGED, LEARNED):
        assert model.listed(text), f"the skill {text} was not listed: {told}"


def has_learned(run, work: Path) -> None:
    found = json.loads(run("recall", "On which port does the staging database answer?", "--json", cwd=work).stdout)
    assert LESSON in json.dumps(found, ensure_ascii=False), found


def next_session_knows(host: Host, place: Place, model: Model) -> None:
    """What one session learned is in the next one's briefing."""
    first = len(model.asked)
    place.said(host.command(PROMPT, place.work))
    texts = [text for asked in model.asked[first:] for text in asked.texts]
    assert any(LESSON in text.partition(OPENING)[2].partition(CLOSING)[0] for text in texts)


def was_noted(host: Host, home: Path) -> None:
    """The session's beginning and its end, for the next batch."""
    (start,) = home.glob(f".local/state/lessonbook/sessions/{host.name}/*/start.json")
    (row,) = json.loads(start.read_text())
    assert row["repo"] and row["head"]
    if "session-end" in host.events:
        end = json.loads((start.parent / "end.json").read_text())
        if host.transcript:
            path = Path(end["transcript"])
            has_marks(host, path.read_bytes())
            if reader_of(str(path), path.read_bytes()[:4096]):
                is_read(path, home)


def has_marks(host: Host, data: bytes) -> None:
    """The person's turn and the calls are found in the transcript by the patterns that count them."""
    dialect = agent(host.name).dialect
    assert dialect is not None
    if dialect.count:  # it counts them itself
        return
    lines = data.splitlines()
    turns = [line for line in lines if re.search(dialect.turn, line)]
    assert any(PROMPT.encode() in line for line in turns if not re.search(dialect.no_turn or rb"(?!)", line))
    assert any(re.search(dialect.call, line) for line in lines)


def is_read(path: Path, home: Path) -> None:
    """What the agent wrote of the session is read as it was: the person's words, not ours, and the call."""
    (session,) = Reading().sessions([path], home, {})
    told = [text for turn in session.turns for text in (turn.prompt, *turn.steered) if text]
    assert told == [PROMPT]
    assert any(LESSON in str(call) for turn in session.turns for call in turn.calls)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTS)
def test_its_server_finds_the_folders_that_the_persons_environment_moves(
    name: str, installed, run, home: Path, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several agents hand a server next to nothing of the environment."""
    installed(name)
    host = HOSTS[name]
    moved = {"LESSONBOOK_CONFIG": str(tmp_path / "own/config.toml"), "XDG_STATE_HOME": str(tmp_path / "state")}
    for variable, path in moved.items():
        monkeypatch.setenv(variable, path)
    with Model(host.steps, host.wait) as model:
        place = Place(host, home, work, model.url)
        place.env |= moved
        assert run("config", "set", "agent_dir", str(tmp_path / "mine")).returncode == 0
        assert run("setup", name, "--yes", "--autolearn").returncode == 0
        place.said(host.command(PROMPT, work))
    has_learned(run, work)
    assert list(tmp_path.glob(f"state/lessonbook/sessions/{name}/*/start.json"))  # its hooks have them anyway
    assert (tmp_path / "mine/bank.db").is_file() and not (home / ".local/share/lessonbook").exists()
