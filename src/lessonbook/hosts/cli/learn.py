"""``lessonbook learn``: keeps one lesson in memory, by the path every lesson takes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

EXAMPLES = """
  lessonbook learn "Run make test, not pytest: the fixtures need the database make starts."
  lessonbook learn "Quote paths in scripts." --context "CI failure of 3 May"
  lessonbook learn "Prefer ripgrep." --scope global    recalled in every project (mnemopi)
  lessonbook learn "Tests need port 5433." --key test-port    told again under its key, the new text takes its place
  lessonbook learn "…" --skill SKILL.md                and a skill with it
  git log -1 --format=%b | lessonbook learn -          the lesson from standard input"""

_STDIN_MAX = 1 << 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``learn``."""
    parser.add_argument("text", metavar="TEXT", help="the lesson: what, when and why; - reads standard input")
    parser.add_argument("--context", metavar="TEXT", help="where it comes from")
    parser.add_argument(
        "--scope", choices=["project", "global"], help="who recalls it: this project (default), or every one (mnemopi)"
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="a short name for people (mnemopi, like all down to --confidence)"
    )
    parser.add_argument("--tag", action="append", metavar="TAG", help="one of its tags (repeatable)")
    parser.add_argument("--key", metavar="NAME", help="its own name: told again under it, a new text takes its place")
    parser.add_argument("--cue", metavar="TEXT", help="when to think of it")
    parser.add_argument("--component", metavar="TEXT", help="what part of the project it is about")
    parser.add_argument("--evidence", metavar="TEXT", help="what it rests on")
    parser.add_argument("--confidence", type=float, metavar="N", help="how sure you are, 0 to 1")
    parser.add_argument("--skill", type=Path, metavar="FILE", help="a SKILL.md to keep with the lesson")
    parser.add_argument("--update", action="store_true", help="with --skill: change the skill that is there")
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="a folder of the project (default: here)")


def run(args: argparse.Namespace, out: Out) -> int:
    """Keep the lesson and say what happened to it."""
    from secrets import token_hex
    from time import time

    from lessonbook.actions.learn import LearnSession, LearnTool
    from lessonbook.actions.skill_review import skill_offer
    from lessonbook.hosts.cli.here import folder, setup, typed
    from lessonbook.hosts.cli.remembering import opened

    text = _standard_input() if args.text == "-" else typed(args.text)
    if not text.strip():
        raise InputError("The lesson is empty; nothing was stored.")
    if args.update and not args.skill:
        raise InputError("--update says what to do with the skill of --skill FILE; name that too.")
    where, settings = setup()
    skill = _skill(args.skill, "update" if args.update else "create") if args.skill else None
    context = typed(args.context) if args.context else None
    told = {"memory": text, "context": context, "scope": args.scope, "skill": skill}
    with opened(args.cwd) as memory:
        here = folder(args.cwd)
        offer = skill_offer(where, here, "cli", time, lambda: token_hex(3))
        session = LearnSession(cwd=here, session_id="cli", memory=memory, offer_skill=offer, beside=_beside(args))
        # The switch is for agents: a person who types a lesson has asked for it.
        tool = LearnTool(settings.but(autolearn_enabled=True), session)
        result = tool.execute({key: value for key, value in told.items() if value is not None})
    said = result.content[0]["text"]
    if not folder(args.cwd).is_dir():
        out.note(f"lessonbook: {folder(args.cwd)} is not there; the lesson is kept for it all the same.")
    out.result({"ok": not result.is_error, "text": said, "details": result.details}, said)
    return 1 if result.is_error else 0


def _beside(args: argparse.Namespace) -> dict[str, object]:
    """The fields of a lesson that the tool has no parameter for, checked before anything is opened."""
    from lessonbook.hosts.cli.here import typed

    texts = {name: getattr(args, name) for name in ("title", "key", "cue", "component", "evidence")}
    told: dict[str, object] = {name: typed(text) for name, text in texts.items() if text is not None}
    if args.tag:
        told["tags"] = tuple(map(typed, args.tag))
    if args.confidence is not None:
        if not 0 <= args.confidence <= 1:
            raise InputError(f"--confidence is a number from 0 to 1, not {args.confidence:g}; nothing was stored.")
        told["confidence"] = args.confidence
    return told


def _skill(path: Path, action: str) -> dict[str, str]:
    """The tool's argument for a SKILL.md: its name is the one it says, else its folder's."""
    from lessonbook.core import frontmatter
    from lessonbook.system.files import homed, read_bytes

    data = read_bytes(homed(path))
    if data is None:
        raise InputError(f"There is no file {path}.")
    parts = frontmatter.split(data.decode("utf-8", "replace"))
    if parts.problem:
        raise InputError(f"{path} {parts.problem}.")
    name, description = (parts.fields.get(key, "") for key in ("name", "description"))
    return {
        "action": action,
        "name": str(name) or path.absolute().parent.name,
        "description": str(description),
        "body": parts.body,
    }


def _standard_input() -> str:
    if sys.stdin is None:
        raise InputError("Standard input is closed; there is no lesson to read.")
    data = sys.stdin.buffer.read(_STDIN_MAX + 1)
    if len(data) > _STDIN_MAX:
        raise InputError(f"Standard input holds more than {_STDIN_MAX:,} bytes; that is no lesson.")
    return data.decode("utf-8", "replace")
