"""The page as an application: which address leads where, and the one place where an error becomes a page."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import partial

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from lessonbook.core.errors import BusyError, InputError, LessonbookError, SetupError
from lessonbook.hosts.web import acts, book_pages, memory_pages, outbox_pages, pages, rendering, report_pages
from lessonbook.hosts.web.forms import Form, UnfitError, read_form
from lessonbook.hosts.web.guard import ENTER, Keys, cookie
from lessonbook.hosts.web.site import Site

Show = Callable[[Site, Request], Response]
Act = Callable[[Site, Request, Form], Response]

_PAGES = (memory_pages, outbox_pages, report_pages)
SHOWN: dict[str, Show] = {**pages.SHOWN, **book_pages.SHOWN, **{k: v for one in _PAGES for k, v in one.SHOWN.items()}}
DONE: dict[str, Act] = {**acts.DONE, **{k: v for one in _PAGES for k, v in one.DONE.items()}}
_FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}


def application(site: Site, keys: Keys, cookie_name: str) -> Starlette:
    """Return the application; ``guard.Guard`` stands before it."""
    routes: list[BaseRoute] = [Route(ENTER, partial(_enter, keys, cookie_name), methods=["GET"])]
    routes += [Route(f"/static/{name}", partial(_file, name), methods=["GET"]) for name in _FILES]
    routes += [Route(path, partial(_show, site, show), methods=["GET"]) for path, show in SHOWN.items()]
    routes += [Route(path, partial(_act, site, act), methods=["POST"]) for path, act in DONE.items()]
    found = Starlette(routes=routes, exception_handlers={HTTPException: partial(_missing, site)})
    found.router.redirect_slashes = False
    return found


async def _show(site: Site, show: Show, request: Request) -> Response:
    return await run_in_threadpool(_guarded, site, request, lambda: show(site, request))


async def _act(site: Site, act: Act, request: Request) -> Response:
    try:
        form = await read_form(request)
    except UnfitError as error:
        return PlainTextResponse(f"{error}\n", error.status)
    return await run_in_threadpool(_guarded, site, request, lambda: act(site, request, form))


def _guarded(site: Site, request: Request, answer: Callable[[], Response]) -> Response:
    """Return the answer, or the page that says why there is none; no trace of the program ever leaves here."""
    try:
        return answer()
    except LessonbookError as error:
        return _sentence(site, request, _status(error), str(error))
    except Exception as error:  # noqa: BLE001  the last door: whatever was missed becomes one sentence, details in a file
        return _sentence(site, request, 500, site.report(error))


def _status(error: LessonbookError) -> int:
    if isinstance(error, UnfitError):
        return error.status
    return {InputError: 400, BusyError: 409, SetupError: 409}.get(type(error), 500)


def _sentence(site: Site, request: Request, status: int, sentence: str) -> Response:
    return site.page(request, "sentence.html", status, sentence=sentence)


async def _missing(site: Site, request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    sentence = "There is no such page." if status == 404 else "That is not how this page is asked."
    return _sentence(site, request, status, sentence)


async def _enter(keys: Keys, name: str, request: Request) -> Response:
    """Exchange the one-time token for the cookie. The page goes on by itself, so that the cookie counts as its own."""
    if not keys.take(request.query_params.get("token", "")):
        if not hmac.compare_digest(request.cookies.get(name, "").encode(), keys.secret.encode()):
            return HTMLResponse(rendering.page("closed.html", {}), 401)
        # Opened twice: the person is in already.
        return HTMLResponse(rendering.page("enter.html", {}), headers={"referrer-policy": "no-referrer"})
    told = {"set-cookie": cookie(name, keys.secret), "referrer-policy": "no-referrer"}
    return HTMLResponse(rendering.page("enter.html", {}), headers=told)


async def _file(name: str, request: Request) -> Response:
    return FileResponse(rendering.HERE / "static" / name, media_type=_FILES[name])
