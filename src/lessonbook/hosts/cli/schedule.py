"""``lessonbook schedule``: has the night started every day, says whether it is, and takes it back."""

from __future__ import annotations

import argparse

from lessonbook.core.errors import InputError
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.schedule import Plan

EXAMPLES = """
  lessonbook schedule                   every night at 03:30: shows what it would write, then asks
  lessonbook schedule --at 22:15 --yes  at another time, without asking
  lessonbook schedule --check           say whether it is scheduled, and what is wrong with that
  lessonbook schedule --remove          take it back"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``schedule``."""
    parser.add_argument("--at", metavar="HH:MM", help="the time of the day, as this machine has it (default: 03:30)")
    parser.add_argument("--remove", action="store_true", help="take back what was scheduled")
    parser.add_argument("--check", action="store_true", help="say what is scheduled and what is wrong with it")
    parser.add_argument("--with", dest="kind", metavar="TIMER", default="", help="systemd, launchd or cron")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be written")
    parser.add_argument("--yes", "-y", action="store_true", help="write without asking")


def run(args: argparse.Namespace, out: Out) -> int:
    """Schedule the night, check it, or take it back."""
    from lessonbook.system.schedules.registry import is_root

    if (args.remove and (args.check or args.at or args.kind)) or (args.check and (args.at or args.kind)):
        raise InputError("Say one of --at (and --with), --check and --remove.")
    if is_root() and not args.check:
        raise InputError("nothing is scheduled for root: run it as the person whose sessions it is about.")
    if args.check:
        return _check(out)
    return _remove(args, out) if args.remove else _schedule(args, out)


def _schedule(args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import schedule
    from lessonbook.system.settings import environment, places
    from lessonbook.system.surroundings import own_command

    where = places()
    what = schedule.wanted(own_command(), schedule.AT if args.at is None else args.at, environment())
    made = schedule.plan(where, what, args.kind)
    _show(made, out)
    note = None
    if made.steps and not args.dry_run:
        _ask(args, out)
        note = schedule.carry_out(where, made, what)
    verb = "would be started" if args.dry_run else "is started"
    text = f"the night {verb} every day at {made.at}, by {made.timer.name}"
    document = {"ok": True, "written": bool(made.steps and not args.dry_run), "at": made.at, "timer": made.timer.name}
    out.result({**document, "diff": made.diff, "note": note}, f"{text}; {note}" if note else text)
    return 0


def _remove(args: argparse.Namespace, out: Out) -> int:
    from lessonbook.actions import schedule
    from lessonbook.system.settings import places

    where = places()
    made = schedule.removal(where)
    if made is None:
        out.result({"ok": True, "written": False, "problems": []}, "nothing is scheduled")
        return 0
    _show(made, out)
    if not args.dry_run:
        _ask(args, out)
        schedule.take_back(where, made)
    text = "would be taken back" if args.dry_run else "taken back"
    problems = list(made.problems)
    document = {"ok": not problems, "written": not args.dry_run, "diff": made.diff, "problems": problems}
    out.result(document, "\n".join([text, *problems]))
    return 1 if problems else 0


def _check(out: Out) -> int:
    from lessonbook.actions import schedule
    from lessonbook.actions.night_folder import last_record
    from lessonbook.system.settings import places

    where = places()
    told, problems = schedule.check(where)
    last = last_record(where.state)
    lines = [told or "nothing is scheduled", *(f"WRONG: {problem}" for problem in problems)]
    lines += [f"the last night that ended: {last.get('night')}"] if last else []
    document = {"ok": bool(told) and not problems, "scheduled": told or None, "problems": problems}
    out.result({**document, "last": last.get("night") if last else None}, "\n".join(lines))
    return 0 if told and not problems else 1


def _show(made: Plan, out: Out) -> None:
    if not out.json and made.steps:
        out.text("\n".join(made.diff))


def _ask(args: argparse.Namespace, out: Out) -> None:
    """Raise ``InputError`` unless the person agrees; a program has to say --yes."""
    import sys

    if args.yes:
        return
    if out.json or sys.stdin is None or not sys.stdin.isatty():
        raise InputError("Nothing was written: say --yes to write it, or --dry-run only to look.")
    out.note("Write this? `lessonbook schedule --remove` takes it back. [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("Nothing was written.")
