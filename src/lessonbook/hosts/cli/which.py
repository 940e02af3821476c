"""The arguments that say which sessions count, shared by the verbs that read sessions."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time

from lessonbook.core.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.findings import Account, Which
    from lessonbook.hosts.cli.output import Out

_AGO = re.compile(r"(\d{1,5})\s*([dwmy])\Z")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def add_from(parser: argparse.ArgumentParser, what: str = "read these files or folders, not the agents' own") -> None:
    """Add ``--from``; ``what`` is its help."""
    parser.add_argument("--from", dest="paths", action="extend", nargs="+", type=Path, metavar="PATH", help=what)


def paths(args: argparse.Namespace) -> list[Path] | None:
    """Return what ``--from`` named; ``None`` for the agents' own folders. Raises ``InputError`` for nobody's home."""
    from lessonbook.system.files import homed

    return [homed(path) for path in args.paths] if args.paths else None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--from``, ``--agent``, ``--project`` and ``--since``."""
    add_from(parser)
    parser.add_argument("--agent", metavar="NAME", help="only this agent's sessions, such as claude")
    parser.add_argument("--project", metavar="NAME", help="only this project's: its name, or part of its address")
    parser.add_argument("--since", metavar="WHEN", help="only from this day on: 2026-03-01, or 30d, 8w, 3m, 1y ago")


def read(args: argparse.Namespace, out: Out) -> Account:
    """Read the sessions that the arguments name. Raises ``InputError`` for what is none of them."""
    from lessonbook.actions.findings import account
    from lessonbook.hosts.cli.here import setup
    from lessonbook.system.settings import environment

    where, settings = setup()
    with out.progress("reading sessions") as step:
        return account(paths(args), where, settings, which(args, time()), env=environment(), progress=step)


def which(args: argparse.Namespace, now: float) -> Which:
    """Return what the arguments say. Raises ``InputError`` for a time that is none."""
    from lessonbook.actions.findings import Which

    return Which(args.agent, args.project, since(args.since, now) if args.since else None)


def since(text: str, now: float) -> float:
    """Return the time that ``2026-03-01`` or ``30d`` means, in epoch seconds. Raises ``InputError``."""
    ago = _AGO.match(text)
    try:
        if ago:
            return now - timedelta(days=int(ago[1]) * _DAYS[ago[2]]).total_seconds()
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise InputError(f"--since is a day such as 2026-03-01, or a time ago such as 30d, not {text!r}.") from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def said(account: Account, out: Out) -> None:
    """Say on standard error which files were not read."""
    unread(account.reading.unread, out)


def unread(files: Mapping[str, str], out: Out) -> None:
    """Say on standard error which files were not read, and why: the first few of them."""
    if not out.json:
        for path, why in list(files.items())[:5]:
            out.note(f"not read: {path}: {why}")
        if len(files) > 5:
            out.note(f"not read: {len(files) - 5:,} more files (--json names them)")
