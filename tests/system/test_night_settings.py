from __future__ import annotations

from pathlib import Path

import pytest

from lessonbook.core.agent_run import Network, Permission
from lessonbook.core.errors import SetupError
from lessonbook.core.money import Price
from lessonbook.system.night_settings import AgentSettings, NightSettings, load_night
from lessonbook.system.settings import Editor, places


def written(home: Path, text: str) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_without_a_file_nothing_is_replayed(home: Path) -> None:
    assert load_night(places()) == NightSettings()
    assert load_night(places()).of("claude") == AgentSettings()


def test_everything_that_can_be_said_is_read(home: Path) -> None:
    written(
        home,
        """
[nightly]
agent = "same"
runs = 3
rounds = 0
round_dollars = 1
night_dollars = 2.5
run_dollars = 0.25
answer_dollars = 0
minutes = 30
run_minutes = 0.5
permission = "shell"
network = "open"
keep_days = 0
[editor]
url = "http://localhost:11434/v1"
model = "big"
[judge]
command = ["judge"]
[agents.codex]
args = ["-c", "x=1"]
model = "m"
run_dollars = 0
model_hosts = ["gate.example.org"]
[agents.mine]
command = ["mine", "{prompt}"]
reader = "claude"
transcripts = "~/mine"
[prices.big]
input = 3
output = 15.0
most_output = 8000
""",
    )
    night = load_night(places())
    assert (night.agent, night.runs, night.rounds, night.round_dollars, night.night_dollars) == ("same", 3, 0, 1.0, 2.5)
    assert (night.run_dollars, night.answer_dollars, night.minutes, night.run_minutes) == (0.25, 0.0, 30.0, 0.5)
    assert (night.permission, night.network, night.keep_days) == (Permission.SHELL, Network.OPEN, 0)
    assert night.editor == Editor(url="http://localhost:11434/v1", model="big")
    assert night.judge == Editor(command=("judge",))
    assert night.prices == {"big": Price(3.0, 15.0, 8000)}
    assert night.of("codex") == AgentSettings(
        args=("-c", "x=1"), model="m", run_dollars=0.0, model_hosts=("gate.example.org",)
    )
    assert night.of("mine").transcripts == str(home / "mine")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nightly = 1", "nightly must be a table"),
        ("[nightly]\nruns = 0", "nightly.runs must be a whole number from 1 to 10"),
        ("[nightly]\nruns = 1.5", "nightly.runs must be a whole number"),
        ("[nightly]\nruns = true", "nightly.runs must be a whole number"),
        ("[nightly]\nnight_dollars = -1", "nightly.night_dollars must be a number from 0"),
        ("[nightly]\nnight_dollars = nan", "nightly.night_dollars must be a number"),
        ("[nightly]\nanswer_dollars = '1'", "nightly.answer_dollars must be a number"),
        ("[nightly]\npermission = 'all'", "nightly.permission must be one of read, edit, shell"),
        ("[nightly]\nnetwork = []", "nightly.network must be one of none, model, open"),
        ("[agents]\nclaude = 1", "agents.claude must be a table"),
        ("[agents.claude]\nargs = 'x'", "agents.claude.args must be a list of words"),
        ("[agents.claude]\nmodel = 1", "agents.claude.model must be text"),
        ("[prices.m]\ninput = 1", "prices.m needs output and most_output"),
        ("[judge]\ncommand = ['a']\nurl = 'http://x'", "judge needs either command or url"),
    ],
)
def test_what_cannot_be_used_is_named(home: Path, text: str, named: str) -> None:
    written(home, text)
    with pytest.raises(SetupError) as error:
        load_night(places())
    assert str(error.value).startswith(named)


@pytest.mark.parametrize("line", ['writes = ["~nobody-here/x"]', 'transcripts = "~nobody-here/x"'])
def test_the_home_of_nobody_is_named(home: Path, line: str) -> None:
    written(home, f"[agents.mine]\n{line}\n")
    with pytest.raises(SetupError, match=rf"agents\.mine\.{line.split()[0]} cannot be used: ~nobody-here/x "):
        load_night(places())


def test_what_an_agent_may_write_to(home: Path) -> None:
    file = home / ".config/lessonbook/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[agents.codex]\nwrites = ["~/.codex"]\n[agents.mine]\nwrites = []\n')
    night = load_night(places())
    assert night.of("codex").writes == (str(home / ".codex"),)
    assert (night.of("mine").writes, night.of("claude").writes) == ((), None)
    for wrong in ('["codex"]', '["/a:b"]', '"/a"'):
        file.write_text(f"[agents.codex]\nwrites = {wrong}\n")
        with pytest.raises(SetupError, match=r"agents\.codex\.writes must"):
            load_night(places())
