"""``lessonbook doctor``: what is wrong here and what to do about it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from time import time

from lessonbook.hosts.cli.output import Out

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

    checks = examine(places(), folder(args.cwd), time())
    wrong = [check for check in checks if check.level is Level.PROBLEM]
    lines = []
    for check in checks:
        lines.append(f"{_MARKS[check.level]:<5}  {check.what}: {check.found}")
        lines += [f"       → {check.do}"] if check.do else []
    lines.append(f"\n{len(wrong)} to repair" if wrong else "\nnothing is wrong")
    out.result({"ok": not wrong, "checks": [asdict(check) for check in checks]}, "\n".join(lines))
    return 1 if wrong else 0
