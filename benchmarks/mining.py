"""How fast a long history is mined, and in how much memory, beside the original's health report and route assessment.

The history is in the original's own form, made anew, ``LESSONBOOK_BENCH_MB`` megabytes long (500 by default). Each side
runs as it is installed, in a process of its own and all that this one starts, whose memory is counted together.
``LESSONBOOK_PEER_MINING`` names a Python that has ``dhrona``; else one is set up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import IO, Any

from benchmarks.mining_history import write
from benchmarks.peers import BENCH, peer_pythons
from benchmarks.table import Row, in_turns
from lessonbook.system.cores import available

DRIVE = Path(__file__).with_name("mining_drive.py")
PEER = ("dhrona==0.1.20", "ramabana==0.2.80")
NEEDS = (
    *("aidialog", "attrs", "cyclopts", "exhash", "fastaudit", "fastcore>=2.2.19", "fastspec", "fasttransport", "ghapi"),
    *("gheasy", "httpx2", "idna", "llmsurgery", "pobblebonk", "pyskills", "python-dotenv", "PyYAML", "rahasya>=0.0.6"),
    *("rishi", "ruamel.yaml", "safepyrun", "shalya>=0.1.22", "uraiyadal>=0.0.19"),
)
"""All that importing it takes, one by one: its own list of dependencies cannot be resolved from PyPI."""
SIZE = int(os.environ.get("LESSONBOOK_BENCH_MB", "500")) * 1_000_000
TIMES = 3
FASTER, FLAT = 3.0, 1.3
_LOOK = 0.05
"""How often memory is looked at, in seconds."""
KNOWN = ("schema", "tool_protocol", "repeat_failure", "denial_retry", "bypass")


def run() -> list[Row]:
    """Mine the whole history, then a quarter of it, for whether memory grows."""
    python, missing = _peer()
    with tempfile.TemporaryDirectory() as place:
        whole, quarter, little = (Path(place) / name for name in ("whole", "quarter", "little"))
        size = write(whole, SIZE).stat().st_size
        write(quarter, SIZE // 4)
        write(little, 1)
        sides = [("ours", sys.executable), *([] if missing else [("theirs", python)])]
        for side, program in sides:  # so that every module is compiled, as an installed one is
            _run(program, side, little)
        ours, *theirs = in_turns(TIMES, *(partial(_run, program, side, whole) for side, program in sides))
        small = _run(sys.executable, "ours", quarter)
    return list(_rows(size, ours, theirs[0] if theirs else [], small, missing))


def _rows(
    size: int, ours: list[dict[str, Any]], theirs: list[dict[str, Any]], small: dict[str, Any], missing: str
) -> Iterator[Row]:
    megabytes = size / 1e6
    speed = [f"ours {_speed(megabytes, ours)}", *([f"theirs {_speed(megabytes, theirs)}"] if theirs else [])]
    note = f"{megabytes:.0f} MB; {', '.join(speed)}{_processor(ours, theirs)}"
    found, known = ours[0]["kinds"], theirs[0]["kinds"] if theirs else {}
    less = {kind: known[kind] for kind in KNOWN if found.get(kind, 0) < known.get(kind, 0)}
    fewer = [f"{kind}: {found.get(kind, 0)} found, {count} by theirs" for kind, count in less.items()]
    fewer += [] if found else ["nothing was found: no reader for it"]
    baseline = "theirs" if theirs else f"no peer: {missing}"
    yield Row(
        "mining, throughput", [one["seconds"] for one in ours], baseline, [one["seconds"] for one in theirs],
        at_least=FASTER, note=note,
    )  # fmt: skip
    kinds = ", ".join(f"{kind} {found.get(kind, 0)}" for kind in KNOWN)
    counts = [sum(found.get(kind, 0) for kind in KNOWN)]
    yield Row(
        "mining, findings", counts, baseline, [sum(known.values())] if known else [], unit="", note=kinds, checks=fewer
    )
    peak = [one["kib"] / 1024 for one in ours]
    yield Row("mining, peak memory", peak, baseline, [one["kib"] / 1024 for one in theirs], unit="MiB")
    quarter = [small["kib"] / 1024]
    yield Row("mining, peak memory: flat", peak, "a quarter of it", quarter, unit="MiB", at_most=FLAT)


def _speed(megabytes: float, runs: list[dict[str, Any]]) -> str:
    return f"{megabytes / min(one['seconds'] for one in runs):.0f} MB/s"


def _processor(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    mine = median(one["cpu"] for one in ours)
    other = median(one["cpu"] for one in theirs) if theirs else 0.0
    beside = f" and {other:.2f} s, {other / mine:.2f}×" if theirs else ""
    return f"; processor time {mine:.2f} s{beside}; {available()} cores"


def _run(python: str, side: str, folder: Path) -> dict[str, Any]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"HOME": str(folder), "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
    command = [python, "-P", str(DRIVE), side, str(folder)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        peak = 0
        while started.poll() is None:
            peak = max(peak, _resident(started.pid))
            time.sleep(_LOOK)
        said, complained = (_all_of(file) for file in (out, err))
    if started.returncode:
        raise RuntimeError(f"{side} failed: {complained.strip()[-300:]}")
    answer: dict[str, Any] = json.loads(said)
    answer["kib"] = max(answer["kib"], peak // 1024)
    return answer


def _all_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _resident(pid: int) -> int:
    """Bytes of memory that a process and all it started hold, what they share counted for each; 0 where none tells."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = [
            one for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
        ]
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(_resident(int(child)) for child in children)


def _peer() -> tuple[str, str]:
    named = os.environ.get("LESSONBOOK_PEER_MINING") or str(BENCH / "mining" / "bin" / "python")
    if _imports(named):
        return named, ""
    if "LESSONBOOK_PEER_MINING" in os.environ:
        return "", f"LESSONBOOK_PEER_MINING={named} cannot import dhrona.improve"
    source = next(iter(peer_pythons()), None)
    if source is None:
        return "", "the peer needs Python 3.12 or newer; set LESSONBOOK_PEER_MINING"
    print(f"setting up the peer ({', '.join(PEER)}) in {BENCH / 'mining'} …", file=sys.stderr)
    shutil.rmtree(BENCH / "mining", ignore_errors=True)
    pip = [named, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    for command in ([source, "-m", "venv", str(BENCH / "mining")], [*pip, *PEER, *NEEDS]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()[-1:]
            return "", f"the peer cannot be installed here: {' '.join(said)[:120]}"
    return (named, "") if _imports(named) else ("", "the peer is installed but cannot be imported")


def _imports(python: str) -> bool:
    try:
        asked = [python, "-c", "import dhrona.improve, ramabana.agent"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
