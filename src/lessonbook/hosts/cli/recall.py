"""``lessonbook recall``: finds lessons in memory."""

from __future__ import annotations

import argparse
from pathlib import Path

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook recall "failing migration"     the lessons that fit best
  lessonbook recall                         the newest ones
  lessonbook recall "failing migration" --why    and what each score is made of
  lessonbook recall "how are releases made?" --reflect    an answer in the server's own words
  lessonbook recall tests --limit 20 --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``recall``."""
    parser.add_argument("query", nargs="*", metavar="WORD", help="what to look for; nothing for the newest lessons")
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="how many at most, 1 to 50 (default: 5)")
    parser.add_argument("--why", action="store_true", help="show what each score is made of")
    parser.add_argument("--reflect", action="store_true", help="have the server answer in its own words (hindsight)")
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="a folder of the project (default: here)")


def run(args: argparse.Namespace, out: Out) -> int:
    """Print the lessons found, as an agent would get them."""
    from lessonbook.actions.recall import MOST, as_document, as_line, as_reasons, recall
    from lessonbook.hosts.cli.here import typed
    from lessonbook.hosts.cli.remembering import opened

    query = typed(" ".join(args.query))
    if args.why and not query.strip():
        raise InputError("--why explains how lessons fit a question; say what to look for.")
    if not 1 <= args.limit <= MOST:
        raise InputError(f"The limit must be from 1 to {MOST}, not {args.limit}.")
    if args.reflect:
        return _reflect(args, query, out)
    with opened(args.cwd) as memory:
        found = recall(memory, query, args.limit) if query.strip() else tuple(memory.recent(args.limit))
        trouble = getattr(memory, "trouble", "")
    lines = [f"{as_line(one)}\n{as_reasons(one)}" if args.why else as_line(one) for one in found]
    out.result({"ok": True, "lessons": [as_document(one) for one in found]}, "\n".join(lines))
    if trouble:
        out.note(f"lessonbook: only what was told on this machine is shown. {trouble}")
    elif not found and not out.json:
        out.note("No lesson fits." if query.strip() else "Nothing is remembered for this project yet.")
    return 0


def _reflect(args: argparse.Namespace, query: str, out: Out) -> int:
    """Print the server's own answer to a question."""
    from lessonbook.actions.recall import reflect
    from lessonbook.hosts.cli.remembering import opened

    if not query.strip() or args.why:
        raise InputError("--reflect answers a question; say one, and leave out --why.")
    with opened(args.cwd) as memory:
        text = reflect(memory, query)
    out.result({"ok": True, "text": text}, text)
    return 0
