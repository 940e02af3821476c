"""The outbox: what waits for a server, what it would not take and why, and what a person does about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import time

from starlette.requests import Request
from starlette.responses import Response

from lessonbook.actions import outbox as actions
from lessonbook.hosts.web.forms import Form, UnfitError
from lessonbook.hosts.web.notices import Notice
from lessonbook.hosts.web.site import Site
from lessonbook.memory.outbox.items import WAITING, State
from lessonbook.memory.outbox.outbox import Outbox

SHOWN_MOST = 200


def outbox(site: Site, request: Request) -> Response:
    """Show what waits and what was set aside, the oldest first."""
    with _opened(site) as (box, address):
        told, rows, servers = actions.listed(box, SHOWN_MOST, time(), address)
    items = [dict(zip(actions.HEAD, row, strict=True)) for row in rows]
    count = sum(told["counts"][state] for state in (*WAITING, State.DEAD))
    return site.page(request, "outbox.html", items=items, servers=servers, count=count, most=SHOWN_MOST, is_on=address)


def change(site: Site, request: Request, form: Form) -> Response:
    """Try again what was set aside, or drop an item for good."""
    what, id = form.one("what"), form.one("id")
    if what not in ("retry", "drop") or not (id.isascii() and id.isdecimal() and 0 < len(id) < 19):
        raise UnfitError(400, "Say what to do, retry or drop, and with which item.")
    with _opened(site) as (box, _):
        _, text = actions.drop(box, [int(id)]) if what == "drop" else actions.retry(box, [int(id)], time())
    return site.go("/outbox", Notice(text.partition(";")[0].rstrip(".") + "."))


@contextmanager
def _opened(site: Site) -> Iterator[tuple[Outbox, str | None]]:
    settings = site.settings()
    box = actions.open_outbox(settings)
    try:
        yield box, actions.current(settings)
    finally:
        box.close()


SHOWN: dict[str, Callable[[Site, Request], Response]] = {"/outbox": outbox}
DONE: dict[str, Callable[[Site, Request, Form], Response]] = {"/outbox-change": change}
