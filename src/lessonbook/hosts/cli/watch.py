"""``lessonbook watch``: whether accepted lessons helped."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import time
from typing import Any

from lessonbook.hosts.cli import which
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.watch import Watch, Watched

EXAMPLES = """
  lessonbook watch             how often each mistake came before and since its lesson was accepted
  lessonbook watch --propose   and propose to rewrite or take out the lessons that did not help
  lessonbook watch --propose --editor    let the editor model rewrite where the sessions alone show nothing better"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``watch``."""
    which.add_from(parser)
    parser.add_argument(
        "--propose",
        "--retire",
        dest="propose",
        action="store_true",
        help="offer a candidate that rewrites each that did not help, or takes it out",
    )
    parser.add_argument(
        "--editor", action="store_true", help="with --propose: ask the editor model where nothing better was seen"
    )


def run(args: argparse.Namespace, out: Out) -> int:
    """Read sessions, count, and say what became of each lesson."""
    from secrets import token_hex

    from lessonbook.actions.mending import mend
    from lessonbook.actions.propose import OFF
    from lessonbook.actions.watch import watch
    from lessonbook.book.switch import enabled
    from lessonbook.core.errors import InputError
    from lessonbook.hosts.cli.here import editor, setup
    from lessonbook.system.settings import environment

    if args.editor and not args.propose:
        raise InputError("--editor goes with --propose: a text that is not offered is not asked for.")
    where, settings = setup()
    chat = editor(where, settings, "watch") if args.editor else None
    with out.progress("reading sessions") as step:
        found = watch(which.paths(args), where, settings, env=environment(), progress=step)
    note = OFF if args.propose and not (settings.learning and enabled(where.config, where.config_file)) else ""
    if args.propose and not note:
        found = mend(found, int(time()), lambda: token_hex(3), chat)
    out.result({**_document(found), "note": note}, "\n".join(_lines(found)))
    if note and not out.json:
        out.note(f"{note}, so nothing was proposed; `lessonbook learned on` turns it on.")
    for book, why in found.broken.items() if not out.json else ():
        out.note(f"book {book}: {why}")
    return 0


def _lines(found: Watch) -> Iterator[str]:
    from lessonbook.actions.mending import counts

    if not found.lessons:
        yield "no lesson is accepted yet"
    for one in found.lessons:
        yield f"{one.outcome.effect}: {one.lesson.title}  ({one.book.name}, {_day(one.lesson.at)})"
        yield f"    {counts(one.outcome)}"
        if one.gone:
            yield f"    not there any more: {', '.join(one.gone)}"
        if one.unsure:
            yield f"    not checked: {', '.join(one.unsure)} (not on this machine, or not told without running it)"
        if one.better:
            yield f"    better: {one.better.proposal.title.removeprefix('Rewrite: ')}"
        if one.rewrite:
            yield f"    proposed to rewrite it: lessonbook learned diff {one.rewrite}"
        if one.retirement:
            yield f"    proposed to take it out: lessonbook learned diff {one.retirement}"


def _day(at: int) -> str:
    from lessonbook.core.expiry import day_of

    return day_of(at)


def _document(found: Watch) -> dict[str, Any]:
    return {"ok": not found.broken, "lessons": [_lesson(one) for one in found.lessons], "broken": dict(found.broken)}


def _lesson(one: Watched) -> dict[str, Any]:
    outcome = one.outcome
    return {
        "book": one.book.name,
        "id": one.lesson.id,
        "title": one.lesson.title,
        "accepted": one.lesson.at,
        "effect": str(outcome.effect),
        "before": _side(outcome.before, outcome.calls_before),
        "since": _side(outcome.since, outcome.calls_since),
        "due": outcome.due,
        "read": outcome.read,
        "gone": list(one.gone),
        "not_checked": list(one.unsure),
        "better": one.better.proposal.rule or one.better.proposal.title if one.better else None,
        "retirement": one.retirement,
        "rewrite": one.rewrite,
    }


def _side(count: int, calls: int) -> dict[str, Any]:
    from lessonbook.core.rates import interval, per_hundred

    rates = {"per_100_calls": per_hundred(count, calls), "interval": interval(count, calls)}
    return {"count": count, "calls": calls, **rates}
