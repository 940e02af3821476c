"""``lessonbook report``: whether mistakes get fewer, week by week, beside what was accepted."""

from __future__ import annotations

import argparse
from typing import Any

from lessonbook.hosts.cli import which
from lessonbook.hosts.cli.output import Out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.trend import Marked, Trend, Week

EXAMPLES = """
  lessonbook report                              findings per 100 calls, week by week
  lessonbook report --by agent                   each agent's own row
  lessonbook report --project shop --since 12w   of one project, of the last 12 weeks"""

_KINDS = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``report``."""
    which.configure(parser)
    parser.add_argument("--by", choices=("agent", "project", "model"), help="a row for each agent, project or model")


def run(args: argparse.Namespace, out: Out) -> int:
    """Read sessions and print a row for each week."""
    from lessonbook.actions.trend import trend
    from lessonbook.hosts.cli.here import setup

    found = which.read(args, out)
    told = trend(found, setup()[0], args.by or "")
    which.said(found, out)
    for book, why in told.unread.items() if not out.json else ():
        out.note(f"not read: book {book}: {why}")
    head = [
        "week of",
        *([args.by] if args.by else []),
        "sessions",
        "calls",
        "failed",
        "findings",
        "95 %",
        "most",
        "accepted",
    ]
    rows = [_row(week, bool(args.by)) for week in told.weeks]
    out.table(_document(told), head, rows, "no session was found; `--from PATH` reads them from anywhere")
    if rows and not out.json:
        out.note("failed and findings: per 100 calls, with the range that chance leaves open (95 %)")
    return 0


def _row(week: Week, grouped: bool) -> list[str]:
    from lessonbook.core.rates import per_hundred

    most = ", ".join(f"{kind} {count:,}" for kind, count in week.findings.most_common(_KINDS))
    row = [week.start.isoformat() if week.start else "(no date)", *([week.group] if grouped else [])]
    row += [f"{week.sessions:,}", f"{week.calls:,}", _rate(per_hundred(week.failed, week.calls)), _rate(week.rate)]
    row.append(f"{week.sure[0]:.1f}-{week.sure[1]:.1f}" if week.sure else "")
    return [*row, most, "; ".join(map(_accepted, week.accepted))]


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _accepted(marked: Marked) -> str:
    return f"{marked.lesson.title} ({marked.book})"


def _document(told: Trend) -> dict[str, Any]:
    return {"ok": True, "weeks": [_week(week) for week in told.weeks], "unread_books": told.unread}


def _week(week: Week) -> dict[str, Any]:
    return {
        "week": week.start.isoformat() if week.start else None,
        "group": week.group,
        "sessions": week.sessions,
        "calls": week.calls,
        "failed": week.failed,
        "findings": dict(week.findings),
        "per_100_calls": week.rate,
        "interval": week.sure,
        "accepted": [
            {"book": one.book, "id": one.lesson.id, "at": one.lesson.at, "title": one.lesson.title}
            for one in week.accepted
        ],
    }
