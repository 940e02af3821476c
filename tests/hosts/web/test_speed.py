"""A long queue is as quick to look at as a short one, and who looks keeps nobody from deciding."""

from __future__ import annotations

import fcntl
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from lessonbook.book import queue
from lessonbook.book.offer import Offer

ROUNDS = 5
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
pytestmark = pytest.mark.slow


class Held:
    """Watches a book's lock from outside, every millisecond: for how long it was held, at most and in one go."""

    def __init__(self, book: Path) -> None:
        self._path = book.parent / f".{book.name}.lock"
        self._ended = Event()
        self.longest = 0.0
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Held:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        since = None
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT)
        while not self._ended.wait(0.001):
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(handle, fcntl.LOCK_UN)
                since = None
            except BlockingIOError:
                since = since or time.monotonic()
                self.longest = max(self.longest, time.monotonic() - since)
        os.close(handle)


def rules(count: int) -> list[Offer]:
    return [Offer(f"Rule {n}", f"Run step {n} before task {n * 7} in part {n * 13}.") for n in range(count)]


def painted(serve: Any, open_page: Any) -> float:
    """Milliseconds until the first paint of the inbox of a page that was just started."""
    server = serve()
    time.sleep(1)  # a browser that is started takes longer than that
    page = open_page(server)
    page.wait_for_selector("[data-row]")
    page.wait_for_timeout(100)
    found = float(page.evaluate(PAINT))
    page.context.close()
    server.stop()
    assert found > 0
    return found


def test_the_first_paint_does_not_grow_with_the_queue(
    serve: Any, open_page: Any, commit: Callable[..., Path], home: Path, offered: Any, tmp_path: Path
) -> None:
    short, long = (commit({"AGENTS.md": "Lint.\n"}, f"{name}-00000001") for name in ("short", "long"))
    offered(short, *rules(10))
    offered(long, *rules(1000))
    times: dict[str, list[float]] = {"short-00000001": [], "long-00000001": []}
    for _ in range(ROUNDS):
        for name, found in times.items():  # in turns: a busy machine slows both
            found.append(painted(lambda name=name: serve("--book", name), open_page))
    few, many = (statistics.median(found) for found in times.values())
    print(f"first paint: {few:.0f} ms with 10, {many:.0f} ms with 1,000")
    assert many <= 2 * few, times


def test_who_looks_holds_no_lock(serve: Any, commit: Callable[..., Path], offered: Any) -> None:
    book = commit({"AGENTS.md": "Lint.\n"})
    ids = offered(book, *rules(60))
    server = serve()
    with Held(book) as held:
        one = f"?in=global&id={ids[3]}"
        for path in ("", "?q=step", "?only=signs", f"candidate{one}", f"edit{one}", "state", "history", "briefing"):
            assert server.get(f"/{path}").status == 200
    assert held.longest == 0.0


def test_who_decides_holds_it_as_long_as_the_verb_and_no_longer(
    serve: Any, commit: Callable[..., Path], offered: Any
) -> None:
    book = commit({"AGENTS.md": "Lint.\n"})
    ids = offered(book, *rules(60))
    verb, page = [], []
    server = serve()
    for at in range(0, 10, 2):
        with Held(book) as held:
            assert queue.accept(book, ids[at], int(time.time()))["ok"]
        verb.append(held.longest)
        commit_of = {row["id"]: row["commit"] for row in queue.pending(book)}
        with Held(book) as held:
            answer = server.post("/accept", {"in": "global", "id": ids[at + 1], "commit": commit_of[ids[at + 1]]})
            assert answer.status == 303 and ids[at + 1] not in {row["id"] for row in queue.pending(book)}
        page.append(held.longest)
    assert statistics.median(page) <= 2 * statistics.median(verb) + 0.01, (verb, page)


def test_a_batch_is_waited_for_by_nobody_and_said(serve: Any, commit: Callable[..., Path], offered: Any) -> None:
    book = commit({"AGENTS.md": "Lint.\n"})
    (id,) = offered(book, "One.")
    server = serve()
    with queue.book_locked(book):
        assert server.get("/").status == 200 and server.get(f"/candidate?in=global&id={id}").status == 200
        commit_now = queue.pending(book)[0]["commit"]
        went = server.post("/accept", {"in": "global", "id": id, "commit": commit_now})
        assert went.status == 303 and "batch is running" in server.get(went.headers["location"]).text
    assert [row["id"] for row in queue.pending(book)] == [id]
