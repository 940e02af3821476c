"""``lessonbook status``: books, memory, skills and switches in one look."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from lessonbook.hosts.cli.output import Out, amount

if TYPE_CHECKING:
    from lessonbook.actions.status import BookStatus, Status

EXAMPLES = """
  lessonbook status                            how things stand in this folder
  lessonbook status --cwd ~/src/app --json     in another one, for programs"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``status``."""
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="a folder of the project (default: here)")


def run(args: argparse.Namespace, out: Out) -> int:
    """Print how things stand."""
    from lessonbook.actions.status import status
    from lessonbook.hosts.cli.here import folder, setup

    where, settings = setup()
    found = status(where, settings, folder(args.cwd), time())
    out.result({"ok": True, **asdict(found)}, _text(found))
    return 0


def _text(found: Status) -> str:
    learn = "offered to agents" if found.autolearn and found.memory != "off" else "not offered to agents"
    lessons = "" if found.lessons is None else f", {amount(found.lessons, 'lesson')} for this project"
    skills = ", ".join(f"{count} {origin}" for origin, count in found.skills.items())
    problems = f"; {amount(found.skill_problems, 'problem')}" if found.skill_problems else ""
    rows = [
        ("project", found.project),
        ("learning", "on" if found.learning else "off: nothing learned is briefed"),
        ("learn tool", f"{learn}{', skills wait for review' if found.autolearn_review else ''}"),
        ("memory", f"{found.memory}{lessons}"),
        ("skills", f"{skills}{problems}"),
        *((f"book {book.book}", _book(book)) for book in found.books),
        *found.places.items(),
        *(("trouble", f"{trouble} (`lessonbook doctor`)") for trouble in found.troubles),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _book(book: BookStatus) -> str:
    if book.trouble:
        return f"{book.trouble} (`lessonbook doctor`)"
    waits = f"{book.pending} pending{f' ({book.stale} stale)' if book.stale else ''}"
    here = "" if book.counts_here else "; another project's"
    if book.head is None:
        return f"nothing accepted yet, {waits}{here}"
    size = f"AGENTS.md {book.characters:,} of 2,000 characters, {amount(book.skills, 'skill')}"
    return f"HEAD {book.head}, {waits}, {size}{here}"
