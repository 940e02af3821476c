"""A paragraph appended on both sides of a full ``AGENTS.md``, merged in memory, beside ``git merge-file``."""

from __future__ import annotations

import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.table import Row, in_turns
from lessonbook.core.merge import merge3

MERGES, FEW = 1000, 20
TIMES = 5
BASE = "".join(f"- Rule {number:02d} that a person wrote by hand.\n" for number in range(45)).encode()
OURS = BASE + b"\nRead sizes with ls -l before reading a file.\n"
THEIRS = BASE + b"\nRun one test file, not the whole suite, after a small change.\n"
EDITED = BASE.replace(b"Rule 07", b"Rule seven")


def run() -> list[Row]:
    """Measure the two common cases: both add, and one adds while the other edits elsewhere."""
    rows = []
    for what, ours in (("both append", OURS), ("one edits, one appends", EDITED)):
        samples, git = in_turns(TIMES, partial(_merge, ours), partial(_git, ours))
        note = f"{len(THEIRS):,} bytes; git's time is {FEW} processes, scaled" + (
            "; git conflicts" if ours is OURS else ""
        )
        rows.append(Row(f"{MERGES:,} merges, {what}", samples, "git merge-file", git, at_least=1, note=note))
    return rows


def _merge(ours: bytes) -> float:
    start = time.perf_counter()
    for _ in range(MERGES):
        merged = merge3(BASE, ours, THEIRS)
    seconds = time.perf_counter() - start
    if merged is None or not merged.endswith(THEIRS[len(BASE) :]):
        raise AssertionError(f"a merge lost what was appended: {merged!r}")
    return seconds


def _git(ours: bytes) -> float:
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / name for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, BASE, THEIRS), strict=True):
            path.write_bytes(data)
        start = time.perf_counter()
        for _ in range(FEW):
            subprocess.run(["git", "merge-file", "-p", "-q", *map(str, paths)], capture_output=True, check=False)
        return (time.perf_counter() - start) / FEW * MERGES
