"""What every page of one run shares: which books, which folder, what was done, and how an answer is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import time
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lessonbook.actions import review
from lessonbook.actions.inbox import ONLY, Desk, Filter
from lessonbook.actions.overview import Overview
from lessonbook.actions.review import NamedBook
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.reviewer import Reviewer
from lessonbook.core.version import __version__
from lessonbook.hosts.web import rendering
from lessonbook.hosts.web.forms import Form, UnfitError
from lessonbook.hosts.web.notices import Notice, Notices
from lessonbook.system import settings
from lessonbook.system.settings import Places, Settings


class View:
    """How a person looks at the queue, as the address says it; whatever it says, it is one of ours."""

    def __init__(self, said: Callable[[str], str]) -> None:
        only, diff, page = said("only"), said("diff"), said("page")
        self.filter = Filter(said("book")[:200], said("q")[:200], only if only in ONLY else "")
        self.diff = diff if diff in ("side", "inline") else ""
        self.page = int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 6 else 1

    def fields(self, **changes: str | int) -> dict[str, str]:
        """Return the view as fields of an address or a form, with some changed; what is as usual is left out."""
        page = self.page if self.page > 1 else ""
        own = {"book": self.filter.book, "q": self.filter.text, "only": self.filter.only}
        found = {**own, "diff": self.diff, "page": page, **changes}
        return {name: str(value) for name, value in found.items() if value not in ("", None)}

    def address(self, path: str, **changes: str | int) -> str:
        """Return the address of a page of ours in this view."""
        return at(path, **self.fields(**changes))


def at(path: str, **fields: str | int) -> str:
    """Return an address with fields."""
    return f"{path}?{urlencode(fields)}" if fields else path


class Site:
    """One run of the page. ``which`` names the books, ``cwd`` is the folder that briefing, skills and memory are of."""

    def __init__(self, where: Places, which: str, cwd: Path, report: Callable[[Exception], str]) -> None:
        self.where, self.cwd, self.report = where, cwd, report
        self._which = which
        self.desk = Desk(self.books)
        self.notices = Notices()
        self.jobs: dict[str, str] = {}
        """What is being worked on in the background, by what it is: a sentence for people, ``…`` while it goes on."""
        self.overview: Overview | None = None
        """What the sessions come to, once a person asked for it."""
        self.writing = Lock()
        """Held while a verb decides: two tabs wait for each other in the place of being refused."""

    def books(self) -> list[NamedBook]:
        """Return the books of this page. Raises ``InputError`` where none is called so."""
        return review.books(self.where, self._which, self.cwd)

    def book(self, name: str) -> NamedBook:
        """Return the book of a name. Raises ``UnfitError`` for a name none of this page has."""
        for book in self.books():
            if book.name == name:
                return book
        raise UnfitError(404, "This page has no book of that name.")

    def settings(self) -> Settings:
        """Return what the configuration says now. Raises ``SetupError``."""
        return settings.load(self.where)

    def reviewer(self) -> Reviewer:
        """Return who decides here, as the configuration says now. Raises ``SetupError``."""
        return settings.reviewer(self.where.config_file)

    def prepare(self) -> None:
        """Read what the first page needs, while the browser still opens; what is wrong is said by the page itself."""
        try:
            self.desk.inbox()
        except LessonbookError:
            pass
        for name in ("inbox.html", "candidate.html"):
            rendering.environment().get_template(name)

    def now(self) -> int:
        """Return the time in epoch seconds."""
        return int(time())

    def state(self) -> str:
        """Return what changes with every change of the queue, and with what is worked on."""
        return f"{self.desk.state()}-{hash(tuple(sorted(self.jobs.items()))) & 0xFFFFFF:x}"

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page: the template with the values that every page has, and its own."""
        common = {
            "notice": self.notices.get(request.query_params.get("done", "")),
            "last": self.notices.last,
            "jobs": list(self.jobs.values()),
            "version": __version__,
            "here": request.url.path,
            "at": at,
            "state": "",
            "cwd": str(self.cwd),
        }
        return HTMLResponse(rendering.page(template, {**common, **values}), status)

    def go(self, path: str, notice: Notice | None = None, /, **fields: str | int) -> Response:
        """Send the browser on to a page of ours, with what to tell there."""
        told = {"done": self.notices.add(notice)} if notice is not None else {}
        return RedirectResponse(at(path, **fields, **told), 303)


def view_of(request: Request) -> View:
    """Return the view an address asks for."""
    return View(lambda name: request.query_params.get(name, ""))


def view_in(form: Form) -> View:
    """Return the view a form was sent from: its fields of the view are prefixed, beside its own."""
    return View(lambda name: form.one(f"view-{name}"))


def candidate_of(said: Callable[[str], str]) -> tuple[str, str]:
    """Return the names of a book and of a candidate. Raises ``InputError`` where one is missing."""
    book, id = said("in"), said("id")
    if not book or not id:
        raise InputError("Say which candidate: its book and its id.")
    return book, id
