"""Settings one at a time: known keys, right values, everything else in the file as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessonbook.actions.config import ABOUT, change, get, listed
from lessonbook.core.errors import InputError, SetupError
from lessonbook.system.settings import load, places

FILE = """# mine
learning = true # keep this
memory.backend = "off"

[autolearn]  # both off
enabled = false

[other]
list = [1, 2]
"""


@pytest.fixture
def file(home: Path) -> Path:
    path = home / ".config/lessonbook/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(FILE)
    return path


def test_every_setting_is_listed_with_its_default(home: Path) -> None:
    found = {item.key: (item.value, item.is_set) for item in listed(places())}
    assert list(found) == list(ABOUT)
    assert found["learning"] == (True, False) and found["memory.backend"] == ("off", False)
    assert found["agent_dir"] == (str(home / ".local/share/lessonbook/agent"), False)


def test_changes_keep_the_rest_of_the_file(file: Path) -> None:
    where = places()
    assert change(where, "memory.backend", "mnemopi").value == "mnemopi"
    assert change(where, "autolearn.enabled", "on").value is True
    assert change(where, "learning", "FALSE").value is False
    assert change(where, "hindsight.url", "http://127.0.0.1:8888").is_set
    expected = FILE.replace('"off"', '"mnemopi"').replace("enabled = false", "enabled = true")
    expected = expected.replace("learning = true", "learning = false")
    assert file.read_text() == expected + '\n[hindsight]\nurl = "http://127.0.0.1:8888"\n'
    assert (load(where).memory_backend, load(where).autolearn_enabled, load(where).learning) == ("mnemopi", True, False)


def test_a_new_file_is_made(home: Path) -> None:
    assert change(places(), "memory.backend", "local").value == "local"
    assert change(places(), "agent_dir", "~/agent").value == str(home / "agent")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("memory.backnd", "local", "did you mean memory.backend?"),
        ("zzz", "1", "there are learning,"),
        ("memory.backend", "redis", "one of off, local"),
        ("learning", "maybe", "true or false"),
        ("agent_dir", " ", "cannot be empty"),
        ("agent_dir", "some/where", "start with / or ~/"),
        ("agent_dir", "~someone/x", "start with / or ~/"),
        ("hindsight.url", "ftp://x", "http:// or https://"),
        *(("propose.cores", said, "a number of cores, all or auto") for said in ("0", "many", "-1", "1000", "2.5")),
        ("propose.cluster", "127.0.0.1:8786", "is an address such as tls://"),
        ("propose.cluster", "tcp://192.0.2.7:8786", "unencrypted"),
        ("hindsight.url", "http://", "an http or https address"),
        ("hindsight.url", "http://me:pw@host", "no name, password"),
        ("postgres.url", "mysql://host/db", "is an address such as"),
        ("postgres.url", "postgresql://me:pw@host/db", "must not hold a password"),
        ("postgres.team", "Team X", "lower-case letters"),
        ("hindsight.token", "hs_live_0123456789", "No secret goes into the settings"),
        ("hindsight.token_env", "hs_live_abcdefghij0123456789abcdefghij", "and is never it"),
        ("hindsight.token_env", "MY TOKEN", "and is never it"),
        ("hindsight.credential_helper", f"echo ghp_{'a1B2' * 9}", "and never holds it"),
    ],
)
def test_what_is_not_understood_is_refused(file: Path, key: str, value: str, said: str) -> None:
    with pytest.raises((InputError, SetupError), match=said.replace("?", r"\?")):
        change(places(), key, value)
    assert file.read_text() == FILE


@pytest.mark.parametrize("text", ["learning = [", "memory = 3\n", "[memory.backend]\nx = 1\n"])
def test_a_file_that_cannot_be_changed_safely_keeps_its_bytes(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(SetupError):
        change(places(), "memory.backend", "local")
    assert file.read_text() == text


def test_a_wrong_type_can_be_set_right(file: Path) -> None:
    file.write_text("learning = 1\n")
    assert change(places(), "learning", "true").value is True
    assert get(places(), "learning").is_set


@pytest.mark.parametrize("cores", ["2", "all", "auto"])
def test_how_many_cores(file: Path, cores: str) -> None:
    assert change(places(), "propose.cores", cores).value == cores == load(places()).propose_cores
    assert ("cores = 2\n" in file.read_text()) == (cores == "2")


@pytest.mark.parametrize("text", ["0", "true", '"some"', "1.5", "[2]"])
def test_no_number_of_cores_is_said(file: Path, text: str) -> None:
    file.write_text(f"[propose]\ncores = {text}\n")
    with pytest.raises(SetupError, match=r"propose\.cores is a number of cores"):
        load(places())


def test_the_editor_model_is_shown_and_set_by_hand(file: Path) -> None:
    file.write_text('[editor]\ncommand = ["claude", "-p", "be brief"]\n')
    values = {item.key: item.value for item in listed(places()) if item.is_set}
    assert values == {"editor.command": "claude -p 'be brief'"}
    file.write_text('[editor]\nurl = "http://localhost:1/v1"\nmodel = "m"\ntimeout = 2.5\n')
    values = {item.key: item.value for item in listed(places()) if item.is_set}
    assert values == {"editor.url": "http://localhost:1/v1", "editor.model": "m", "editor.timeout": "2.5"}
    before = file.read_bytes()
    with pytest.raises(InputError, match=r"set by hand, in .*command = "):
        change(places(), "editor.model", "other")
    assert file.read_bytes() == before


@pytest.mark.parametrize("key", ["nightly.agent", "agents.claude.model", "prices.x"])
def test_what_the_night_alone_reads_is_written_by_hand(file: Path, key: str) -> None:
    for ask in (lambda: get(places(), key), lambda: change(places(), key, "x")):
        with pytest.raises(InputError, match=r"write it into the file by hand \(docs/nightly.md says how\)"):
            ask()
