"""How fast a long history is mined, and in how much memory, beside the original's health report and route assessment.

The history is in the original's own form, made anew, ``LESSONBOOK_BENCH_MB`` megabytes long (60 by default). Each side
runs in a process of its own. ``LESSONBOOK_PEER_MINING`` names a Python that has ``dhrona``; else one is set up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.mining_history import write
from benchmarks.peers import BENCH, peer_pythons
from benchmarks.table import Row, in_turns

DRIVE = Path(__file__).with_name("mining_drive.py")
PEER = ("dhrona==0.1.20", "ramabana==0.2.80")
NEEDS = (
    *("aidialog", "attrs", "cyclopts", "exhash", "fastaudit", "fastcore>=2.2.19", "fastspec", "fasttransport", "ghapi"),
    *("gheasy", "httpx2", "idna", "llmsurgery", "pobblebonk", "pyskills", "python-dotenv", "PyYAML", "rahasya>=0.0.6"),
    *("rishi", "ruamel.yaml", "safepyrun", "shalya>=0.1.22", "uraiyadal>=0.0.19"),
)
"""All that importing it takes, one by one: its own list of dependencies cannot be resolved from PyPI."""
SIZE = int(os.environ.get("LESSONBOOK_BENCH_MB", "60")) * 1_000_000
TIMES = 3 if SIZE < 200_000_000 else 1
FASTER, FLAT = 3.0, 1.3
KNOWN = ("schema", "tool_protocol", "repeat_failure", "denial_retry", "bypass")


def run() -> list[Row]:
    """Mine the whole history, then a quarter of it, for whether memory grows."""
    python, missing = _peer()
    with tempfile.TemporaryDirectory() as place:
        whole, quarter = Path(place) / "whole", Path(place) / "quarter"
        size = write(whole, SIZE).stat().st_size
        write(quarter, SIZE // 4)
        if missing:
            ours, theirs = in_turns(TIMES, lambda: _run(sys.executable, "ours", whole))[0], []
        else:
            ours, theirs = in_turns(
                TIMES, lambda: _run(sys.executable, "ours", whole), lambda: _run(python, "theirs", whole)
            )
        small = _run(sys.executable, "ours", quarter)
    return list(_rows(size, ours, theirs, small, missing))


def _rows(
    size: int, ours: list[dict[str, Any]], theirs: list[dict[str, Any]], small: dict[str, Any], missing: str
) -> Iterator[Row]:
    megabytes = size / 1e6
    speed = [f"ours {_speed(megabytes, ours)}", *([f"theirs {_speed(megabytes, theirs)}"] if theirs else [])]
    note = f"{megabytes:.0f} MB; {', '.join(speed)}"
    found, known = ours[0]["kinds"], theirs[0]["kinds"] if theirs else {}
    less = {kind: known[kind] for kind in KNOWN if found.get(kind, 0) < known.get(kind, 0)}
    fewer = [f"{kind}: {found.get(kind, 0)} found, {count} by theirs" for kind, count in less.items()]
    fewer += [] if found else ["nothing was found: no reader for it"]
    baseline = "theirs" if theirs else f"no peer: {missing}"
    yield Row(
        "mining, processor time", [one["cpu"] for one in ours], baseline, [one["cpu"] for one in theirs],
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


def _run(python: str, side: str, folder: Path) -> dict[str, Any]:
    env = {**os.environ, "HOME": str(folder)}
    command = [python, "-P", str(DRIVE), side, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise RuntimeError(f"{side} failed: {done.stderr.strip()[-300:]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


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
