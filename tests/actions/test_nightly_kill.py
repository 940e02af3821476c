"""A night that is killed with SIGKILL at any point: the next one carries on, and nothing is half kept or kept twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lessonbook.system import faults

Made = Callable[[], Any]
NIGHT = """\
import sys, time
from secrets import token_hex
from lessonbook.actions.nightly import Nightly
from lessonbook.system import faults
from lessonbook.system.night_settings import load_night
from lessonbook.system.settings import environment, load, places
where, name, passes, now = places(), sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
faults.arm(name, passes)
Nightly(where, load(where), load_night(where), lambda: now, lambda: token_hex(3), environment()).run()
"""
POINTS = [
    "night.begun",
    "night.expired",
    "night.compacted",
    "night.proposed",
    "night.watched",
    "night.picked",
    "night.tried",
    "night.cloned",
    "night.base",
    "night.edited",
    "night.candidate",
    "night.judged",
    "night.offered",
    "night.kept",
    "night.looked",
    "night.noted",
]


def test_these_are_the_points_of_a_night(place: Made) -> None:
    one = place()
    passed = faults.record()
    one.night()
    assert list(dict.fromkeys(name for name in passed if name.startswith("night."))) == POINTS


AGAIN = [("night.cloned", 2), ("night.cloned", 3), ("night.base", 2), ("health.read", 1), ("health.kept", 1)]
WRITES = [("files.before-rename", passes) for passes in (1, 3, 4, 7, 10, 13, 16)] + [("files.after-rename", 16)]


@pytest.mark.parametrize(("name", "passes"), [*((name, 1) for name in POINTS), *AGAIN, *WRITES])
def test_the_next_night_carries_on(place: Made, name: str, passes: int) -> None:
    one = place()
    one.configure()
    words = [sys.executable, "-c", NIGHT, name, str(passes), str(one.now)]
    done = subprocess.run(words, env=os.environ, capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    _carries_on(one)


def _carries_on(one: Any) -> None:
    waited = one.pending()
    assert len(waited) <= 1
    one.now += 86_400
    record = one.night()
    assert record["ok"], record
    pending = one.pending()
    assert len(pending) == 1 and pending[:1] == (waited or pending)
    assert one.night()["rounds"] == []
    assert one.pending() == pending
    tries = json.loads((one.nights / "tried.json").read_text())
    assert {row["state"] for row in tries.values()} == {"done"}
    assert all(row["tries"] <= 2 for row in tries.values())
    assert not list(one.nights.glob("*/begun"))
    left = [path for path in one.nights.glob("**/.*.tmp") if "work" not in path.relative_to(one.nights).parts]
    assert left == []
    ended = [json.loads(path.read_text()) for path in one.nights.glob("*/record.json")]
    assert all(row["ok"] for row in ended)


def test_what_the_agent_started_dies_with_the_night(place: Made, tmp_path: Path) -> None:
    one = place()
    left = tmp_path / "left"
    slow = f"(setsid sh -c 'echo $$ > {left}; sleep 60' &) ; echo $$ > {left}.agent; sleep 60"
    one.routes(long=[{"run": slow}])
    one.configure()
    words = [sys.executable, "-c", NIGHT, "never", "1", str(one.now)]
    night = subprocess.Popen(words, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pids = [_number(left), _number(Path(f"{left}.agent"))]
    assert all(map(_lives, pids))
    night.send_signal(signal.SIGKILL)
    night.wait()
    until = time.monotonic() + 10
    while any(map(_lives, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(_lives, pids))


def test_two_nights_never_run_at_once(place: Made, run: Any, tmp_path: Path) -> None:
    one = place()
    begun = tmp_path / "begun"
    one.routes(long=[{"run": f"echo $$ > {begun}; sleep 20"}])
    one.configure()
    words = [sys.executable, "-c", NIGHT, "never", "1", str(one.now)]
    night = subprocess.Popen(words, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _number(begun)
        second = run("nightly")
        assert second.returncode == 3
        assert "Another process holds" in second.stderr
        assert run("nightly", "--dry-run").returncode == 0
    finally:
        night.kill()
        night.wait()


def _number(path: Path) -> int:
    until = time.monotonic() + 20
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < until, f"{path} was not written"
        time.sleep(0.02)
    return int(path.read_text())


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
