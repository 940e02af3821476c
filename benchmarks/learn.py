"""Lessons kept per second by the ``learn`` tool, by one process and by sixteen, beside a bare synced append."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import partial
from typing import Any

from benchmarks.table import Row, in_turns

BARE = "bare"
BACKENDS = ("local", "mnemopi")
ALONE, EACH, MANY = 200, 50, 16
TIMES = 3
WORKER = [sys.executable, "-m", "benchmarks.learner"]


def run() -> list[Row]:
    """Measure both backends alone and crowded, what is there afterwards, and the memory it takes."""
    rows = []
    for backend in BACKENDS:
        for processes, each in ((1, ALONE), (MANY, EACH)):
            ours, bare = in_turns(
                TIMES, partial(_crowd, backend, processes, each), partial(_crowd, BARE, processes, each)
            )
            rows += _rows(backend, processes, each, ours, bare)
    return rows


def _rows(backend: str, processes: int, each: int, ours: list[dict[str, Any]], bare: list[dict[str, Any]]) -> list[Row]:
    total = processes * each
    kept = [found["kept"] for found in ours]
    wrong = [f"{min(kept)} of {total} lessons are there afterwards"] if min(kept) != total else []
    per_lesson = [[found["seconds"] / total for found in side] for side in (ours, bare)]
    what = f"learn, {backend}, {processes} × {each}"
    note = f"{total / min(found['seconds'] for found in ours):,.0f} lessons a second at best; all {total} there"
    memory = [[found["kib"] / 1024 for found in side] for side in (ours, bare)]
    rows = [Row(f"{what}: one lesson", per_lesson[0], "append and fsync", per_lesson[1], note=note, checks=wrong)]
    if processes == 1:
        rows.append(Row(f"{what}: peak memory", memory[0], "append and fsync", memory[1], unit="MiB"))
    return rows


def _crowd(backend: str, processes: int, each: int) -> dict[str, Any]:
    """Start the processes, let them all go at once, and tell how long it took until the last was done."""
    with tempfile.TemporaryDirectory() as place:
        workers = [_worker(backend, place, str(number), str(each)) for number in range(processes)]
        for worker in workers:
            if worker.stdout:
                worker.stdout.readline()
        answers = [json.loads(said) for said in _all_at_once(workers)]
        seconds = max(answer["end"] for answer in answers) - min(answer["start"] for answer in answers)
        kept = subprocess.run([*WORKER, backend, place, "count"], capture_output=True, text=True, check=True).stdout
        return {"seconds": seconds, "kept": int(kept), "kib": max(answer["kib"] for answer in answers)}


def _worker(*args: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*WORKER, *args], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _all_at_once(workers: list[subprocess.Popen[str]]) -> list[str]:
    """Give every worker the word before waiting for any, and return what each printed."""
    for worker in workers:
        if worker.stdin:
            with suppress(BrokenPipeError):  # one that died says so below
                worker.stdin.write("go\n")
                worker.stdin.flush()
    said = [worker.communicate() for worker in workers]
    failed = [
        error.strip().splitlines()[-1:] for worker, (_, error) in zip(workers, said, strict=True) if worker.returncode
    ]
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(workers)} processes failed: {' '.join(failed[0])}")
    return [out for out, _ in said]
