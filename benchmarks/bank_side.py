"""One side of the ``bank`` bench: a bank grown once to each size, and a process that works on a copy of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.bank_peer import BankPeer
from benchmarks.bank_texts import lesson

THEIRS = Path(__file__).with_name("bank_theirs.ts")
_AT_ONCE = 1000
_FIRST = """
import sys
from pathlib import Path
from time import time
from lessonbook import Settings, identify, open_memory
agent, work, question = sys.argv[1:]
memory = open_memory(Settings(agent_dir=Path(agent), memory_backend="mnemopi"), identify(Path(work)), time, Path(work))
print(memory.recall(question, 5)[0].text)
"""
"""The whole of a program that recalls once through our public face."""


class Worker:
    """A process that holds one bank open and times what it is told to do."""

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def ask(self, do: str, texts: Sequence[str] = ()) -> dict[str, Any]:
        """Have it done and return the answer; raises ``RuntimeError`` with what the process said when it died."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps({"do": do, "texts": list(texts)}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            said = self._process.communicate()[1].strip().splitlines()[-1:]
            raise RuntimeError(f"the process of a bank ended: {' '.join(said)[:200]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Let it close the bank and end."""
        self._process.communicate(timeout=120)


class Side:
    """A bank of ours, or of the original's where ``peer`` is given, at several sizes below ``folder``."""

    def __init__(self, folder: Path, peer: BankPeer | None = None) -> None:
        self.name = "theirs" if peer else "ours"
        self._folder, self._peer = folder / self.name, peer
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)

    def grow(self, sizes: Sequence[int]) -> None:
        """Fill one bank, many lessons at once, and copy it at each size."""
        growing = self._folder / "growing"
        growing.mkdir(parents=True)
        worker = self.worker(growing)
        there = 0
        for size in sorted(sizes):
            for first in range(there, size, _AT_ONCE):
                worker.ask("fill", [lesson(number) for number in range(first, min(first + _AT_ONCE, size))])
            there = size
            # Nobody writes meanwhile, so the copy is whole, with all that lies beside the file.
            shutil.copytree(growing, self._pattern(size))
        worker.end()
        shutil.rmtree(growing)
        for size in sizes:
            self._settle(self._pattern(size))

    def told(self, place: Path, count: int) -> tuple[int, float]:
        """Tell one session so many lessons one by one; return how many are there then, and the seconds it took."""
        worker, start = self.worker(place), time.perf_counter()
        for first in range(0, count, _AT_ONCE):
            worker.ask("remember", [lesson(number) for number in range(first, min(first + _AT_ONCE, count))])
        seconds, there = time.perf_counter() - start, int(worker.ask("count")["count"])
        worker.end()
        return there, seconds

    def bytes(self, size: int) -> int:
        """Return how many bytes a closed bank of that size takes, with all that lies beside it."""
        return sum(path.stat().st_size for path in self._pattern(size).rglob("*") if path.is_file())

    @contextmanager
    def copy(self, size: int) -> Iterator[Path]:
        """Yield a fresh copy of the bank; on disk before anything is timed, or the first to sync would pay for it."""
        place = self._folder / f"copy-{size}"
        shutil.copytree(self._pattern(size), place)
        os.sync()
        try:
            yield place
        finally:
            shutil.rmtree(place)

    @contextmanager
    def open(self, size: int) -> Iterator[Worker]:
        """Yield a process on a fresh copy."""
        with self.copy(size) as place:
            worker = self.worker(place)
            yield worker
            worker.end()

    def worker(self, place: Path) -> Worker:
        """Start a process on the bank of a folder."""
        if self._peer:
            return Worker([self._peer.bun, str(THEIRS), self._peer.module, str(place / "mnemopi.db")])
        return Worker([sys.executable, "-m", "benchmarks.bank_ours", str(place), str(self.work)])

    def first(self, place: Path, question: str) -> list[str]:
        """Return the command of a program that recalls once in the bank of a folder, and prints the best lesson."""
        if self._peer:
            return [self._peer.bun, str(THEIRS), self._peer.module, str(place / "mnemopi.db"), question]
        return [sys.executable, "-c", _FIRST, str(place), str(self.work), question]

    def _settle(self, pattern: Path) -> None:
        """Open and close it once, so that nothing waits in a write-ahead log."""
        worker = self.worker(pattern)
        worker.ask("recall", ["cache"])
        worker.end()

    def _pattern(self, size: int) -> Path:
        return self._folder / f"bank-{size}"
