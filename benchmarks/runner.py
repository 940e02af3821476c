"""Runs one verb on a fresh copy of a book, of ours or of the original, or plain git on the same copy."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import books
from benchmarks.peers import Peer

DRIVE = Path(__file__).with_name("drive.py")
Answer = dict[str, Any]
"""What ``drive.py`` prints: ``seconds``, ``cpu``, ``processes``, ``kib`` and ``said``."""


class Bench:
    """Books of one mix as patterns, each built when it is first asked for; nothing ever runs on a pattern itself."""

    def __init__(self, folder: Path, other: Peer, mix: str = "skills") -> None:
        self.folder, self.peer, self.mix = folder / mix, other, mix
        self.folder.mkdir(parents=True)
        self.env = {**os.environ, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
        self.env.pop("XDG_CONFIG_HOME", None)
        if other.git_folder:
            self.env["PATH"] = other.git_folder + os.pathsep + self.env["PATH"]

    def ours(self, verb: str, count: int, ids: Sequence[str] | None = None, before: Sequence[str] = ()) -> Answer:
        """Run our verb once; ``before`` is a command to run it under. Without ids it gets the one in the middle."""
        with self.copy(count) as book:
            return self._run(sys.executable, "lessonbook.learned", verb, book, self._ids(verb, count, ids), before)

    def listed(self, book: Path) -> Answer:
        """Run our ``pending``, which only reads, in a copy that is there already."""
        return self._run(sys.executable, "lessonbook.learned", "pending", book, [])

    def theirs(self, verb: str, count: int) -> Answer:
        """Run the original's verb once, on the same candidate."""
        with self.copy(count) as book:
            return self._run(self.peer.python, "ramabana.learned", verb, book, self._ids(verb, count, None))

    def outcome(self, count: int) -> tuple[bytes, bytes]:
        """Return what accepting comes to, as a stream for ``git fast-import``, and the refs it leaves."""
        with self.copy(count) as book:
            known = [f"^{line.split()[0]}" for line in self.refs(book).decode().splitlines()]
            self._run(sys.executable, "lessonbook.learned", "accept", book, self._ids("accept", count, None))
            stream = self.git(book, "fast-export", "--reference-excluded-parents", "--all", *known)
            return stream, self.refs(book)

    def bare(self, count: int, stream: bytes, refs: bytes) -> Answer:
        """Move the same refs to the same commits, in a copy of the same book, with ``git fast-import`` alone."""
        with self.copy(count) as book:
            used, start = _children(), time.perf_counter()
            self.git(book, "fast-import", "--quiet", "--force", data=stream)
            answer = {"seconds": time.perf_counter() - start, "cpu": _children() - used}
            missing = set(refs.splitlines()) - set(self.refs(book).splitlines())
            return {**answer, "said": {"missing": len(missing)}}

    @contextmanager
    def copy(self, count: int) -> Iterator[Path]:
        """Yield a fresh copy of the book; on disk before anything is timed, or the first to sync would pay for it."""
        pattern = self.folder / f"book-{count}" / "learned"
        if not pattern.exists():
            books.build(pattern, count, self.mix)
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            book = Path(place) / "learned"
            shutil.copytree(pattern, book, symlinks=True)
            os.sync()
            yield book

    def git(self, book: Path, *args: str, data: bytes = b"") -> bytes:
        """Run plain git in a book and return what it prints."""
        command = ["git", "-C", str(book), *args]
        return subprocess.run(command, input=data, check=True, capture_output=True, env=self.env).stdout

    def refs(self, book: Path) -> bytes:
        """Return every ref of a book with its commit, one a line."""
        return self.git(book, "for-each-ref", "--format=%(objectname) %(refname)")

    def _ids(self, verb: str, count: int, ids: Sequence[str] | None) -> Sequence[str]:
        middle = [] if verb == "pending" else [books.identifier(count // 2)]
        return middle if ids is None else ids

    def _run(
        self, python: str, module: str, verb: str, book: Path, ids: Sequence[str], before: Sequence[str] = ()
    ) -> Answer:
        command = [*before, python, "-P", str(DRIVE), module, verb, str(book), *ids]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.env)
        if done.returncode:
            raise RuntimeError(f"{module}.{verb} failed: {done.stderr.strip()[-300:]}")
        answer: Answer = json.loads(done.stdout)
        return answer


def _children() -> float:
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime
