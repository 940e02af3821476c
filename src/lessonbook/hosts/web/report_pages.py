"""Sessions and their findings, whether mistakes get fewer, and what became of each accepted lesson."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Thread
from time import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lessonbook.actions.findings import Account, Which
from lessonbook.actions.grounds import Bar
from lessonbook.actions.overview import Overview, asks, narrowed, nights, overview, told
from lessonbook.actions.trend import BY, Week, trend
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.hosts.web import charts, rendering
from lessonbook.hosts.web.forms import Form, UnfitError
from lessonbook.hosts.web.site import Site
from lessonbook.system.settings import environment

JOB = "sessions"
_LISTED = 50
_KINDS = 3


def report(site: Site, request: Request) -> Response:
    """Show what the sessions come to, once they were read."""
    values: dict[str, Any] = {"found": site.overview, "reading": JOB in site.jobs, "fields": _fields(request)}
    values |= {"nights": nights(site.where), "asks": asks(site.where)}
    if site.overview is None:
        return site.page(request, "report.html", state=site.state(), **values)
    account, weeks, unread = _asked(site, site.overview, request)
    worst = sorted((seen for seen in account.sessions if seen.findings), key=lambda seen: -len(seen.findings))
    every = site.overview.account.sessions
    values |= {
        "weeks": [_row(week) for week in weeks],
        "chart": charts.chart(weeks),
        "kinds": [Bar(kind, count) for kind, count in account.kinds.most_common()],
        "account": account,
        "worst": [(every.index(seen), seen) for seen in worst[:_LISTED]],
        "lessons": site.overview.watch.lessons,
        "unread": {**unread, **site.overview.account.reading.unread},
        "agents": sorted({seen.agent for seen in every}),
        "projects": sorted({seen.project for seen in every if seen.project}),
        "by": BY,
        "sizes": {"width": charts.WIDTH, "height": charts.HEIGHT, "left": charts.LEFT, "bottom": charts.BOTTOM},
    }
    return site.page(request, "report.html", state=site.state(), **values)


def picture(site: Site, request: Request) -> Response:
    """Give the chart as a file of its own, to be kept or put elsewhere."""
    found = site.overview
    made = charts.chart(_asked(site, found, request)[1]) if found is not None else None
    if made is None:
        raise UnfitError(404, "There is no chart yet: nothing was read, or nothing of it holds a time.")
    sizes = {"width": charts.WIDTH, "height": charts.HEIGHT, "left": charts.LEFT, "bottom": charts.BOTTOM}
    return Response(rendering.page("chart.svg", {"chart": made, "sizes": sizes}), media_type="image/svg+xml")


def session(site: Site, request: Request) -> Response:
    """Show the findings of one session."""
    number, found = request.query_params.get("n", ""), site.overview
    every = found.account.sessions if found else []
    if not (number.isascii() and number.isdigit() and len(number) < 9 and int(number) < len(every)):
        raise UnfitError(404, "There is no such session; the report lists them once they were read.")
    seen = every[int(number)]
    return site.page(request, "session.html", seen=seen, findings=told(seen))


def read(site: Site, request: Request, form: Form) -> Response:
    """Read the sessions in the background: they may be many."""
    if JOB not in site.jobs or not site.jobs[JOB].endswith("…"):
        site.jobs[JOB] = "Reading the sessions of your agents …"
        Thread(target=_read, args=(site,), daemon=True).start()
    return site.go("/report")


def _read(site: Site) -> None:
    try:
        site.overview = overview(site.where, site.settings(), environment(), time())
        site.jobs.pop(JOB, None)
    except LessonbookError as error:
        site.jobs[JOB] = f"The sessions were not read: {error}"
    except Exception as error:  # noqa: BLE001  the thread's last door: the page says it, details go to a file
        site.jobs[JOB] = site.report(error)


def _fields(request: Request) -> dict[str, str]:
    return {name: request.query_params.get(name, "")[:200] for name in ("by", "agent", "project", "since")}


def _asked(site: Site, found: Overview, request: Request) -> tuple[Account, tuple[Week, ...], dict[str, str]]:
    """The account and the weeks that an address asks for. Raises ``InputError`` for a day that is none."""
    fields = _fields(request)
    which = Which(fields["agent"] or None, fields["project"] or None, _since(fields["since"]))
    account = narrowed(found.account, which)
    made = trend(account, site.where, fields["by"] if fields["by"] in BY else "")
    return account, made.weeks, made.unread


def _since(text: str) -> float | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError) as error:
        raise InputError(f"{text[:40]!r} is not a day, such as 2026-03-01.") from error


def _row(week: Week) -> dict[str, Any]:
    most = ", ".join(f"{kind} {count:,}" for kind, count in week.findings.most_common(_KINDS))
    failed = f"{100 * week.failed / week.calls:.1f}" if week.calls else ""
    return {"week": week, "most": most, "failed": failed}


SHOWN: dict[str, Callable[[Site, Request], Response]] = {
    "/report": report,
    "/report.svg": picture,
    "/session": session,
}
DONE: dict[str, Callable[[Site, Request, Form], Response]] = {"/report-read": read}
