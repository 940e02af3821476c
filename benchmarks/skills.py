"""How long five hundred skills take to be found and checked, beside the reference checker of their specification.

The skills are those in the folder that ``LESSONBOOK_SKILLS`` names, ``../shared/data/skills`` by default; where there
is none, as many made here.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks.table import Row, in_turns

DATA = Path(os.environ.get("LESSONBOOK_SKILLS") or Path(__file__).parents[2] / "shared" / "data" / "skills")
COUNT = 500
SECONDS = 2.0
"""What ``COUNT`` skills may take."""
TIMES = 3


def run() -> list[Row]:
    """Find and check them as ``lessonbook skills`` and ``lessonbook skills lint`` do."""
    from lessonbook.skills.discovery import discover
    from lessonbook.skills.lint import lint

    with _home() as home:
        root = home / ".claude" / "skills"
        folders = sorted(root.glob("*/*"))
        count, faults = lint(root)
        twice = [
            f"{path} is said twice: {text}"
            for (path, text), times in Counter((f.path, f.text) for f in faults).items()
            if times > 1
        ]
        found = discover(home, None, home / "none")
        missing = count - len(found.skills) - len({p.path for p in found.problems})
        lost = [f"{missing} skills are neither found nor said to be wrong"] if missing > 0 else []
        what = f"{count} {'public' if DATA.is_dir() else 'made'} skills"
        ways: list[Callable[[], object]] = [partial(discover, home, None, home / "none"), partial(lint, root)]
        beside: list[Callable[[], object]] = [partial(_reference, folders)] if find_spec("skills_ref") else []
        found_in, checked_in, *theirs = in_turns(TIMES, *(partial(_seconds, way) for way in (*ways, *beside)))
        note = f"{len(faults)} faults and notes"
        rows = []
        for name, took, wrong in (("found", found_in, lost), ("checked", checked_in, twice)):
            late = [f"over {SECONDS:g} s for {COUNT}"] if min(took) > SECONDS * count / COUNT else []
            reference = theirs[0] if theirs else ()
            rows.append(
                Row(
                    f"{what}, {name}",
                    took,
                    "skills-ref, one by one",
                    reference,
                    at_most=1,
                    note=note,
                    checks=wrong + late,
                )
            )
        return rows


@contextmanager
def _home() -> Iterator[Path]:
    """A home whose Claude Code has the skills, each linked from a folder of its own, as names come again."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        given = sorted(DATA.rglob("SKILL.md")) if DATA.is_dir() else list(_made(home / "made"))
        for number, path in enumerate(given):
            group = home / ".claude" / "skills" / f"group-{number}"
            group.mkdir(parents=True)
            (group / path.parent.name).symlink_to(path.parent)
        yield home


def _made(folder: Path) -> Iterator[Path]:
    for number in range(COUNT):
        path = folder / f"skill-{number:03}" / "SKILL.md"
        path.parent.mkdir(parents=True)
        about = f"Use when task {number} comes up: checks thing {number % 17} and writes the report."
        path.write_text(f"---\nname: skill-{number:03}\ndescription: {about!r}\n---\n\n" + "1. Take a step.\n" * 60)
        yield path


def _reference(folders: list[Path]) -> None:
    import skills_ref

    for folder in folders:
        try:
            skills_ref.validate(folder)
        except Exception:  # noqa: BLE001  it breaks on some files
            continue


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start
