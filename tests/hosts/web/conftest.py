"""The page as a person starts it: the real command in a process of its own, a real book, and a real browser."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from lessonbook.book.offer import Offer, offer

NOW = 1_798_675_200
KIND = "application/x-www-form-urlencoded"


@dataclass
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    text: str


class Served:
    """A running review page, and what it said at its start."""

    def __init__(self, *words: str, cwd: Path, env: Mapping[str, str] = {}) -> None:
        free = [] if "--port" in words or "--usual-port" in words else ["--port", "0"]
        shown = [word for word in words if word != "--usual-port"]
        command = [sys.executable, "-m", "lessonbook", "review", "--no-browser", *free, *shown]
        whole = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env}
        self.process = subprocess.Popen(command, env=whole, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = ""
        for line in self.process.stderr or ():
            self.said += line.decode()
            if line.startswith(b"Ctrl-C"):
                break
        found = re.search(r"http://\S+", self.said)
        assert found, self.said
        self.link = found[0]
        self.port = int(urlsplit(self.link).port or 0)
        self.origin = f"http://127.0.0.1:{self.port}"
        self.cookie = ""

    def ask(self, method: str, path: str, body: str | None = None, headers: Mapping[str, str | None] = {}) -> Answer:
        """Send one request as it stands; a header of ``None`` is left out."""
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie or None}
        if body is not None:
            sent |= {"Content-Type": KIND, "Content-Length": str(len(body.encode())), "Origin": self.origin}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**sent, **headers}.items():
            if value is not None:
                connection.putheader(name, value.encode("latin-1"))
        connection.endheaders(None if body is None else body.encode())
        got = connection.getresponse()
        answer = Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read().decode())
        connection.close()
        return answer

    def enter(self) -> None:
        """Exchange the token for the cookie."""
        got = self.ask("GET", self.link.removeprefix(self.origin))
        assert got.status == 200, got
        self.cookie = got.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, **headers: str | None) -> Answer:
        """Ask for a page."""
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, fields: Any, **headers: str | None) -> Answer:
        """Send a form."""
        return self.ask("POST", path, urlencode(fields), headers)

    def follow(self, answer: Answer) -> Answer:
        """Go where an answer sends the browser."""
        while answer.status == 303:
            answer = self.get(answer.headers["location"])
        return answer

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """End it by a signal; return the exit code and what it said since."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err.decode()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that the page is of."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def serve(work: Path) -> Iterator[Callable[..., Served]]:
    """``serve("--book", "global")``: a running page, entered already unless ``enter=False``."""
    pytest.importorskip("jinja2")
    started: list[Served] = []

    def start(*words: str, enter: bool = True, **env: str) -> Served:
        started.append(Served(*words, cwd=work, env=env))
        if enter:
            started[-1].enter()
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.communicate()


@pytest.fixture
def offered() -> Callable[..., list[str]]:
    """``offered(folder, "One.", Offer(…))``: puts candidates in a book's queue and returns their ids."""
    tails = iter(f"{number:06x}" for number in range(1, 1 << 20))

    def put(folder: Path, *texts: str | Offer, now: int = NOW) -> list[str]:
        offers = [Offer(text.rstrip("."), text) if isinstance(text, str) else text for text in texts]
        return offer(folder, offers, now, tails.__next__)

    return put


def chromium() -> str | None:
    """The browser of this machine, if there is one."""
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium without a window; the test is skipped where there is none.

    While it is open an event loop runs in this thread, so it is closed before tests of other modules, which run theirs.
    """
    sync = pytest.importorskip("playwright.sync_api")
    path = chromium()
    if path is None:
        pytest.skip("needs Chromium")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync.sync_playwright() as play:
        found = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu", *quiet])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """``open_page(server)``: the page in the browser, entered; what went wrong in it fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(server: Served, **how: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **how})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: wrong.append(request.url) if not _own(request.url, server) else None)
        if server.cookie:  # its link has been used
            name, _, value = server.cookie.partition("=")
            context.add_cookies([{"name": name, "value": value, "url": server.origin, "sameSite": "Strict"}])
        page.goto(server.origin if server.cookie else server.link)
        page.wait_for_url(f"{server.origin}/")
        return page

    opened.wrong = wrong  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    assert not wrong, wrong


def _own(url: str, server: Served) -> bool:
    return url.startswith(f"{server.origin}/")
