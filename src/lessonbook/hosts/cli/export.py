"""``lessonbook export``: writes one session as ATIF, the interchange format of agents' trajectories."""

from __future__ import annotations

import argparse
from pathlib import Path

from lessonbook.hosts.cli import which
from lessonbook.hosts.cli.output import Out, amount

EXAMPLES = """
  lessonbook export 5f0c1f9e > session.json                  one session of the agents on this machine
  lessonbook export --from old/session.jsonl --output a.json     the session of a file"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``export``."""
    parser.add_argument("session", nargs="?", default="", metavar="SESSION", help="its id, or the beginning of it")
    which.add_from(parser, "look in these files or folders, not in the agents' own")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write it there, not to the screen")


def run(args: argparse.Namespace, out: Out) -> int:
    """Print the document, or write it and say so."""
    import json

    from lessonbook.actions.export import export, write
    from lessonbook.hosts.cli.here import setup, typed
    from lessonbook.system.files import homed
    from lessonbook.system.settings import environment

    where, _ = setup()
    document = export(which.paths(args), typed(args.session), where.home, environment())
    if args.output is None:
        out.result(document, json.dumps(document, ensure_ascii=False, indent=2))
        return 0
    target = homed(args.output)
    write(document, target)
    steps = len(document["steps"])
    told = f"wrote {amount(steps, 'step')} of {document['agent']['name']} session {document['session_id']} to {target}"
    out.result({"ok": True, "path": str(target), "session": document["session_id"], "steps": steps}, told)
    return 0
