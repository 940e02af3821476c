"""The inbox, and one candidate of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from lessonbook.actions.grounds import grounds
from lessonbook.actions.inbox import Entry, Inbox
from lessonbook.actions.looking import Look, look, title
from lessonbook.book import editing
from lessonbook.book.sentences import LEARNED_MAX
from lessonbook.core.errors import InputError
from lessonbook.hosts.web.notices import Notice
from lessonbook.hosts.web.site import Site, View, candidate_of, view_of

AT_ONCE = 50
"""Candidates one page of the inbox shows."""


def inbox(site: Site, request: Request) -> Response:
    """Show what waits, a page of it at a time."""
    view = view_of(request)
    if view.filter.only in ("signs", "twins"):
        site.desk.look_now()
    found = site.desk.inbox()
    entries = site.desk.fitting(found, view.filter)
    pages = max(1, -(-len(entries) // AT_ONCE))
    number = min(view.page, pages)
    shown = entries[(number - 1) * AT_ONCE : number * AT_ONCE]
    return site.page(
        request,
        "inbox.html",
        view=view,
        rows=[_row(entry) for entry in shown],
        count=len(entries),
        total=len(found.entries),
        number=number,
        pages=pages,
        meters=_meters(found),
        books=[meter.book.name for meter in found.meters],
        most=LEARNED_MAX,
        state=_state(site, found),
        marked=all(entry.looked for entry in shown),
    )


def candidate(site: Site, request: Request) -> Response:
    """Show one candidate, or send the browser on to the inbox where it does not wait any more."""
    book, id = candidate_of(lambda name: request.query_params.get(name, ""))
    view = view_of(request)
    try:
        found = look(site.book(book), id)
    except InputError as error:
        done = request.query_params.get("done", "")
        if site.notices.get(done) is None:
            done = str(site.notices.add(Notice(str(error), refused=True)))
        return RedirectResponse(view.address("/", done=done), 303)
    entries = site.desk.inbox()
    fitting = site.desk.fitting(entries, view.filter)
    return site.page(
        request,
        "candidate.html",
        view=view,
        look=found,
        row=found.row,
        title=title(found.row),
        beside=_beside(found, view),
        state=_state(site, entries),
        most=LEARNED_MAX,
        names={entry.row.id: title(entry.row) for entry in entries.entries if entry.book.name == book},
        **place(fitting, book, id),
    )


def place(entries: Sequence[Entry], book: str, id: str) -> dict[str, Any]:
    """Return where a candidate stands among those a person goes through: its number, and those beside it."""
    keys = [(entry.book.name, entry.row.id) for entry in entries]
    at = keys.index((book, id)) if (book, id) in keys else -1
    after = keys[at + 1] if at + 1 < len(keys) else None
    return {
        "number": at + 1,
        "count": len(keys),
        "before": keys[at - 1] if at > 0 else None,
        "after": after if at >= 0 else None,
    }


def edit(site: Site, request: Request) -> Response:
    """Show the files of a candidate to be changed."""
    book, id = candidate_of(lambda name: request.query_params.get(name, ""))
    told = editing.drafts(site.book(book).folder, id)
    if not told["ok"]:
        return site.go("/candidate", Notice(str(told["error"]), refused=True), **{"in": book}, id=id)
    return edit_page(site, request, view_of(request), book, id, told)


def edit_page(
    site: Site, request: Request, view: View, book: str, id: str, told: dict[str, Any], problem: str = "", **texts: Any
) -> Response:
    """Return the page where files are changed; ``problem`` says why what the person wrote (``written``) was refused."""
    files = []
    for path, data in told["files"].items():
        text = readable(data)
        written = texts.get("written", {}).get(path)
        files.append({"path": path, "text": text, "written": text if written is None else written})
    status = 409 if problem else 200
    values = {"book": book, "id": id, "commit": told["commit"], "conflicts": told["conflicts"]}
    return site.page(request, "edit.html", status, view=view, files=files, problem=problem, **values)


def readable(data: bytes) -> str | None:
    """Return a file's text with plain line ends, as a browser shows it; ``None`` for what is no text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def state(site: Site, request: Request) -> Response:
    """Say where the queue stands, for a page that is open: asked again and again, so it reads nothing."""
    site.desk.look_soon()
    return JSONResponse({"state": site.state()})


def _state(site: Site, found: Inbox) -> str:
    return f"{found.state}-{site.state().rpartition('-')[2]}"


def _beside(found: Look, view: View) -> bool:
    """Whether to show both sides: as the person chose, else where there are two."""
    if view.diff:
        return view.diff == "side"
    rows = (row for file in found.files for hunk in file.hunks for row in hunk)
    return any(row.kind in ("removed", "changed") for row in rows)


def _row(entry: Entry) -> dict[str, Any]:
    count = grounds(entry.row.trailers).count
    return {"row": entry.row, "book": entry.book.name, "title": title(entry.row), "count": count}


def _meters(found: Inbox) -> list[Any]:
    """The meters of the books that hold or wait for something, and of those that cannot be read."""
    return [meter for meter in found.meters if meter.waiting or meter.characters or meter.trouble]


SHOWN: dict[str, Callable[[Site, Request], Response]] = {
    "/": inbox,
    "/candidate": candidate,
    "/edit": edit,
    "/state": state,
}
