"""Starts the page at an address of this machine, and opens it in the browser."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

from lessonbook.core.errors import InputError, SetupError
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
    port: int | None
    usual_port: int
    """Where to listen while nobody names a port; another free one where that is taken."""
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
    listening = _listening(wanted)
    at, url = loopback.address_of(listening)
    keys, port = Keys(), int(listening.getsockname()[1])
    hosts = loopback.names(wanted.address, at)
    app = Guard(application(site, keys, cookie_name(port)), keys, hosts, port)
    Thread(target=site.prepare, daemon=True).start()
    link = f"{url}{ENTER}?token={keys.token}"
    opened = wanted.browser and browser.open_soon(link)
    _tell(link, opened, loopback.is_loopback(at))
    serving.serve(app, listening)
    return 0


def _listening(wanted: Wanted) -> socket.socket:
    if wanted.port is not None:
        return loopback.listening(wanted.address, wanted.port, wanted.allow_remote)
    try:
        return loopback.listening(wanted.address, wanted.usual_port, wanted.allow_remote)
    except InputError:  # taken, most likely by another page of ours; whatever else is wrong is wrong with any port
        return loopback.listening(wanted.address, 0, wanted.allow_remote)


def _tell(link: str, opened: bool, is_here: bool) -> None:
    lines = [
        f"lessonbook: the review page is at {link}",
        "It opens in your browser." if opened else "Open that address in your browser; it works once.",
    ]
    if not is_here:
        lines.append("Other machines can reach this address, and nothing is encrypted on the way.")
    sys.stderr.write("\n".join((*lines, "Ctrl-C ends it.", "")))
    sys.stderr.flush()
