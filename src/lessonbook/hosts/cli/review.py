"""``lessonbook review``: the review page, served to this machine's browser."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook review                        opens the page in your browser
  lessonbook review --book project         only this project's book
  lessonbook review --cwd ~/src/app        briefing, skills and memory of another folder
  lessonbook review --no-browser           only prints the address, to open where you like
  lessonbook review --port 0               at a port that is free"""

PORT = 8378


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``review``."""
    parser.add_argument(
        "--book", metavar="BOOK", default="all", help="all (default), global, project (this folder's), a name or a path"
    )
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="the folder a session works in (default: here)")
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser; only print the address")
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=int, metavar="N", help=f"0 for a free one (default: {PORT}, or a free one where that is taken)"
    )
    parser.add_argument("--allow-remote", action="store_true", help="let --host be an address other machines reach")


def run(args: argparse.Namespace, out: Out) -> int:
    """Serve until Ctrl-C. Does not return then: the process ends at once."""
    if out.json:
        raise InputError("`review` opens a page for a person; programs use `learned list`, `diff` and `accept`.")
    from lessonbook.hosts.cli.here import folder

    # Hosts never import each other: this one only starts the other, as the command itself starts the hook.
    web = import_module("lessonbook.hosts.web.starting")
    wanted = web.Wanted(args.book, folder(args.cwd), args.host, args.port, PORT, args.allow_remote, not args.no_browser)
    return int(web.start(wanted, _report))


def _report(error: Exception) -> str:
    from lessonbook.hosts.cli.crash import report

    return report(error, ["review"])
