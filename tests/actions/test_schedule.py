"""Scheduling the night: what each timer is given, and that all of it goes back byte for byte.

The ``crontab`` here is a small program that keeps a file as the real one does: the real one is not on every machine.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lessonbook.actions import schedule
from lessonbook.core.errors import InputError, SetupError, StoreError
from lessonbook.system.schedules import cron
from lessonbook.system.schedules.systemd import Systemd
from lessonbook.system.schedules.timer import Wanted
from lessonbook.system.settings import places

CRONTAB = """\
#!/bin/sh
case "$1" in
  -l) test -f "$CRONTAB_FILE" || { echo "no crontab for ana" >&2; exit 1; }; cat "$CRONTAB_FILE" ;;
  -r) rm -f "$CRONTAB_FILE" ;;
  -) cat > "$CRONTAB_FILE" ;;
esac
"""
WORDS = (sys.executable, "-m", "lessonbook")
ENV = {"PATH": "/usr/bin:/opt/100%/my bin", "SECRET": "x", "CODEX_HOME": '/home/ana/"codex"'}
TIMERS = ("systemd", "launchd", "cron")


@pytest.fixture
def crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "crontab").write_text(CRONTAB)
    (folder / "crontab").chmod(0o755)
    file = tmp_path / "the-crontab"
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CRONTAB_FILE", str(file))
    return file


def tree(home: Path) -> dict[str, bytes]:
    found = [path for path in home.rglob("*") if "/.local" not in str(path)]
    return {str(path): bytes(path.readlink()) if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
            for path in found}  # fmt: skip


def schedule_with(kind: str, at: str = "03:30") -> str:
    what = schedule.wanted(WORDS, at, ENV)
    made = schedule.plan(places(), what, kind)
    schedule.carry_out(places(), made, what)
    return "\n".join(made.diff)


def take_back() -> tuple[str, ...]:
    made = schedule.removal(places())
    assert made is not None
    schedule.take_back(places(), made)
    return made.problems


@pytest.mark.parametrize("kind", TIMERS)
@pytest.mark.parametrize("before", [None, b"", b"0 5 * * * true\n", b"# caf\xe9\n\n0 5 * * * true # no end"])
def test_taking_it_back_leaves_every_byte_as_it_was(kind: str, before: bytes | None, home: Path, crontab: Path) -> None:
    (home / ".config" / "systemd" / "user").mkdir(parents=True)
    (home / ".config" / "systemd" / "user" / "mine.timer").write_text("[Timer]\n")
    if before is not None:
        crontab.write_bytes(before)
    was = tree(home)
    diff = schedule_with(kind)
    assert "nightly" in diff and "SECRET" not in diff
    assert schedule.check(places())[0] == f"every day at 03:30, by {kind}"
    again = schedule_with(kind, "22:05")  # at another time: what was there before is still what was there before
    assert "-" in again and schedule.check(places())[0] == f"every day at 22:05, by {kind}"
    assert schedule_with(kind, "22:05") == ""
    assert take_back() == ()
    assert tree(home) == was
    assert (crontab.read_bytes() if crontab.exists() else None) == before
    assert schedule.removal(places()) is None
    assert schedule.check(places()) == ("", [])


def test_the_systemd_units_are_what_systemd_understands(home: Path, crontab: Path) -> None:
    schedule_with("systemd", "3:05")
    folder = home / ".config" / "systemd" / "user"
    assert "OnCalendar=*-*-* 03:05:00" in (folder / "lessonbook-nightly.timer").read_text()
    service = (folder / "lessonbook-nightly.service").read_text()
    assert 'Environment="PATH=/usr/bin:/opt/100%%/my bin"' in service
    assert 'Environment="CODEX_HOME=/home/ana/\\"codex\\""' in service
    assert (folder / "timers.target.wants" / "lessonbook-nightly.timer").resolve().read_text().startswith("[Unit]")
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    for words in (["verify", "--user", *map(str, folder.glob("lessonbook-*"))], ["calendar", "*-*-* 03:05:00"]):
        done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
        assert "nightly" not in done.stderr and (done.returncode == 0 or words[0] == "verify"), done.stderr


def test_the_property_list_is_what_launchd_reads(home: Path) -> None:
    schedule_with("launchd", "23:59")
    found = plistlib.loads((home / "Library" / "LaunchAgents" / "org.lessonbook.nightly.plist").read_bytes())
    assert found["ProgramArguments"] == [*WORDS, "nightly"]
    assert found["StartCalendarInterval"] == {"Hour": 23, "Minute": 59}
    assert found["EnvironmentVariables"] == {"PATH": ENV["PATH"], "CODEX_HOME": ENV["CODEX_HOME"]}


def test_the_line_of_cron_does_what_it_says_in_a_shell(crontab: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = tmp_path / "my %program"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" "$CODEX_HOME" > {told}\n')
    program.chmod(0o755)
    what = schedule.wanted((str(program),), "0:07", ENV)
    schedule.carry_out(places(), schedule.plan(places(), what, "cron"), what)
    line = crontab.read_text().splitlines()[1]
    assert line.startswith("7 0 * * * ")
    subprocess.run(["/bin/sh", "-c", line.split(" ", 5)[5].replace("\\%", "%")], check=True)  # as cron unescapes it
    assert told.read_text() == 'nightly|/home/ana/"codex"|'


def test_a_crontab_that_a_person_changed_meanwhile_loses_our_lines_alone(crontab: Path) -> None:
    crontab.write_bytes(b"0 5 * * * true\n")
    schedule_with("cron")
    crontab.write_bytes(crontab.read_bytes() + b"0 6 * * * false\n")
    assert take_back() == ()
    assert crontab.read_bytes() == b"0 5 * * * true\n0 6 * * * false\n"


texts = st.binary(max_size=80) | st.lists(st.sampled_from([cron._OPENING, cron._CLOSING, b"\n", b"x"])).map(b"".join)


@given(before=texts, after=texts)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_crontab_comes_back(before: bytes, after: bytes) -> None:
    assume(cron._without(before) == before and cron._without(after) == after)  # what is ours already is replaced
    line = b"1 2 * * * x"
    put = cron._with(before, line)
    assert line in put.splitlines()
    assert (cron._without(put) or b"") == before
    if before.endswith(b"\n"):
        assert cron._without(put + after) == (before + after or None)


def test_a_file_that_was_changed_by_hand_stays_and_is_named(home: Path) -> None:
    schedule_with("systemd")
    path = home / ".config" / "systemd" / "user" / "lessonbook-nightly.timer"
    path.write_text(path.read_text().replace("03:30", "04:00"))
    told, problems = schedule.check(places())
    assert problems == [f"{path} was changed by hand"] and told
    assert take_back() == (f"{path} was changed by hand and stays; remove it yourself if it shall go",)
    assert path.exists() and not path.with_suffix(".service").exists()


def test_what_is_gone_is_said(home: Path, crontab: Path) -> None:
    schedule_with("systemd")
    shutil.rmtree(home / ".config" / "systemd")
    assert all("is gone" in problem for problem in schedule.check(places())[1])
    assert take_back() == ()
    schedule_with("cron")
    crontab.unlink()
    assert schedule.check(places())[1] == ["crontab is gone"]


def test_one_timer_at_a_time(crontab: Path) -> None:
    schedule_with("cron")
    with pytest.raises(InputError, match="is scheduled with cron; `lessonbook schedule --remove` takes that back"):
        schedule_with("systemd")
    assert "22:00" in schedule_with("", "22:00") or schedule.check(places())[0] == "every day at 22:00, by cron"


@pytest.mark.parametrize("at", ["", "24:00", "3", "03:60", "3:5", "03:30 ", "٣:٣٠", "-1:00"])
def test_a_time_there_is_not_is_refused(at: str) -> None:
    with pytest.raises(InputError, match="--at takes a time of the day such as 03:30"):
        schedule.wanted(WORDS, at, ENV)


def test_a_line_break_in_a_path_is_refused() -> None:
    with pytest.raises(InputError, match="line break"):
        Wanted(("a\nb",), 1, 2, {})


def test_a_machine_without_a_timer_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if Systemd(tmp_path, tmp_path).is_here() or sys.platform == "darwin":
        pytest.skip("this machine has one")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"none of systemd, launchd, cron; have whatever starts programs there run"):
        schedule.plan(places(), schedule.wanted(WORDS, "3:30", ENV))


def test_a_damaged_receipt_is_an_error_in_one_sentence(crontab: Path) -> None:
    schedule_with("cron")
    (places().state / "schedule.json").write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        schedule.removal(places())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_nothing_is_scheduled_for_root(run: Callable[..., subprocess.CompletedProcess[str]], crontab: Path) -> None:
    done = run("schedule", "--yes", "--with", "cron")
    assert (done.returncode, crontab.exists()) == (2, False)
    assert "nothing is scheduled for root" in done.stderr


def test_the_verb_asks_first_and_takes_back(home: Path, crontab: Path) -> None:
    person = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
    if person and subprocess.run([*person, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets root be nobody else")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def said(*more: str) -> subprocess.CompletedProcess[str]:
        words = [*person, sys.executable, "-m", "lessonbook", "schedule", *more]
        nothing = subprocess.DEVNULL
        return subprocess.run(words, env=env, cwd=home, stdin=nothing, capture_output=True, text=True, check=False)

    asked = said("--with", "cron")
    assert (asked.returncode, crontab.exists()) == (2, False), asked.stderr
    assert "say --yes to write it" in asked.stderr and "+30 3 * * *" in asked.stdout
    assert (said("--with", "cron", "--dry-run").returncode, crontab.exists()) == (0, False)
    done = said("--with", "cron", "--yes", "--json")
    assert done.returncode == 0 and '"written": true' in done.stdout, done.stderr
    checked = said("--check")
    assert (checked.returncode, checked.stdout.strip()) == (0, "every day at 03:30, by cron")
    assert said("--check", "--remove").returncode == 2
    assert said("--remove", "--yes").stdout.endswith("taken back\n")
    assert not crontab.exists()
    assert (said("--check").returncode, said("--remove").stdout) == (1, "nothing is scheduled\n")
