"""The outbox on the page: what waits and what was set aside is shown, tried again, and dropped only when asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lessonbook.memory.outbox.outbox import OUTBOX_FILE

NASTY = "<img src=x onerror=alert(1)> \u202edesrever"


@pytest.fixture
def queued(run: Any, home: Path) -> Path:
    """Two lessons on their way to a server that is not there; the outbox's file."""
    for name, value in (("memory.backend", "hindsight"), ("hindsight.url", "http://127.0.0.1:9")):
        assert run("config", "set", name, value).returncode == 0
    for text in ("Tag before releasing.", f"Second. {NASTY}"):
        assert "queued" in run("learn", text).stdout
    return home / ".local/share/lessonbook/agent" / OUTBOX_FILE


def ids(file: Path, state: str) -> list[int]:
    with closing(sqlite3.connect(file)) as db:
        return [row[0] for row in db.execute("SELECT seq FROM outbox WHERE state = ? ORDER BY seq", (state,))]


def test_nothing_waits_and_looking_makes_no_file(serve: Callable[..., Any], home: Path) -> None:
    page = serve().get("/outbox")
    assert page.status == 200 and "Nothing waits." in page.text and "No server is configured" in page.text
    assert list(home.rglob(OUTBOX_FILE)) == []


def test_what_waits_is_shown_and_dropped(serve: Callable[..., Any], queued: Path) -> None:
    server = serve()
    page = server.get("/outbox").text
    assert "Tag before releasing." in page and "Second." in page and ">Try again<" not in page
    assert "<img" not in page and "\u202e" not in page
    first, second = ids(queued, "queued")
    assert server.get(f"/outbox-change?what=drop&id={first}").status == 405
    assert len(ids(queued, "queued")) == 2
    told = server.follow(server.post("/outbox-change", {"what": "drop", "id": first})).text
    assert "Dropped 1 item." in told and ids(queued, "queued") == [second]


def test_what_was_set_aside_says_why_and_is_tried_again(serve: Callable[..., Any], queued: Path) -> None:
    with closing(sqlite3.connect(queued)) as db:
        db.execute("UPDATE outbox SET state = 'dead', last_error = 'the server found it wrong' WHERE seq = 1")
        db.commit()
    server = serve()
    page = server.get("/outbox").text
    assert "the server found it wrong" in page and page.count(">Try again<") == 1
    assert "in line again" in server.follow(server.post("/outbox-change", {"what": "retry", "id": "1"})).text
    assert ids(queued, "dead") == [] and len(ids(queued, "queued")) == 2


@pytest.mark.parametrize("fields", [{"what": "flush", "id": "1"}, {"what": "drop", "id": "x"}, {"what": "retry"}])
def test_what_no_button_sends_is_refused(serve: Callable[..., Any], fields: dict[str, str]) -> None:
    assert serve().post("/outbox-change", fields).status == 400


def test_an_item_that_is_gone_is_told_in_a_sentence(serve: Callable[..., Any], queued: Path) -> None:
    answer = serve().post("/outbox-change", {"what": "drop", "id": "99"})
    assert answer.status == 400 and "99" in answer.text
