"""``lessonbook doctor``: what is wrong here and what to do about it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from time import time

from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.check import Check

EXAMPLES = """
  lessonbook doctor            exit code 0 where nothing is wrong, 1 where something is
  lessonbook doctor --json     the same, for programs"""

_MARKS = {"fine": "ok  ", "note": "note", "problem": "WRONG"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``doctor``."""
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="a folder of the project (default: here)")


def run(args: argparse.Namespace, out: Out) -> int:
    """Print every check; exit code 1 where one found a problem."""
    from lessonbook.actions.check import Level
    from lessonbook.actions.doctor import examine
    from lessonbook.hosts.cli.here import folder
    from lessonbook.system.settings import places

    checks = [*examine(places(), folder(args.cwd), time()), *_doubts()]
    wrong = [check for check in checks if check.level is Level.PROBLEM]
    lines = []
    for check in checks:
        lines.append(f"{_MARKS[check.level]:<5}  {check.what}: {check.found}")
        lines += [f"       → {check.do}"] if check.do else []
    lines.append(f"\n{len(wrong)} to repair" if wrong else "\nnothing is wrong")
    out.result({"ok": not wrong, "checks": [asdict(check) for check in checks]}, "\n".join(lines))
    return 1 if wrong else 0


def _doubts() -> list[Check]:
    """Say what keeps an agent that is set up from running our hooks, such as an approval only the person can give."""
    from lessonbook.actions.check import Check, Level
    from lessonbook.actions.setup_entries import Where
    from lessonbook.actions.setup_receipts import known
    from lessonbook.hosts.agents.registry import AGENTS, agents
    from lessonbook.system.settings import environment, places
    from lessonbook.system.surroundings import found

    where = places()
    names = [name for name in known(where.state) if name in AGENTS]
    about = Where(where.home, environment(), found)
    told = ((agent, doubt) for agent in agents(names) for doubt in agent.doubts(about, False)) if names else ()
    do = "`lessonbook setup --check` tries everything out."
    return [Check("agents", Level.PROBLEM, f"{agent.name}: {doubt}", do) for agent, doubt in told]
