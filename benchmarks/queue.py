"""What ``pending`` and ``accept`` start and need, with a thousand candidates beside ten."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.peers import peer
from benchmarks.runner import Bench
from benchmarks.table import Row

COUNT, FEW = 1000, 10
TRACE = ("strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o")


def run() -> list[Row]:
    """Count processes and memory; ``mixes`` has the times."""
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), peer())
        return [*(_processes(bench, verb) for verb in ("pending", "accept")), _memory(bench)]


def _processes(bench: Bench, verb: str) -> Row:
    few, many = (bench.ours(verb, count)["processes"] for count in (FEW, COUNT))
    programs = [_programs(bench, verb, count) for count in (FEW, COUNT)]
    note = "" if None in programs else f"git's own children included: {programs[0]} and {programs[1]}"
    wrong = [] if few == many else [f"grows with N: {few} at N={FEW}, {many} at N={COUNT:,}"]
    what = f"processes {verb} starts, N={COUNT:,}"
    return Row(what, [many], f"N={FEW}", [few], unit="processes", at_most=1, note=note, checks=wrong)


def _programs(bench: Bench, verb: str, count: int) -> int | None:
    """How many programs our verb runs in all, git's own included; ``None`` without strace."""
    if not shutil.which("strace"):
        return None
    log = bench.folder / "strace"
    bench.ours(verb, count, before=[*TRACE, str(log)])
    return sum(line.rstrip().endswith("= 0") for line in log.read_text(errors="replace").splitlines()) - 1


def _memory(bench: Bench) -> Row:
    ours = bench.ours("accept", COUNT)["kib"] / 1024
    bare = bench.ours("pending", FEW)["kib"] / 1024
    return Row(f"peak memory of accept, N={COUNT:,}", [ours], f"pending, N={FEW}", [bare], unit="MiB")
