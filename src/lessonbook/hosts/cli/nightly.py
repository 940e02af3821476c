"""``lessonbook nightly``: one night's work, on its own or started by a timer."""

from __future__ import annotations

import argparse
from time import time

from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook nightly                 expire, shorten, propose, replay, judge, offer; then one note
  lessonbook nightly --dry-run       show what it would do, and write nothing
  lessonbook nightly --no-replay     without the part that runs agents and asks models"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``nightly``."""
    parser.add_argument("--dry-run", action="store_true", help="write nothing; only show what would be done")
    parser.add_argument("--no-replay", action="store_true", help="run no agent, and ask no model about a session")


def run(args: argparse.Namespace, out: Out) -> int:
    """Spend a night and print its note. The exit code is that of the first part that failed."""
    from secrets import token_hex

    from lessonbook.actions.night_note import note_of, record_of
    from lessonbook.actions.nightly import Nightly
    from lessonbook.hosts.cli.here import setup
    from lessonbook.system.night_settings import load_night
    from lessonbook.system.settings import environment

    where, settings = setup()
    with out.progress("reading sessions") as step:
        night = Nightly(
            where,
            settings,
            load_night(where),
            clock=time,
            random_hex=lambda: token_hex(3),
            env=environment(),
            dry_run=args.dry_run,
            replay=not args.no_replay,
            progress=step,
        ).run()
    out.result(record_of(night), note_of(night))
    return night.exit_code
