"""Work in several processes: its order, what it raises, and that nothing is left running however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lessonbook.core.errors import SetupError
from lessonbook.system.cluster import Cluster
from lessonbook.system.cores import WORTH, Cores, Here, available, runner
from lessonbook.system.ordered import in_order

START = "import time\nfrom lessonbook.system.cores import Cores\nprint('here', flush=True)\nwith Cores(2) as two: "
"""A program without a guard around what it does, as people write them."""
SLOW = f"{START}results = two.map(time.sleep, [0, 60, 60]); next(results); print('begun', flush=True); list(results)"


def test_results_come_in_the_order_of_the_work() -> None:
    words = ["a" * number for number in (3, 1, 2)] * 5
    with Cores(2) as two, Here() as one:
        assert list(two.map(len, words)) == list(one.map(len, words)) == list(map(len, words))
        assert list(two.map(len, [])) == []


def test_little_is_begun_ahead_of_what_is_asked_for() -> None:
    begun: list[int] = []

    def start(work: int) -> Callable[[], int]:
        begun.append(work)
        return lambda: -work

    results = in_order(start, range(100), ahead=5)
    assert [next(results), next(results)] == [0, -1]
    assert len(begun) == 6
    assert list(results) == [-number for number in range(2, 100)]


def test_what_the_work_raises_is_raised() -> None:
    with Cores(2) as two, pytest.raises(ValueError, match="invalid literal"):
        list(two.map(int, ["1", "no number"]))


def test_a_process_that_is_killed_is_said() -> None:
    with Cores(2) as two, pytest.raises(SetupError, match=r"config set propose\.cores 1"):
        list(two.map(os._exit, [9]))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_they_share_nothing_of_ours(tmp_path: Path) -> None:
    """No open file, so no lock that we hold is held any longer by them than by us."""
    with (tmp_path / "lock").open("w"), Cores(2) as two:
        (open_there,) = two.map(_open_files, [""])
    assert os.path.realpath(tmp_path / "lock") not in open_there


def _open_files(_: str) -> list[str]:
    return [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]


def test_a_program_without_a_guard_is_not_run_again() -> None:
    with run(f"{START}print(sum(two.map(len, ['a', 'bb'])))") as done:
        assert done.communicate(timeout=60) == ("here\n3\n", "")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_nothing_is_left_running(sign: int) -> None:
    with run(SLOW) as started:
        assert started.stdout is not None
        assert [started.stdout.readline() for _ in range(2)] == ["here\n", "begun\n"]
        everything = below(started.pid)
        assert len(everything) >= 4  # two that work, and what starts them
        began = time.monotonic()
        if sign == signal.SIGINT:
            os.killpg(started.pid, sign)  # as a terminal does
        else:
            started.send_signal(sign)
        _, said = started.communicate(timeout=30)
        while any(map(running, everything)) and time.monotonic() - began < 20:
            time.sleep(0.05)
        assert not any(map(running, everything))
        assert said.count("Traceback") == (sign == signal.SIGINT), said  # that of the program itself


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.06, 0.1, 0.15, 0.2])
def test_ctrl_c_while_they_start(seconds: float) -> None:
    with run(f"{START}list(two.map(time.sleep, [60, 60]))") as started:
        assert started.stdout is not None and started.stdout.readline() == "here\n"
        time.sleep(seconds)
        os.killpg(started.pid, signal.SIGINT)
        _, said = started.communicate(timeout=30)
        assert said.count("Traceback") == 1 and "KeyboardInterrupt" in said, said
        assert started.returncode not in (0, 1)


def run(code: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def below(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(one) for task in tasks for one in (task / "children").read_text().split()]
    except OSError:
        return []
    return [one for child in children for one in (child, *below(child))]


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_where_work_is_done() -> None:
    assert isinstance(runner("auto", "", WORTH - 1), Here)
    assert isinstance(runner("1", "", 10**9), Here)
    several, three = runner("auto", "", WORTH), runner("3", "", 0)
    assert isinstance(several, Here if available() == 1 else Cores)
    assert isinstance(three, Cores) and three.count == 3
    assert isinstance(runner("all", "", 0), Here if available() == 1 else Cores)
    assert isinstance(runner("all", "tls://scheduler:8786", 0), Cluster)
