"""The rest of the books: what a session is briefed with, where each line came from, skills, what was rejected."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lessonbook.actions.brief import brief_here
from lessonbook.actions.catalogue import all_skills, skill_text
from lessonbook.actions.review import NamedBook
from lessonbook.actions.undo import all_rejected
from lessonbook.book.provenance import lines, made
from lessonbook.core.briefing import MAX_CHARS, MAX_TOKENS
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.hosts.web.site import Site, at

_ROWS = 200
"""Commits, or rejected candidates, that one page shows."""


def briefing(site: Site, request: Request) -> Response:
    """Show what a session in the folder would start with now."""
    is_full = request.query_params.get("full") == "yes"
    made = brief_here(site.cwd, now=time(), full=is_full)
    limits = {"most_characters": MAX_CHARS, "most_tokens": MAX_TOKENS}
    return site.page(request, "briefing.html", made=made, full=is_full, **limits)


def history(site: Site, request: Request) -> Response:
    """Show where a book's lines came from, and every commit on its HEAD."""
    books = site.books()
    name = request.query_params.get("in", "") or books[0].name
    book = site.book(name)
    steps = made(book.folder)
    number, pages = _page(request, len(steps))
    shown = steps[(number - 1) * _ROWS : number * _ROWS]
    values: dict[str, Any] = {"book": book.name, "books": [one.name for one in books], "number": number, "pages": pages}
    return site.page(request, "history.html", lines=lines(book.folder), steps=shown, **values)


def skills(site: Site, request: Request) -> Response:
    """Show the skills of the folder, which of several of one name wins, and why; or the text of one."""
    where, settings = site.where, site.settings()
    name = request.query_params.get("name", "")
    text = skill_text(where, settings, site.cwd, name) if name else None
    found = all_skills(where, settings, site.cwd)
    return site.page(request, "skills.html", skills=found.skills, problems=found.problems, name=name, text=text)


def rejected(site: Site, request: Request) -> Response:
    """Show what was rejected, newest first, and why."""
    rows: list[dict[str, Any]] = []
    troubles = []
    for book in site.books():
        try:
            rows += _rejected_of(book)
        except LessonbookError as error:  # one bad book must not hide the others
            troubles.append(f"{book.name}: {error}")
    rows.sort(key=lambda row: (row["rejected_at"], row["id"]), reverse=True)
    number, pages = _page(request, len(rows))
    shown = rows[(number - 1) * _ROWS : number * _ROWS]
    return site.page(
        request, "rejected.html", rows=shown, troubles=troubles, number=number, pages=pages, count=len(rows)
    )


def _rejected_of(book: NamedBook) -> list[dict[str, Any]]:
    told, _ = all_rejected([book])
    return [{**row, "book": book.name} for row in told["books"][0]["rejected"]]


def _page(request: Request, count: int) -> tuple[int, int]:
    """Which page an address asks for, from 1, and how many there are. Raises ``InputError`` for what is no number."""
    said = request.query_params.get("page", "1")
    if not (said.isascii() and said.isdigit() and len(said) < 6):
        raise InputError(f"The address {at(request.url.path)} takes a page by its number.")
    pages = max(1, -(-count // _ROWS))
    return min(max(1, int(said)), pages), pages


SHOWN: dict[str, Callable[[Site, Request], Response]] = {
    "/briefing": briefing,
    "/history": history,
    "/skills": skills,
    "/rejected": rejected,
}
