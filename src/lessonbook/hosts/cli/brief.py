"""``lessonbook brief``: prints what the next session in a folder starts with."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import time

from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook brief                     what a session in this folder starts with
  lessonbook brief --cwd ~/src/app     … in another folder
  lessonbook brief --full              all of it, without the limits hosts set
  lessonbook brief --no-learned        without what was accepted, this once"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``brief``."""
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="the folder the session works in (default: here)")
    parser.add_argument("--full", action="store_true", help="leave nothing out, however long it gets")
    parser.add_argument("--no-learned", action="store_true", help="leave out what was accepted, this once")


def run(args: argparse.Namespace, out: Out) -> int:
    """Print the briefing; what could not be read is said on standard error."""
    from lessonbook.actions.brief import brief_here
    from lessonbook.hosts.cli.here import folder

    cwd = folder(args.cwd)
    if not cwd.is_dir():
        out.note(f"lessonbook: {cwd} is not there; this is what is known of it.")
    made = brief_here(cwd, now=time(), learned=not args.no_learned, full=args.full)
    for note in made.notes if not out.json else ():
        out.note(f"lessonbook: {note}")
    out.result(
        {
            "ok": True,
            "text": made.text,
            "characters": made.characters,
            "tokens": made.tokens,
            "left_out": made.left_out,
            "notes": list(made.notes),
        },
        made.text,
    )
    if not made.text and not out.json:
        out.note("Nothing to say yet: no lesson was accepted or remembered for this folder.")
    return 0
