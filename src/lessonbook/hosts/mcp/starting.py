"""Starts the server, over standard input and output or over HTTP, and keeps everything else off the wire."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, Any

from lessonbook.core.errors import InputError, SetupError
from lessonbook.hosts.mcp.surroundings import Surroundings
from lessonbook.hosts.mcp.wire import Wire, taken

if TYPE_CHECKING:
    import argparse

    from lessonbook.hosts.mcp.server import Host, Report

NEEDS = "`lessonbook mcp` needs the extra `mcp`: install `lessonbook[mcp]`, as you installed lessonbook."
_TYPED = (
    "lessonbook: an agent starts this and speaks the Model Context Protocol with it; docs/mcp.md says how to "
    "connect one. Ctrl-D ends it."
)


def start(args: argparse.Namespace, port: int, report: Report) -> int:
    """Serve as the arguments say, until the client ends or, over HTTP, somebody ends it.

    Raises ``SetupError`` where the extra is missing, ``InputError`` for options that do not fit together.
    """
    source, sink = taken()  # first of all: nothing of what follows is for standard output
    if not args.http:
        _refuse_http_options(args)
    if find_spec("mcp") is None:
        raise SetupError(NEEDS)
    surroundings = Surroundings(f"mcp-{token_hex(4)}", time, learned=not args.no_learned)
    if args.http:
        from lessonbook.hosts.mcp import http

        host = _host(args, surroundings, report)
        return http.serve(host, args.host or "127.0.0.1", port if args.port is None else args.port, args.allow_remote)
    if os.isatty(source):
        sys.stderr.write(f"{_TYPED}\n")
    made: list[Host] = []
    wire = Wire(source, sink, lambda: any(host.is_busy for host in made), surroundings.close)
    made.append(_host(args, surroundings, report))
    return asyncio.run(wire.serve(lambda *streams: _speak(made[0], *streams)))


async def _speak(host: Host, received: Any, outbox: Any) -> None:
    import anyio

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(host.announce)
        await host.server.run(received, outbox, host.server.create_initialization_options())
        tasks.cancel_scope.cancel()


def _host(args: argparse.Namespace, surroundings: Surroundings, report: Report) -> Host:
    try:
        from lessonbook.hosts.mcp.roots import Folders
        from lessonbook.hosts.mcp.server import Host
    except ImportError as error:
        raise SetupError(f"{NEEDS} ({error})") from error
    return Host(surroundings, Folders(_named(args.cwd), _own()), report)


def _named(folder: Path | None) -> Path | None:
    try:
        return folder.expanduser().absolute() if folder is not None else None
    except (OSError, RuntimeError) as error:
        raise InputError(f"{folder} cannot be found; name a whole path with --cwd.") from error


def _own() -> Path:
    try:
        return Path.cwd()
    except OSError:  # removed under our feet
        return Path("/")


def _refuse_http_options(args: argparse.Namespace) -> None:
    given = {"--host": args.host is not None, "--port": args.port is not None, "--allow-remote": args.allow_remote}
    for option, is_given in given.items():
        if is_given:
            raise InputError(f"{option} belongs to `lessonbook mcp --http`.")
