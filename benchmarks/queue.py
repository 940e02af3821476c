"""The review queue with a thousand candidates, each its own skill file, beside the original ``ramabana.learned``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import books
from benchmarks.peers import PEER, Peer, peer
from benchmarks.table import Row, in_turns

COUNT, FEW = 1000, 10
TIMES = 3
TIMES_BARE = 5
WHAT = {"pending": f"pending, N={COUNT:,}", "accept": f"accept and restack, N={COUNT:,}"}
DRIVE = Path(__file__).with_name("drive.py")


class Bench:
    """One book as a pattern, and verbs run on fresh copies of it."""

    def __init__(self, folder: Path, other: Peer) -> None:
        self.folder, self.peer = folder, other
        self.env = {**os.environ, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
        self.env.pop("XDG_CONFIG_HOME", None)
        if other.git_folder:
            self.env["PATH"] = other.git_folder + os.pathsep + self.env["PATH"]
        self.patterns = {count: books.build(folder / f"book-{count}" / "learned", count) for count in (FEW, COUNT)}

    def ours(self, verb: str, count: int = COUNT) -> dict[str, Any]:
        """Run our verb once."""
        return self._run(sys.executable, "lessonbook.learned", verb, count)

    def theirs(self, verb: str, count: int = COUNT) -> dict[str, Any]:
        """Run the original's verb once."""
        return self._run(self.peer.python, "ramabana.learned", verb, count)

    def import_bare(self) -> float:
        """Seconds ``git fast-import`` takes for the same commits and refs, into a repository without any."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            subprocess.run(["git", "init", "-q", "-b", "main", place], check=True, env=self.env)
            data, start = books.stream(COUNT), time.perf_counter()
            subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=data, check=True, env=self.env)
            return time.perf_counter() - start

    def programs(self, verb: str, count: int) -> int | None:
        """How many programs our verb runs in all, git's own included; ``None`` without strace."""
        if not shutil.which("strace"):
            return None
        log = self.folder / "strace"
        trace = ["strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", str(log)]
        self._run(sys.executable, "lessonbook.learned", verb, count, before=trace)
        return sum(line.rstrip().endswith("= 0") for line in log.read_text(errors="replace").splitlines()) - 1

    def _run(
        self, python: str, module: str, verb: str, count: int, before: tuple[str, ...] | list[str] = ()
    ) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            copy = Path(place) / "learned"
            shutil.copytree(self.patterns[count], copy, symlinks=True)
            which = [] if verb == "pending" else [books.identifier(count // 2)]
            command = [*before, python, "-P", str(DRIVE), module, verb, str(copy), *which]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.env)
            if done.returncode:
                raise RuntimeError(f"{module}.{verb} failed: {done.stderr.strip()[-300:]}")
            answer: dict[str, Any] = json.loads(done.stdout)
            return answer


def run() -> list[Row]:
    """Measure ``pending`` and ``accept``, what they start, and what plain git takes for the same work."""
    other = peer()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), other)
        rows = [row for verb in WHAT for row in _side_by_side(bench, verb)]
        return [*rows, _beside_import(bench), *(_processes(bench, verb) for verb in WHAT), _memory(bench)]


def _side_by_side(bench: Bench, verb: str) -> list[Row]:
    """Wall time, which the bar is on, and processor time, which a busy machine blurs less."""
    if bench.peer.missing:
        (answers,) = in_turns(TIMES_BARE, lambda: bench.ours(verb))
        note = f"no peer: {bench.peer.missing}"
        return [Row(WHAT[verb], [a["seconds"] for a in answers], note=note, checks=_wrong(verb, answers))]
    answers, theirs = in_turns(TIMES, lambda: bench.ours(verb), lambda: bench.theirs(verb))
    wall, cpu = ([[answer[kind] for answer in side] for side in (answers, theirs)] for kind in ("seconds", "cpu"))
    note, wrong = f"both with {bench.peer.git}", _wrong(verb, answers)
    return [
        Row(WHAT[verb], wall[0], PEER, wall[1], at_least=20, note=note, checks=wrong),
        Row(f"{WHAT[verb]}: processor time", cpu[0], PEER, cpu[1], at_least=20, note="git's included"),
    ]


def _wrong(verb: str, answers: list[dict[str, Any]]) -> list[str]:
    """What a right answer looks like: every candidate in the list, every other one moved."""
    right = {"rows": COUNT, "stale": 0} if verb == "pending" else {"ok": True, "moved": COUNT - 1, "stale": 0}
    said = [{key: answer["said"].get(key) for key in right} for answer in answers]
    return [f"answered {wrong}" for wrong in said if wrong != right][:1]


def _beside_import(bench: Bench) -> Row:
    ours, bare = in_turns(TIMES_BARE, lambda: float(bench.ours("accept")["seconds"]), bench.import_bare)
    return Row(
        f"accept and restack, N={COUNT:,}",
        ours,
        "git fast-import",
        bare,
        note="the same commits and refs, nothing else",
    )


def _processes(bench: Bench, verb: str) -> Row:
    few, many = (bench.ours(verb, count)["processes"] for count in (FEW, COUNT))
    programs = [bench.programs(verb, count) for count in (FEW, COUNT)]
    note = "" if None in programs else f"git's own children included: {programs[0]} and {programs[1]}"
    wrong = [] if few == many else [f"grows with N: {few} at N={FEW}, {many} at N={COUNT:,}"]
    what = f"processes {verb} starts, N={COUNT:,}"
    return Row(what, [many], f"N={FEW}", [few], unit="processes", at_most=1, note=note, checks=wrong)


def _memory(bench: Bench) -> Row:
    ours = bench.ours("accept")["kib"] / 1024
    bare = bench._run(sys.executable, "lessonbook.learned", "pending", FEW)["kib"] / 1024
    return Row(f"peak memory of accept, N={COUNT:,}", [ours], f"pending, N={FEW}", [bare], unit="MiB")
