"""How many of a project's later mistakes the lessons of its earlier sessions name, without any model.

The sessions are no part of this project: they are read from the folder that ``LESSONBOOK_HISTORIES`` names, one folder
for each project, ``../shared/data/histories`` by default. The first 60 % of a project's sessions, in order of their
first record, are what lessons are taken from; the rest is what they are judged by.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.history import Mistake, Project, load
from benchmarks.naming import Judged, fixed_list, judge, most_frequent
from benchmarks.table import Row

DATA = Path(__file__).parents[2] / "shared" / "data" / "histories"
RECALL, KEYS, PRECISION = 0.70, 0.50, 0.60
"""The aims, over all projects: of repeated mistakes, of their distinct keys, and of the proposals that could help."""

ENOUGH = 50
"""How many late failures a project needs before its own share means something, and is held to the fixed list."""


def run() -> list[Row]:
    """Judge each project by its late part, then all of them together."""
    data = Path(os.environ.get("LESSONBOOK_HISTORIES") or DATA)
    if not data.is_dir():
        return [Row("prevention", skipped=f"there is no folder {data}; LESSONBOOK_HISTORIES names another")]
    projects = [project for folder in sorted(data.iterdir()) if folder.is_dir() and (project := load(folder)).sessions]
    if not projects:
        return [Row("prevention", skipped=f"{data} holds no sessions we can read")]
    judged = [judge(project) for project in projects]
    rows = [row for one in judged for row in _project(one, [other for other in projects if other is not one.project])]
    return rows + list(_all(judged))


def _project(one: Judged, others: Sequence[Project]) -> Iterator[Row]:
    project = one.project
    name = project.name
    fixed = fixed_list(others)
    frequent = most_frequent(project, len(one.proposals))
    late = f"{len(project.late_failures)} late failures, {len(project.repeated)} repeated mistakes"
    enough = len(project.late_failures) >= ENOUGH
    named, by_list = len(one.named), sum(mistake.key in fixed for mistake in project.repeated)
    wrong = [f"not above the fixed list, which names {by_list}"] if enough and named <= by_list else []
    yield _share(f"{name}: recall", named, len(project.repeated), "fixed list", by_list, late, wrong)
    often = sum(mistake.key in frequent for mistake in project.repeated)
    yield _share(f"{name}: recall", named, len(project.repeated), f"{len(frequent)} most frequent keys", often)
    yield _share(
        f"{name}: distinct keys",
        len(_keys(one.named)),
        len(_keys(project.repeated)),
        "fixed list",
        len({mistake.key for mistake in project.repeated} & fixed),
    )
    yield _share(
        f"{name}: sessions helped",
        len({mistake.session for mistake in one.named}),
        len({mistake.session for mistake in project.repeated}),
        "fixed list",
        len({mistake.session for mistake in project.repeated if mistake.key in fixed}),
    )
    yield _share(f"{name}: precision", len(one.useful), len(one.proposals), note=_seldom(one))
    yield _share(f"{name}: refusals and corrections repeated", len(one.words_named), len(one.words_repeated))
    yield _per_session(one)


def _per_session(one: Judged) -> Row:
    early, made = len(one.project.early), len(one.proposals)
    wrong = [f"{made} proposals for {early} sessions"] if made > one.allowed else []
    note = f"{made} proposals from {early} sessions; {one.allowed} allowed"
    return Row(
        f"{one.project.name}: sessions for each proposal",
        [early / made] if made else [],
        note=note,
        unit="",
        checks=wrong,
    )


def _seldom(one: Judged) -> str:
    idle = [proposal.title for proposal in one.proposals if proposal not in one.useful]
    return f"of no use late: {'; '.join(idle)}" if idle else ""


def _all(judged: Sequence[Judged]) -> Iterator[Row]:
    named = [mistake for one in judged for mistake in one.named]
    repeated = [mistake for one in judged for mistake in one.project.repeated]
    useful, made = sum(len(one.useful) for one in judged), sum(len(one.proposals) for one in judged)
    yield _held("all: recall", len(named), len(repeated), RECALL)
    yield _held("all: distinct keys", len(_keys(named)), len(_keys(repeated)), KEYS)
    yield _held("all: precision", useful, made, PRECISION)


def _held(what: str, part: int, whole: int, aim: float) -> Row:
    wrong = [f"below {aim:.0%}"] if whole and part / whole < aim else []
    return _share(what, part, whole, note=f"aim {aim:.0%}", wrong=wrong)


def _share(
    what: str, part: int, whole: int, beside: str = "", theirs: int = 0, note: str = "", wrong: Sequence[str] = ()
) -> Row:
    """A share in per cent with its counts, which say more where there are few."""
    if not whole:
        return Row(what, note="there was none" + (f"; {note}" if note else ""))
    counts = f"{part} of {whole}" + (f", {beside} {theirs}" if beside else "")
    baseline = [100 * theirs / whole] if beside else []
    told = f"{counts}; {note}" if note else counts
    return Row(what, [100 * part / whole], beside, baseline, unit="%", note=told, checks=wrong)


def _keys(mistakes: Sequence[Mistake]) -> set[tuple[str, str]]:
    return {(mistake.project, mistake.key) for mistake in mistakes}
