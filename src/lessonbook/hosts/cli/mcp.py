"""``lessonbook mcp``: serves agents over the Model Context Protocol."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook mcp                       what an agent starts: speaks the protocol on standard input and output
  lessonbook mcp --cwd ~/src/app       for one project, wherever the agent was started
  lessonbook mcp --no-learned          with learning off, as long as it runs
  lessonbook mcp --http                for agents that connect to an address of this machine
  lessonbook mcp --http --port 0       at a port that is free"""

PORT = 8377


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``mcp``."""
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="the folder to work in (default: the client's)")
    parser.add_argument("--no-learned", action="store_true", help="turn learning off for as long as this server runs")
    parser.add_argument("--http", action="store_true", help="serve over HTTP instead, to this machine, with a token")
    parser.add_argument("--host", metavar="ADDRESS", help="with --http: where to listen (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, metavar="N", help=f"with --http: 0 for a free one (default: {PORT})")
    parser.add_argument(
        "--allow-remote", action="store_true", help="with --http: let --host be an address other machines reach"
    )


def run(args: argparse.Namespace, out: Out) -> int:
    """Serve until the client ends. Does not return then: the process ends at once."""
    # Hosts never import each other: this one only starts the other, as the command itself starts the hook.
    return int(import_module("lessonbook.hosts.mcp.starting").start(args, PORT, _report))


def _report(error: Exception) -> str:
    from lessonbook.hosts.cli.crash import report

    return report(error, ["mcp"])
