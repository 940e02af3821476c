"""The review queue with a thousand candidates in three mixes, beside the original ``ramabana.learned`` and plain git.

``skills``: each adds a skill file of its own. ``append``: each adds a paragraph to the end of ``AGENTS.md``, which the
original cannot merge. ``lines``: each edits one of its sixty lines, so that some exclude each other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks import books
from benchmarks.peers import PEER, peer
from benchmarks.runner import Answer, Bench
from benchmarks.table import Row, in_turns

COUNT, MANY, AT_ONCE, SINGLE = 1000, 10_000, 100, 10
TIMES, TIMES_BARE, TIMES_READ = 2, 3, 5
"""The original takes about twenty seconds for one accept, so two turns have to do where it takes part."""
BARS = {"pending": 60, "accept": 35}
WHAT = {"pending": "pending", "accept": "accept and restack", "reject": "reject"}


def run() -> list[Row]:
    """Measure each mix beside the original and plain git, then what has no counterpart in it."""
    rows, other = [], peer()
    with tempfile.TemporaryDirectory() as place:
        for mix in books.MIXES:
            bench = Bench(Path(place), other, mix)
            rows += [row for verb in WHAT for row in _verb(bench, verb)] + _beside_import(bench)
            if mix == "skills":
                rows += [*_at_once(bench), *_growth(bench)]
    return rows


def _verb(bench: Bench, verb: str) -> list[Row]:
    """Wall time, which the bar is on, and processor time, which a busy machine blurs less."""
    what, mine = _what(bench, verb), partial(bench.ours, verb, COUNT)
    if bench.peer.missing:
        (ours,) = in_turns(TIMES_BARE, mine)
        return [Row(what, _each(ours), note=f"no peer: {bench.peer.missing}", checks=_wrong(bench.mix, verb, ours))]
    comparable = bench.mix != "append" or verb != "accept"
    times = TIMES_READ if verb == "pending" else TIMES if comparable else 1
    ours, theirs = in_turns(times, mine, partial(bench.theirs, verb, COUNT))
    checks = _wrong(bench.mix, verb, ours) + (_differs(ours, theirs) if comparable else [])
    note = f"both with {bench.peer.git}"
    if not comparable:
        note = f"gone stale: {ours[0]['said']['stale']} of ours, {theirs[0]['said']['stale']} of the original's"
    if verb == "reject":
        note = "the original deletes the branch; ours remembers what was rejected"
    bar = BARS.get(verb) if comparable else None
    return [
        Row(what, _each(ours), PEER, _each(theirs), at_least=bar, note=note, checks=checks),
        _processor(what, ours, PEER, theirs, at_least=bar),
    ]


def _beside_import(bench: Bench) -> list[Row]:
    """The same refs moved to the same commits, in a copy of the same book on the same disk."""
    stream, refs = bench.outcome(COUNT)
    ours, bare = in_turns(TIMES_BARE, partial(bench.ours, "accept", COUNT), partial(bench.bare, COUNT, stream, refs))
    checks = _wrong(bench.mix, "accept", ours)
    if missing := bare[0]["said"]["missing"]:
        checks.append(f"plain git wrote {missing} refs fewer")
    what, beside = _what(bench, "accept"), "git fast-import"
    return [
        Row(what, _each(ours), beside, _each(bare), at_most=2.5, note="the same commits and refs", checks=checks),
        _processor(what, ours, beside, bare, at_most=2.5),
    ]


def _at_once(bench: Bench) -> list[Row]:
    """A hundred in one move, beside single moves of ours; a tenth of those, since each restacks all the others."""
    ids = [books.identifier(number) for number in range(0, COUNT, COUNT // AT_ONCE)]
    ours, some = in_turns(
        TIMES, partial(bench.ours, "accept_many", COUNT, ids), partial(bench.ours, "accept_each", COUNT, ids[:SINGLE])
    )
    single = [{kind: answer[kind] * AT_ONCE / SINGLE for kind in ("seconds", "cpu")} for answer in some]
    right = {"ok": True, "accepted": AT_ONCE, "refused": 0, "moved": COUNT - AT_ONCE, "stale": 0}
    what, beside = f"accept of {AT_ONCE} at once, N={COUNT:,}, skills", f"{AT_ONCE} single accepts of ours"
    note, checks = f"{SINGLE} single ones, scaled", _unlike(right, ours)
    return [
        Row(what, _each(ours), beside, _each(single), at_least=1, note=note, checks=checks),
        _processor(what, ours, beside, single, at_least=1),
    ]


def _growth(bench: Bench) -> list[Row]:
    """Ten times the candidates: little more than ten times the time, and memory that stays bounded."""
    with bench.copy(MANY) as large, bench.copy(COUNT) as small:
        many, few = in_turns(TIMES_READ, partial(bench.listed, large), partial(bench.listed, small))
    what, beside = f"pending, N={MANY:,}, skills", f"N={COUNT:,}"
    checks = _unlike({"rows": MANY, "stale": 0}, many)
    mib = [[answer["kib"] / 1024 for answer in side] for side in (many, few)]
    return [
        Row(what, _each(many), beside, _each(few), at_most=12, checks=checks),
        _processor(what, many, beside, few, at_most=12),
        Row(f"peak memory of pending, N={MANY:,}, skills", mib[0], beside, mib[1], unit="MiB"),
    ]


def _processor(
    what: str,
    ours: Sequence[Answer],
    beside: str,
    theirs: Sequence[Answer],
    at_least: float | None = None,
    at_most: float | None = None,
) -> Row:
    """The row of processor time that goes with a row of wall time, under the same bar."""
    used, note = [_each(side, "cpu") for side in (ours, theirs)], "git's included"
    return Row(f"{what}: processor time", used[0], beside, used[1], at_least=at_least, at_most=at_most, note=note)


def _what(bench: Bench, verb: str) -> str:
    return f"{WHAT[verb]}, N={COUNT:,}, {bench.mix}"


def _each(answers: Sequence[Answer], kind: str = "seconds") -> list[float]:
    return [float(answer[kind]) for answer in answers]


def _wrong(mix: str, verb: str, answers: Sequence[Answer]) -> list[str]:
    """What a right answer looks like: every candidate in the list; every other one moved, unless it has to be stale."""
    stale = _excluded(COUNT // 2) if mix == "lines" else 0
    rights: dict[str, Answer] = {
        "pending": {"rows": COUNT, "stale": 0},
        "accept": {"ok": True, "moved": COUNT - 1 - stale, "stale": stale},
        "reject": {"ok": True},
    }
    return _unlike(rights[verb], answers)


def _excluded(number: int) -> int:
    """How many others edit the line of candidate ``number`` or one next to it, where git sees a conflict too."""
    lines = books.LINES
    return sum(abs(other % lines - number % lines) <= 1 for other in range(COUNT)) - 1


def _unlike(right: Answer, answers: Sequence[Answer]) -> list[str]:
    said = [{key: answer["said"].get(key) for key in right} for answer in answers]
    return [f"answered {wrong}" for wrong in said if wrong != right][:1]


def _differs(ours: Sequence[Answer], theirs: Sequence[Answer]) -> list[str]:
    """Two that did not do the same work cannot be compared in time."""
    keys = ("rows", "ok", "moved", "stale")
    mine, other = ({key: side[0]["said"].get(key) for key in keys} for side in (ours, theirs))
    return [] if mine == other else [f"the original answered {other}"]
