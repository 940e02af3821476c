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
    from lessonbook.core.outcome import Outcome

EXAMPLES = """
  lessonbook watch             how often each mistake came before and since its lesson was accepted
  lessonbook watch --retire    and propose to take out the lessons that did not help"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``watch``."""
    which.add_from(parser)
    parser.add_argument("--retire", action="store_true", help="offer a candidate that takes out each that did not help")


def run(args: argparse.Namespace, out: Out) -> int:
    """Read sessions, count, and say what became of each lesson."""
    from secrets import token_hex

    from lessonbook.actions.watch import retire, watch
    from lessonbook.hosts.cli.here import setup
    from lessonbook.system.settings import environment

    where, settings = setup()
    with out.progress("reading sessions") as step:
        found = watch(which.paths(args), where, settings, env=environment(), progress=step)
    if args.retire:
        found = retire(found, int(time()), lambda: token_hex(3))
    out.result(_document(found), "\n".join(_lines(found)))
    for book, why in found.broken.items() if not out.json else ():
        out.note(f"book {book}: {why}")
    return 0


def _lines(found: Watch) -> Iterator[str]:
    if not found.lessons:
        yield "no lesson is accepted yet"
    for one in found.lessons:
        yield f"{one.outcome.effect}: {one.lesson.title}  ({one.book.name}, {_day(one.lesson.at)})"
        yield f"    {_counts(one.outcome)}; read in {one.outcome.read:,} sessions since"
        if one.gone:
            yield f"    not there any more: {', '.join(one.gone)}"
        if one.retirement:
            yield f"    proposed to take it out: lessonbook learned diff {one.retirement}"


def _counts(outcome: Outcome) -> str:
    if not outcome.counted:
        return "what it is about cannot be counted in calls"
    return (
        f"before {outcome.before:,} in {outcome.calls_before:,} calls, since {outcome.since:,} in "
        f"{outcome.calls_since:,} ({outcome.due:.1f} were due)"
    )


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
        "retirement": one.retirement,
    }


def _side(count: int, calls: int) -> dict[str, Any]:
    from lessonbook.core.rates import interval, per_hundred

    rates = {"per_100_calls": per_hundred(count, calls), "interval": interval(count, calls)}
    return {"count": count, "calls": calls, **rates}
