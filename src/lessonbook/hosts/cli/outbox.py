"""``lessonbook outbox``: what waits for a server, and what a server would not take."""

from __future__ import annotations

import argparse

from lessonbook.core.errors import InputError
from lessonbook.core.screen import quoted
from lessonbook.hosts.cli.output import Out, amount

EXAMPLES = """
  lessonbook outbox                    what waits for the server, and what was set aside
  lessonbook outbox flush              deliver now, and say what came of it
  lessonbook outbox flush --seconds 60
  lessonbook outbox retry              try again what was set aside
  lessonbook outbox retry 12 13        or these
  lessonbook outbox drop 12            remove it for good
  lessonbook outbox move               let what waits for another address go to the one that is configured now
  lessonbook outbox sessions           queue what was said in sessions that ended (hindsight.retain_sessions)"""

ACTIONS = ("list", "flush", "retry", "drop", "move", "sessions")
SECONDS = 30.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``outbox``."""
    parser.add_argument("do", nargs="?", choices=ACTIONS, default="list", help="what to do (default: list)")
    parser.add_argument("names", nargs="*", metavar="ID", help="retry, drop: which ones; sessions: transcript files")
    parser.add_argument("--limit", type=int, metavar="N", help="list: how many at most (default: 100)")
    parser.add_argument("--seconds", type=float, metavar="N", help=f"flush: for how long (default: {SECONDS:g})")
    parser.add_argument(
        "--quiet", action="store_true", help="flush, sessions: without a word, as commands do it by themselves"
    )


def run(args: argparse.Namespace, out: Out) -> int:
    """Do what was asked and print it."""
    from time import time

    from lessonbook.actions import outbox as actions
    from lessonbook.hosts.cli.here import setup

    _check(args)
    settings = setup()[1]
    outbox = actions.open_outbox(settings)
    try:
        if args.do == "sessions":
            return _sessions(args, out)
        if args.do == "flush":
            return _flush(args, out)
        if args.do == "move":
            out.result(*actions.move(outbox, actions.current(settings), time()))
            return 0
        if args.do in ("retry", "drop"):
            ids = list(map(_id, args.names))
            act = actions.drop(outbox, ids) if args.do == "drop" else actions.retry(outbox, ids, time())
            out.result(*act)
            return 0
        document, rows, servers = actions.listed(outbox, args.limit or actions.SHOWN, time(), actions.current(settings))
        out.table(document, actions.HEAD, rows, actions.NOTHING)
        for sentence in () if out.json else servers:
            out.note(f"lessonbook: {sentence}")
        return 0
    finally:
        outbox.close()


def _flush(args: argparse.Namespace, out: Out) -> int:
    from time import sleep

    from lessonbook.actions import outbox as actions
    from lessonbook.hosts.cli.here import setup
    from lessonbook.hosts.cli.remembering import opened

    with opened(None, delivers=False) as memory:
        outbox = actions.open_outbox(setup()[1])
        seconds = SECONDS if args.seconds is None else args.seconds
        try:
            document, text = actions.flush(memory, outbox, seconds, sleep, insist=not args.quiet)
        finally:
            outbox.close()
    if args.quiet:
        return 0
    out.result(document, text)
    return 0 if document["ok"] else 1


def _sessions(args: argparse.Namespace, out: Out) -> int:
    """Queue what was said in sessions, and have it delivered when this has ended."""
    from pathlib import Path
    from time import time

    from lessonbook.actions.retaining import retain
    from lessonbook.hosts.cli.here import setup
    from lessonbook.system import background

    where, settings = setup()
    queued, read, problems = retain(where, settings, map(Path, args.names), time())
    if queued:
        background.start(background.DELIVER)
    if args.quiet:
        return 0
    text = f"{amount(read, 'session')} read; {amount(queued, 'turn')} queued."
    out.result({"ok": not problems, "sessions": read, "queued": queued, "problems": problems}, text)
    for problem in () if out.json else problems:
        out.note(f"lessonbook: {problem}")
    return 1 if problems else 0


def _id(name: str) -> int:
    if not (name.isascii() and name.isdecimal() and len(name) < 19):
        raise InputError(f"An id is a number, as `lessonbook outbox` shows it, not {quoted(name)}.")
    return int(name)


def _check(args: argparse.Namespace) -> None:
    """Refuse options that the action does not take, before anything is opened."""
    for option, actions in (("limit", ("list",)), ("seconds", ("flush",)), ("quiet", ("flush", "sessions"))):
        if getattr(args, option) not in (None, False) and args.do not in actions:
            raise InputError(f"--{option} belongs to `lessonbook outbox {actions[0]}`.")
    if args.names and args.do in ("list", "flush", "move"):
        raise InputError(f"`lessonbook outbox {args.do}` takes no id.")
    if args.limit is not None and not 1 <= args.limit <= 10_000:
        raise InputError(f"--limit must be from 1 to 10,000, not {args.limit}.")
    if args.seconds is not None and not 0.1 <= args.seconds <= 3_600:
        raise InputError(f"--seconds must be from 0.1 to 3,600, not {args.seconds:g}.")
