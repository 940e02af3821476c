"""``lessonbook memory``: the lessons of the bank, one by one and as a whole, on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out
from lessonbook.memory import offers

EXAMPLES = """
  lessonbook memory                            the newest lessons, with their ids
  lessonbook memory list --about Makefile      those that name it; also --type, --tag, --source, --forgotten
  lessonbook memory show 12                    everything about one
  lessonbook memory edit 12                    change it in your editor
  lessonbook memory edit 12 --tag db --tag ci --clear component
  lessonbook memory forget 12                  never recall it again; undo brings it back
  lessonbook memory invalidate 12 --by 31      31 holds in the place of 12
  lessonbook memory undo 12                    take back the last change; again, the one before
  lessonbook memory erase 12                   remove it for good
  lessonbook memory contradictions             lessons that may not both hold
  lessonbook memory sleep --summarise          what is best done while nobody waits
  lessonbook memory backup ~/bank-2027-01.db   a checked copy while agents work
  lessonbook memory export lessons.jsonl
  lessonbook memory import ~/.omp/agent        what another store of this machine holds"""

_ONE, _TWO = offers.ONE, ("dismiss", "merge", "apart")
_NONE = ("list", "contradictions", "merges", "sleep", "stats", "diagnose", "vacuum")
ACTIONS = offers.ACTIONS

_OPTIONS = {
    "limit": "list", "after": "list", "forgotten": "list", "about": "list", "source": "list",
    "type": "list edit", "tag": "list edit",
    "text": "edit", "title": "edit", "context": "edit", "key": "edit", "cue": "edit", "component": "edit",
    "evidence": "edit", "confidence": "edit", "importance": "edit", "veracity": "edit", "valid_until": "edit",
    "clear": "edit", "scope": "edit import", "by": "invalidate", "yes": "erase", "summarise": "sleep",
    "extract": "sleep", "deep": "diagnose", "all": "export", "everywhere": "export",
    "bank": "import", "derived": "import",
}  # fmt: skip
"""Which actions each option belongs to."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``memory``."""
    parser.add_argument("do", nargs="?", choices=ACTIONS, default="list", help="what to do (default: list)")
    parser.add_argument("names", nargs="*", metavar="ID", help="the lesson, or two; backup, export, import: a file")
    parser.add_argument("--cwd", type=Path, metavar="DIR", help="a folder of the project (default: here)")
    lists = parser.add_argument_group("list")
    lists.add_argument("--limit", type=int, metavar="N", help="how many at most, 1 to 1,000 (default: 20)")
    lists.add_argument("--after", metavar="ID", help="go on after this lesson, the last of the page before")
    lists.add_argument("--forgotten", action="store_true", help="the forgotten ones instead")
    lists.add_argument("--about", metavar="NAME", help="those that name this file, command, package, error, …")
    lists.add_argument("--source", metavar="SOURCE", help="those that came in this way")
    _edit_options(parser)
    more = parser.add_argument_group("others")
    more.add_argument("--by", metavar="ID", help="invalidate: the lesson that holds in its place")
    more.add_argument("--yes", action="store_true", help="erase: do not ask")
    more.add_argument(
        "--summarise", action="store_true", help="sleep: have old episodes summed up by your editor model"
    )
    more.add_argument("--extract", action="store_true", help="sleep: have your editor model read what lessons name")
    more.add_argument("--deep", action="store_true", help="diagnose: compare every word and vector with the lessons")
    more.add_argument("--all", action="store_true", help="export: the forgotten ones too")
    more.add_argument("--everywhere", action="store_true", help="export: the lessons of every project")
    more.add_argument("--bank", metavar="BANK", help="import: only what was in this bank, as the file calls it")
    more.add_argument("--derived", action="store_true", help="import: also what its store made of other lessons itself")


def run(args: argparse.Namespace, out: Out) -> int:
    """Do what was asked and print it."""
    from lessonbook.hosts.cli import memory_acts
    from lessonbook.hosts.cli.remembering import opened_for

    _check(args)
    with opened_for(args.cwd, args.do, args.names[0] if args.names else "ID") as memory:
        return memory_acts.ACTS[args.do](memory, args, out)


def _edit_options(parser: argparse.ArgumentParser) -> None:
    edits = parser.add_argument_group("edit (without any of these: in your editor)")
    edits.add_argument("--text", metavar="TEXT", help="what it says")
    for name, what in (
        ("title", "a short name for people"),
        ("context", "where it comes from"),
        ("key", "its own name: told again under it, a new text takes its place"),
        ("cue", "when to think of it"),
        ("component", "what part of the project it is about"),
        ("evidence", "what it rests on"),
    ):
        edits.add_argument(f"--{name}", metavar="TEXT", help=what)
    edits.add_argument("--tag", action="append", metavar="TAG", help="all its tags, one each; list: those that have it")
    edits.add_argument("--type", metavar="TYPE", help="fact, episode, preference, procedure, …; list: those of it")
    edits.add_argument("--veracity", metavar="WORD", help="stated, inferred, tool, imported, unknown, true or false")
    edits.add_argument("--confidence", type=float, metavar="N", help="how sure whoever told it is, 0 to 1")
    edits.add_argument("--importance", type=float, metavar="N", help="0 to 1")
    edits.add_argument("--valid-until", metavar="DATE", help="until when it holds, such as 2027-01-31")
    scopes = ["project", "global"]
    edits.add_argument("--scope", choices=scopes, help="who recalls it: this project or every one; import: all of it")
    edits.add_argument("--clear", action="append", metavar="FIELD", help="take a field away, such as cue (repeatable)")


def _check(args: argparse.Namespace) -> None:
    """Refuse options and names that the action does not take, before anything is opened."""
    for option, actions in _OPTIONS.items():
        given = getattr(args, option)
        if given is not None and given is not False and args.do not in actions.split():
            named = " and ".join(f"`lessonbook memory {action}`" for action in actions.split())
            raise InputError(f"--{option.replace('_', '-')} belongs to {named}.")
    if args.do in _ONE and len(args.names) != 1:
        raise InputError(f"Say which one: `lessonbook memory {args.do} ID`; `lessonbook memory list` shows the ids.")
    if args.do in _TWO and len(args.names) != 2:
        raise InputError(f"Name two lessons: `lessonbook memory {args.do} ID ID`.")
    if args.do in _NONE and args.names:
        raise InputError(f"`lessonbook memory {args.do}` takes no id.")
    if (args.do == "backup" and not args.names) or (args.do in ("backup", "export") and len(args.names) > 1):
        raise InputError(f"Say one file: `lessonbook memory {args.do} FILE`.")
    if args.do == "import" and not args.names:
        raise InputError("Say what to import: `lessonbook memory import FILE`, or a folder that holds some.")
