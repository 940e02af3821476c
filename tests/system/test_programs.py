"""Real programs: what they print, how they end, and that nothing of them is left."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from lessonbook.core.errors import ModelError, SetupError
from lessonbook.system.programs import OUTPUT, Ended, run

ENV = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "GREETING": "hello"}


def python(code: str, folder: Path, data: bytes = b"", timeout: float = 20.0) -> Ended:
    return run([sys.executable, "-c", code], data, timeout=timeout, folder=folder, env=ENV)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(path: Path) -> bool:
    """Whether every process that wrote its number into the file has ended; they may take a moment."""
    pids = [int(line) for line in path.read_text().split()]
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(pids) and not any(map(alive, pids))


def test_input_output_environment_and_folder(tmp_path: Path) -> None:
    code = (
        "import os,sys; d=sys.stdin.buffer.read(); print('no', file=sys.stderr); "
        "print(len(d), os.environ['GREETING'], os.getcwd(), os.getpgrp()==os.getpid())"
    )
    ended = python(code, tmp_path, b"x" * 300_000)
    assert ended == Ended(0, f"300000 hello {os.path.realpath(tmp_path)} True\n".encode(), b"no\n")
    assert python("import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))", tmp_path).out == b"['GREETING', 'PATH']\n"


def test_how_it_ended(tmp_path: Path) -> None:
    assert python("import sys; print('part'); sys.exit('why')", tmp_path) == Ended(1, b"part\n", b"why\n")
    assert python("import os; os.kill(os.getpid(), 9)", tmp_path).code == -9
    assert run(["true"], b"never read" * 100_000, timeout=20, folder=tmp_path, env=ENV) == Ended(0, b"", b"")


@pytest.mark.parametrize("name", ["no-such-program-here", "/etc/hostname/x", "/", "nul\0name"])
def test_what_cannot_be_started_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetupError, match="the command"):
        run([name], b"", timeout=5, folder=tmp_path, env=ENV)


SLEEPER = """
import os, subprocess, sys, time
code = "import os,time; open('pids','a').write(f'{os.getpid()} '); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", code])
open('pids', 'a').write(f'{os.getpid()} ')
while len(open('pids').read().split()) < 2: time.sleep(0.01)
"""


def test_past_the_deadline_it_and_its_children_are_gone(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"did not answer within 1 seconds, and was stopped\."):
        python(SLEEPER + "time.sleep(60)", tmp_path, timeout=1.0)
    assert gone(tmp_path / "pids")


def test_what_it_leaves_running_holds_nobody_up_and_is_gone(tmp_path: Path) -> None:
    started = time.monotonic()
    ended = python(SLEEPER + "print('done')", tmp_path, timeout=50)
    assert ended == Ended(0, b"done\n", b"") and time.monotonic() - started < 40
    assert gone(tmp_path / "pids")


def test_it_may_close_its_output_and_work_on(tmp_path: Path) -> None:
    code = "import os,time; print('said', flush=True); os.close(1); os.close(2); time.sleep(0.2); os._exit(3)"
    assert python(code, tmp_path) == Ended(3, b"said\n", b"")


def test_output_without_end_is_stopped_and_complaints_keep_their_end(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"more than {OUTPUT:,} bytes"):
        python("while True: print('x' * 5000)", tmp_path)
    ended = python("import sys; sys.stderr.write('y' * 500_000 + 'last')", tmp_path)
    assert len(ended.err) <= 1 << 14 and ended.err.endswith(b"last")


def test_no_file_of_ours_is_open_in_it(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        ended = python("import os; print(sorted(os.listdir('/proc/self/fd'))[:4])", tmp_path)
    assert ended.out == b"['0', '1', '2', '3']\n"
