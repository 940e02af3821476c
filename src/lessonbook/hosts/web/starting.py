"""Starts the page at an address of this machine, and opens it in the browser."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from lessonbook.core.errors import SetupError
from lessonbook.core.value import Value
from lessonbook.system import browser, loopback, serving
from lessonbook.system.settings import places

NEEDS = "`lessonbook review` needs the extra `web`: install `lessonbook[web]`, as you installed lessonbook."
_MODULES = ("starlette", "uvicorn", "jinja2")


class Wanted(Value):
    """What a person asks for: which books, in which folder, where to listen, whether to open the browser."""

    which: str
    cwd: Path
    address: str
    port: int
    allow_remote: bool
    browser: bool


def start(wanted: Wanted, report: Callable[[Exception], str]) -> int:
    """Serve the page until this process is told to end; print its address first.

    Raises ``SetupError`` where the extra is missing, ``InputError`` for a book, an address or a port that cannot be.
    """
    if not all(map(find_spec, _MODULES)):
        raise SetupError(NEEDS)
    from lessonbook.hosts.web.app import application
    from lessonbook.hosts.web.guard import ENTER, Guard, Keys, cookie_name
    from lessonbook.hosts.web.site import Site

    site = Site(places(), wanted.which, wanted.cwd, report)
    site.books()  # a book that no one has is said before anything is opened
    listening = loopback.listening(wanted.address, wanted.port, wanted.allow_remote)
    at, url = loopback.address_of(listening)
    keys, port = Keys(), int(listening.getsockname()[1])
    hosts = loopback.names(wanted.address, at)
    app = Guard(application(site, keys, cookie_name(port)), keys, hosts, port)
    link = f"{url}{ENTER}?token={keys.token}"
    opened = wanted.browser and browser.open_soon(link)
    _tell(link, opened, loopback.is_loopback(at))
    serving.serve(app, listening)
    return 0


def _tell(link: str, opened: bool, is_here: bool) -> None:
    lines = [
        f"lessonbook: the review page is at {link}",
        "It opens in your browser." if opened else "Open that address in your browser; it works once.",
    ]
    if not is_here:
        lines.append("Other machines can reach this address, and nothing is encrypted on the way.")
    sys.stderr.write("\n".join((*lines, "Ctrl-C ends it.", "")))
    sys.stderr.flush()
