"""``lessonbook learn``: keeps one lesson in memory, by the path every lesson takes."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook learn "Run make test, not pytest: the fixtures need the database make starts."
  lessonbook learn "Quote paths in scripts." --context "CI failure of 3 May"
  lessonbook learn "Prefer ripgrep." --scope global    recalled in every project (mnemopi)
  git log -1 --format=%b | lessonbook learn -          the lesson from standard input"""

_STDIN_MAX = 1 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learn``."""
    parser.add_argument("text", metavar="TEXT", help="the lesson: what, when and why; - reads standard input")
    parser.add_argument("--context", metavar="TEXT", help="where it comes from")
    parser.add_argument(
        "--scope", choices=["project", "global"], help="who recalls it: this project (default), or every one (mnemopi)"
    )
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="a folder of the project (default: here)")


def run(args: argparse.Namespace, out: Out) -> int:
    """Keep the lesson and say what happened to it."""
    from lessonbook.actions.learn import LearnSession, LearnTool
    from lessonbook.hosts.cli.here import folder, setup, typed
    from lessonbook.hosts.cli.remembering import opened

    text = _standard_input() if args.text == "-" else typed(args.text)
    if not text.strip():
        raise InputError("The lesson is empty; nothing was stored.")
    _, settings = setup()
    told = {"memory": text, "context": typed(args.context) if args.context else None, "scope": args.scope}
    with opened(args.cwd) as memory:
        session = LearnSession(cwd=folder(args.cwd), session_id="cli", memory=memory)
        # The switch is for agents: a person who types a lesson has asked for it.
        tool = LearnTool(replace(settings, autolearn_enabled=True), session)
        result = tool.execute({key: value for key, value in told.items() if value is not None})
    said = result.content[0]["text"]
    out.result({"ok": not result.is_error, "text": said, "details": result.details}, said)
    return 1 if result.is_error else 0


def _standard_input() -> str:
    if sys.stdin is None:
        raise InputError("Standard input is closed; there is no lesson to read.")
    data = sys.stdin.buffer.read(_STDIN_MAX + 1)
    if len(data) > _STDIN_MAX:
        raise InputError(f"Standard input holds more than {_STDIN_MAX:,} bytes; that is no lesson.")
    return data.decode("utf-8", "replace")
