"""What a person does on the page: each a form sent with ``POST``, each one verb of the queue, then on to a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lessonbook.actions import review, rework, tidying, undo
from lessonbook.actions.looking import title
from lessonbook.actions.review import NamedBook, in_terminal
from lessonbook.book import editing
from lessonbook.core.errors import InputError, LessonbookError
from lessonbook.core.merge import merge3
from lessonbook.core.screen import short
from lessonbook.hosts.web.forms import Form, UnfitError
from lessonbook.hosts.web.notices import Back, Notice
from lessonbook.hosts.web.pages import edit_page, place, readable
from lessonbook.hosts.web.site import Site, View, candidate_of, view_in

_LONGEST_TITLE = 60


def accept(site: Site, request: Request, form: Form) -> Response:
    """Accept a candidate as it was shown, or some of its files."""
    book, id, commit = _shown(site, form)
    options = {"by": site.reviewer(), "only": form.all("only"), "acknowledged": form.one("acknowledge") == "yes"}
    return _decided(site, form, book, id, "accept", commit, **options)


def reject(site: Site, request: Request, form: Form) -> Response:
    """Reject a candidate as it was shown, and remember why."""
    book, id, commit = _shown(site, form)
    return _decided(site, form, book, id, "reject", commit, reason=form.text("reason").strip() or None)


def _decided(site: Site, form: Form, book: NamedBook, id: str, what: str, commit: str, **options: Any) -> Response:
    view = view_in(form)
    named, following = _around(site, view, book.name, id)
    with site.writing:
        told, text = review.decide(book, what, id, site.now(), commit=commit, **options)
    if not told["ok"]:
        return _back(site, view, book.name, id, Notice(_refused(text), refused=True))
    if told.get("rest"):
        return _back(site, view, book.name, id, Notice(text, backs=(Back(what, book.name, id, named),)))
    done = Notice(_short_moves(f"{_PAST[what]} “{named}”", told), backs=(Back(what, book.name, id, named),))
    if following is None:
        return site.go("/", done, **view.fields(page=1))
    return site.go("/candidate", done, **{"in": following[0]}, id=following[1], **view.fields())


def accept_many(site: Site, request: Request, form: Form) -> Response:
    """Accept several candidates in one move per book, each as it was shown in the list."""
    chosen: dict[str, list[str]] = {}
    for value in form.all("which"):
        named, _, id = value.rpartition(" ")
        chosen.setdefault(named, []).append(id)
    view = view_in(form)
    if not chosen:
        return site.go("/", Notice("No candidate was selected.", refused=True), **view.fields())
    lines, backs, ok = [], [], True
    for name, ids in chosen.items():
        book = site.book(name)
        titles = {entry.row.id: title(entry.row) for entry in site.desk.inbox().entries if entry.book.name == name}
        with site.writing:
            told, _ = rework.accept_many([book], ids, site.now(), site.reviewer())
        (answer,) = told["books"]
        backs += [Back("accept", name, row["id"], titles.get(row["id"], row["id"])) for row in answer["accepted"]]
        lines += [f"Not accepted: “{titles.get(row['id'], row['id'])}”: {row['error']}" for row in answer["refused"]]
        ok = ok and bool(told["ok"])
    count = f"Accepted {len(backs)} candidate{'' if len(backs) == 1 else 's'}."
    text = _refused("\n".join([count, *lines]))
    return site.go("/", Notice(text, refused=not ok, backs=tuple(backs)), **view.fields())


def save(site: Site, request: Request, form: Form) -> Response:
    """Lay what the person wrote on the candidate they were shown, and accept it where they say so."""
    book, id, commit = _shown(site, form)
    view, pairs = view_in(form), _written(form)
    try:
        with site.writing:
            told, text = rework.edit_in(lambda now: _laid(pairs, now), book, id, site.now(), site.reviewer(), commit)
    except InputError as error:
        told, text = {"ok": False}, str(error)
    if not told["ok"]:
        drafts = editing.drafts(book.folder, id)
        if not drafts["ok"]:
            return _back(site, view, book.name, id, Notice(_refused(text), refused=True))
        # With the commit they were shown: who wrote on an older candidate has to look at the new one first.
        shown = {**drafts, "commit": commit}
        written = {path: after for path, (_, after) in pairs.items()}
        return edit_page(site, request, view, book.name, id, shown, _refused(text), written=written)
    if form.one("then") != "accept":
        return _back(site, view, book.name, id, Notice(f"{text[:1].upper()}{text[1:]}."))
    options = {"by": site.reviewer(), "acknowledged": form.one("acknowledge") == "yes"}
    return _decided(site, form, book, id, "accept", str(told["commit"]), **options)


def _written(form: Form) -> dict[str, tuple[str, str]]:
    """What stood in each field and what stands in it now, by path."""
    found = {}
    for number, path in enumerate(form.all("path")):
        found[path] = (form.text(f"before-{number}"), form.text(f"after-{number}"))
    return found


def _laid(pairs: Mapping[str, tuple[str, str]], now: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with what the person changed: what others accepted while they wrote stays.

    Raises ``InputError`` where both changed the same lines.
    """
    laid = dict(now)
    for path, (before, after) in pairs.items():
        text = readable(now.get(path, b"\xff"))
        if before == after:
            continue
        if text is None:
            raise InputError(f"{short(path)} is not a text any more, so it cannot be changed here.")
        merged = merge3(before.encode(), text.encode(), after.encode())
        if merged is None:
            raise InputError(f"{short(path)} changed in the book while you wrote, in the same lines; look at both.")
        laid[path] = merged.replace(b"\n", b"\r\n") if b"\r\n" in now[path] else merged
    return laid


def split(site: Site, request: Request, form: Form) -> Response:
    """Make several candidates of one, and show the first."""
    book, id, commit = _shown(site, form)
    view = view_in(form)
    with site.writing:
        told, text = rework.split(book, id, form.one("by"), site.now(), site.reviewer(), commit)
    if not told["ok"]:
        return _back(site, view, book.name, id, Notice(_refused(text), refused=True))
    parts = told["parts"]
    done = Notice(f"Split into {len(parts)}; this is the first, the others follow it.")
    return _back(site, view, book.name, str(parts[0]["id"]), done)


def take_back(site: Site, request: Request, form: Form) -> Response:
    """Undo an accept or a reject: the candidate waits again, and is shown."""
    name, id = candidate_of(form.one)
    what, book = form.one("what"), site.book(name)
    with site.writing:
        if what == "accept":
            told, text = undo.taken_back(book, id, site.now())
        elif what == "reject":
            told, text = undo.put_back(book, id)
        else:
            raise UnfitError(400, "Say what to undo: accept or reject.")
    view = view_in(form)
    if not told["ok"]:
        return site.go("/", Notice(_refused(text), refused=True), **view.fields())
    site.notices.settled(what, name, id)
    done = Notice(f"Took back the {what}: it waits for review again.")
    return _back(site, view, name, id, done)


def compact(site: Site, request: Request, form: Form) -> Response:
    """Have a shorter ``AGENTS.md`` proposed in the background: a model may take minutes."""
    book, id = site.book(form.one("in")), form.one("id") or None
    if site.settings().editor is None:
        from lessonbook.system.chat import needed

        raise needed(site.where, "compact")
    if _job(book) not in site.jobs:
        site.jobs[_job(book)] = f"Asking the editor model for a shorter AGENTS.md of {book.name} …"
        Thread(target=_compact, args=(site, book, id), daemon=True).start()
    return site.go("/", None, **view_in(form).fields())


def _compact(site: Site, book: NamedBook, id: str | None) -> None:
    said = ""
    try:
        told = tidying.compacted(book, id, site.now())
        said = "" if told["ok"] else str(told["error"])
    except LessonbookError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001  the thread's last door: the page says it, details go to a file
        said = site.report(error)
    if said:
        site.jobs[_job(book)] = f"No shorter AGENTS.md of {book.name}: {in_terminal(said)}"
    else:
        site.jobs.pop(_job(book), None)


def _job(book: NamedBook) -> str:
    return f"compact {book.name}"


def dismiss(site: Site, request: Request, form: Form) -> Response:
    """Put away what the background work said."""
    for name, said in list(site.jobs.items()):
        if not said.endswith("…"):
            site.jobs.pop(name, None)
    return site.go("/", None, **view_in(form).fields())


def _shown(site: Site, form: Form) -> tuple[NamedBook, str, str]:
    """The book, the id and the commit that a form was shown for; a decision on no commit is none of this page's."""
    name, id = candidate_of(form.one)
    commit = form.one("commit")
    if not commit:
        raise UnfitError(400, "Say which commit was shown; the page does.")
    return site.book(name), id, commit


def _around(site: Site, view: View, book: str, id: str) -> tuple[str, tuple[str, str] | None]:
    """What a candidate is called, and which one a person looks at after it."""
    found = site.desk.inbox()
    named = next((title(entry.row) for entry in found.entries if (entry.book.name, entry.row.id) == (book, id)), id)
    beside = place(site.desk.fitting(found, view.filter), book, id)
    return short(named, _LONGEST_TITLE), beside["after"] or beside["before"]


def _back(site: Site, view: View, book: str, id: str, notice: Notice) -> Response:
    return site.go("/candidate", notice, **{"in": book}, id=id, **view.fields())


def _short_moves(text: str, told: Mapping[str, Any]) -> str:
    stale = len(told.get("stale") or ())
    held = "; the book already held it" if "commit" in told and told["commit"] is None else ""
    return f"{text}{held}{f'; {stale} of the others no longer apply' if stale else ''}."


def _refused(text: str) -> str:
    """A refusal as this page says it: the command that would do it elsewhere is of no use here."""
    said = in_terminal(text)
    return f"{said[:1].upper()}{said[1:]}"


_PAST = {"accept": "Accepted", "reject": "Rejected"}

DONE: dict[str, Callable[[Site, Request, Form], Response]] = {
    "/accept": accept,
    "/accept-many": accept_many,
    "/reject": reject,
    "/save": save,
    "/split": split,
    "/undo": take_back,
    "/compact": compact,
    "/dismiss": dismiss,
}
