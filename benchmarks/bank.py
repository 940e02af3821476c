"""The bank at 1,000 to 100,000 lessons beside the original's, ``pi-mnemopi``: remember, recall, start, bytes, rows.

Both are told and asked the same, in turns, each in a process of its own on a copy of a bank grown to the size.
``LESSONBOOK_BENCH_SIZES=1000,10000`` measures fewer sizes.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.bank_peer import PEER, bank_peer
from benchmarks.bank_side import Side, Worker
from benchmarks.bank_texts import KINDS, asked_for, lesson, questions
from benchmarks.commands import PROGRAM
from benchmarks.table import Row, in_turns

SIZES = (1_000, 10_000, 50_000, 100_000)
REMEMBERED, ASKED, STARTS = 200, 60, 7
ROUNDS = 10
PATIENCE = 20.0
"""Seconds of one side after which a cell ends, after three rounds at the earliest: both sides still did the same."""
FLAT = 1.5
FIVE = 50_000
"""The size from which on a recall has to be five times as fast."""
FEW = 1_100
"""What the original is told in one session: it keeps no more than 1,000 lessons of one that has not slept."""
MEMORY = "/dev/shm"
NEW = 10_000_000
"""The number of the first lesson that no bank holds yet."""


def run() -> list[Row]:
    """Grow both banks, then measure each size."""
    other, sizes = bank_peer(), _sizes()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ours = Side(folder)
        ours.grow(sizes)
        theirs = None if other.missing else Side(folder, other)
        if theirs:
            theirs.grow(sizes)
        rows = [row for size in sizes for row in _size(ours, theirs, size, other.missing)]
        return [*rows, *_flat(ours, sizes), _all_there(ours, theirs, max(sizes))]


def _sizes() -> tuple[int, ...]:
    named = os.environ.get("LESSONBOOK_BENCH_SIZES", "")
    return tuple(sorted({int(size) for size in named.split(",")})) if named else SIZES


def _size(ours: Side, theirs: Side | None, size: int, missing: str) -> list[Row]:
    """Every row of one size."""
    rows, sides = [], [ours, *([theirs] if theirs else [])]
    with ExitStack() as opened:
        workers = [opened.enter_context(side.open(size)) for side in sides]
        rows.append(_remember(workers, size))
        rows += [row for kind in KINDS for row in _recall(workers, kind, size)]
    rows += _start(sides, size)
    taken = [[side.bytes(size) / size] for side in sides]
    rows.append(Row(f"bytes per lesson, {size:,} lessons", taken[0], PEER, _second(taken), unit="B"))
    if missing:
        rows = [Row(row.what, row.ours, note=f"{row.note}; no peer: {missing}".strip("; ")) for row in rows]
    return rows


def _remember(workers: Sequence[Worker], size: int) -> Row:
    texts = [lesson(NEW + number) for number in range(REMEMBERED)]
    answers = _in_rounds(workers, "remember", [lesson(NEW - 1 - number) for number in range(5)], texts)
    what, note = f"remember, {size:,} lessons: p50", _processor(answers)
    return Row(what, answers[0]["seconds"], PEER, _seconds(answers), at_least=1, note=note)


def _recall(workers: Sequence[Worker], kind: str, size: int) -> list[Row]:
    texts = questions(kind, size, ASKED)
    answers = _in_rounds(workers, "recall", questions(kind, size + 1, 2), texts)
    what, bar = f"recall of {kind}, {size:,} lessons", 5 if size >= FIVE else 1
    checks = _not_found(texts, answers[0]["found"]) if kind == "a rare term" else []
    tails = [[_quantile(answer["seconds"], 0.95)] for answer in answers]
    return [
        Row(
            f"{what}: p50",
            answers[0]["seconds"],
            PEER,
            _seconds(answers),
            at_least=bar,
            note=_processor(answers),
            checks=checks,
        ),
        Row(f"{what}: p95", tails[0], PEER, _second(tails), at_least=bar),
    ]


def _start(sides: Sequence[Side], size: int) -> list[Row]:
    """Whole commands, from the start of the process to the end, that recall once."""
    question = f"code E{size // 2}"
    with ExitStack() as opened:
        places = [opened.enter_context(side.copy(size)) for side in sides]
        commands = [side.first(place, question) for side, place in zip(sides, places, strict=True)]
        commands.append([*PROGRAM, "recall", question, "--cwd", str(sides[0].work)])
        env = _environment(sides[0].work.parent / "home", places[0])
        checks = [_says(command, env, asked_for(question)) for command in commands]
        samples = in_turns(STARTS, *(partial(_whole, command, env) for command in commands))
    theirs = samples[1] if len(samples) == 3 else []
    return [
        Row(f"start to first recall, {size:,} lessons: {how}", found, PEER, theirs, at_least=1, checks=wrong)
        for how, found, wrong in (
            ("a program", samples[0], checks[0]),
            ("lessonbook recall", samples[-1], checks[-1]),
        )
    ]


def _flat(ours: Side, sizes: Sequence[int]) -> list[Row]:
    """The largest bank beside the smallest, in turns."""
    small, large = min(sizes), max(sizes)
    if small == large:
        return []
    with ours.open(large) as one, ours.open(small) as other:
        texts = [lesson(NEW + number) for number in range(REMEMBERED)]
        answers = _in_rounds([one, other], "remember", [lesson(NEW - 1 - number) for number in range(5)], texts)
    found, beside = (answer["seconds"] for answer in answers)
    what = f"remember, {large:,} lessons: flat"
    return [Row(what, found, f"ours at {small:,}", beside, at_most=FLAT, note=_processor(answers))]


def _all_there(ours: Side, theirs: Side | None, told: int) -> Row:
    """Whether each is still there. Durability is not the question, so a disk in memory is used where there is one."""
    room = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=room) as place:
        there, seconds = ours.told(Path(place), told)
    wrong = [f"{there:,} of {told:,} lessons are there"] if there != told else []
    note = f"{told / seconds:,.0f} a second{' in memory' if room else ''}"
    if theirs:
        with tempfile.TemporaryDirectory(dir=room) as place:
            note += f"; the original's keeps {theirs.told(Path(place), FEW)[0]:,} of {FEW:,}"
    return Row(f"rows after {told:,} remembers in one session", [there], unit="rows", note=note, checks=wrong)


def _in_rounds(workers: Sequence[Worker], do: str, before: Sequence[str], texts: Sequence[str]) -> list[dict[str, Any]]:
    """Give every worker the same texts in rounds, A B A B …, and return what each answered, put together."""
    for worker in workers:
        worker.ask(do, before)
    step = math.ceil(len(texts) / ROUNDS)
    parts = [texts[first : first + step] for first in range(0, len(texts), step)]
    answers: list[dict[str, Any]] = [{"seconds": [], "found": [], "cpu": 0.0} for _ in workers]
    for number, part in enumerate(parts):
        if number >= 3 and any(sum(answer["seconds"]) > PATIENCE for answer in answers):
            break
        for answer, worker in zip(answers, workers, strict=True):
            said = worker.ask(do, part)
            for key in answer:
                answer[key] += said[key]
    return answers


def _processor(answers: Sequence[dict[str, Any]]) -> str:
    """What the calls took of a processor, which a busy machine blurs less."""
    each = [answer["cpu"] / len(answer["seconds"]) * 1e3 for answer in answers]
    return "processor " + " beside ".join(f"{value:.3g} ms" for value in each)


def _not_found(texts: Sequence[str], found: Sequence[Sequence[str]]) -> list[str]:
    """A fast answer that is wrong is worth nothing."""
    lost = [
        text
        for text, lessons in zip(texts, found, strict=False)  # some were perhaps not asked
        if not any(one.startswith(asked_for(text)) for one in lessons)
    ]
    return [f"{len(lost)} of {len(found)} not among the first five, such as {lost[0]!r}"] if lost else []


def _seconds(answers: Sequence[dict[str, Any]]) -> list[float]:
    return answers[1]["seconds"] if len(answers) > 1 else []


def _second(samples: Sequence[list[float]]) -> list[float]:
    return samples[1] if len(samples) > 1 else []


def _quantile(samples: Sequence[float], part: float) -> float:
    return sorted(samples)[min(len(samples) - 1, int(part * len(samples)))]


def _environment(home: Path, agent_dir: Path) -> dict[str, str]:
    """A home whose configuration names the bank; compiled modules are kept, as in any installation."""
    config = home / ".config" / "lessonbook" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"agent_dir = {str(agent_dir)!r}\n[memory]\nbackend = 'mnemopi'\n")
    gone = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LESSONBOOK_CONFIG", "PYTHONDONTWRITEBYTECODE")
    return {**{key: value for key, value in os.environ.items() if key not in gone}, "HOME": str(home)}


def _says(command: Sequence[str], env: dict[str, str], sign: str) -> list[str]:
    """Run it once, so that what it needs is in the cache of the system, and tell what is wrong with its answer."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return (
        [] if sign in done.stdout else [f"{sign!r} is not in what it printed: {(done.stdout or done.stderr)[-120:]!r}"]
    )


def _whole(command: Sequence[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True, env=env)
    return time.perf_counter() - start
