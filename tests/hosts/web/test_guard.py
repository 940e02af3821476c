"""Who gets in, and what a page of another origin, another name or another user of this machine can do: nothing."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessonbook.book import queue
from lessonbook.hosts.web.guard import Guard, Keys
from lessonbook.system.loopback import LOOPBACK

READ = ("/", "/candidate", "/edit", "/state", "/briefing", "/history", "/skills", "/memories", "/lesson", "/rejected",
        "/report", "/report.svg", "/session", "/outbox")  # fmt: skip
WRITE = (
    "/accept",
    "/outbox-change",
    "/accept-many",
    "/reject",
    "/save",
    "/split",
    "/undo",
    "/compact",
    "/dismiss",
    "/lesson-change",
    "/report-read",
)
STATIC = ("/static/page.css", "/static/page.js", "/static/icon.svg")
GRACE, MARGIN = 2.0, 8.0


@pytest.fixture
def book(commit: Callable[..., Path]) -> Path:
    return commit({"AGENTS.md": "Lint first.\n"})


def waiting(book: Path) -> list[str]:
    return [row["id"] for row in queue.pending(book)]


def test_the_link_opens_once_and_only_where_it_was_opened(serve: Any, book: Path) -> None:
    server = serve(enter=False)
    assert len(server.link.partition("token=")[2]) >= 40
    for path in (*READ, *STATIC, "/nope", "/enter/"):
        assert server.get(path).status == 401
    assert server.get("/enter").status == 401 and server.get("/enter?token=x").status == 401
    server.enter()
    name, _, value = server.cookie.partition("=")
    assert name == f"lessonbook-{server.port}" and len(value) >= 40
    assert server.get("/").status == 200
    link = server.link.removeprefix(server.origin)
    assert server.get(link).status == 200  # the same browser, opening it again
    for cookie in (None, "", f"{name}=", f"{name}={value[:-1]}", f"{name}x={value}", f"{name}={value}x", "a=b"):
        assert server.get(link, Cookie=cookie).status == 401
        assert server.get("/", Cookie=cookie).status == 401
        assert server.post("/accept", {}, Cookie=cookie).status == 401
    assert server.get("/", Cookie=f"{name}=planted; {server.cookie}").status == 200
    assert server.link.partition("token=")[2] not in server.get("/").text
    code, said = server.stop()
    assert code == 0 and "Traceback" not in said and value not in said


def test_the_cookie_is_for_our_own_pages_alone(serve: Any, book: Path) -> None:
    server = serve(enter=False)
    told = server.get(server.link.removeprefix(server.origin)).headers["set-cookie"]
    assert {part.strip() for part in told.split(";")[1:]} == {"HttpOnly", "Path=/", "SameSite=Strict"}


def test_every_answer_carries_the_policy(serve: Any, book: Path) -> None:
    server = serve()
    refused = [server.get("/", Host="evil.example"), server.get("/", Cookie=None), server.post("/nope", {})]
    for answer in [*map(server.get, (*READ, *STATIC, "/nope")), *refused]:
        policy = answer.headers["content-security-policy"]
        assert (
            policy.startswith("default-src 'none';") and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        )
        assert "http" not in policy and "*" not in policy and "data:" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
    assert server.get("/enter?token=x").headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1.evil.example:{port}",
     "127.0.0.1:{port}.evil.example", "0.0.0.0:{port}", "[::1]:{port}x", "127.0.0.1:{port}@evil.example", "", None],
)  # fmt: skip
def test_another_host_is_refused_on_reading_too(serve: Any, book: Path, offered: Any, host: str | None) -> None:
    (id,) = offered(book, "One.")
    server = serve()
    said = host.format(port=server.port) if host else host
    row = queue.pending(book)[0]
    for path in ("/", "/enter?token=x", "/state", "/static/page.js"):
        assert server.get(path, Host=said).status in (400, 421)
    fields = {"in": "global", "id": id, "commit": row["commit"]}
    assert server.post("/accept", fields, Host=said).status in (400, 421)
    assert waiting(book) == [id]
    for own in ("localhost", "LOCALHOST", "[::1]"):
        assert server.get("/", Host=f"{own}:{server.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": None}, {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1"}, {"Origin": "https://127.0.0.1:{port}"}, {"Origin": "http://localhost:{port}"},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "evil"},
        {"Cookie": None},
    ],
)  # fmt: skip
def test_another_page_decides_nothing(serve: Any, book: Path, offered: Any, headers: dict[str, str | None]) -> None:
    (id,) = offered(book, "One.")
    server = serve()
    sent = {name: value.format(port=server.port) if value else value for name, value in headers.items()}
    fields = {"in": "global", "id": id, "commit": queue.pending(book)[0]["commit"]}
    for path in WRITE:
        assert server.post(path, fields, **sent).status in (401, 403)
    assert waiting(book) == [id]
    assert server.post("/reject", fields).status == 303 and waiting(book) == []


def test_two_tabs_accept_one_candidate_once(serve: Any, book: Path, offered: Any) -> None:
    one, two = offered(book, "One.", "Two.")
    server = serve()
    commits = {row["id"]: row["commit"] for row in queue.pending(book)}
    went = [server.post("/accept", {"in": "global", "id": one, "commit": commits[one]}) for _ in range(2)]
    texts = [server.follow(answer).text for answer in went]
    assert "Accepted" in texts[0] and "refused" not in texts[0]
    assert "pending as" in texts[1] and 'class="notice refused"' in texts[1]
    assert (book / "AGENTS.md").read_text() == "Lint first.\n\nOne.\n"
    moved = server.post("/accept", {"in": "global", "id": two, "commit": commits[two]})  # restacked since it was shown
    assert "Accepted" in server.follow(moved).text and waiting(book) == []


def test_only_our_own_forms_are_taken(serve: Any, book: Path, offered: Any) -> None:
    (id,) = offered(book, "One.")
    server = serve()
    body = f"in=global&id={id}&commit={queue.pending(book)[0]['commit']}"
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/json", "", None):
        answer = server.ask("POST", "/accept", body, {"Content-Type": kind})
        assert answer.status == 415
    assert server.ask("POST", "/accept", "in=%ff&id=x").status == 400
    assert server.ask("POST", "/accept", "a=b&" * 6000).status == 400
    assert server.ask("POST", "/accept", "reason=" + "x" * (5 << 20)).status == 413
    assert server.ask("POST", "/accept", body.partition("&commit")[0]).status == 400
    assert waiting(book) == [id]


def test_nothing_is_changed_by_reading(serve: Any, book: Path, offered: Any) -> None:
    (id,) = offered(book, "One.")
    server = serve()
    query = f"?in=global&id={id}&commit={queue.pending(book)[0]['commit']}&what=accept"
    for path in WRITE:
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"):
            sent = {} if method in ("GET", "HEAD") else {"Origin": server.origin}
            assert server.ask(method, path + query, headers=sent).status == 405
    for path in READ:
        assert server.post(path, {}).status == 405
    assert waiting(book) == [id]


@pytest.mark.parametrize(
    "path",
    ["/x/../accept", "/./accept", "//accept", "/accept/", "/%61ccept/..", "/static/../accept", "/accept%2f", "/ACCEPT",
     "/static/../site.py", "/static/%2e%2e/site.py", "/static/page.css/", "/static/", "/static/..%2fsite.py"],
)  # fmt: skip
def test_other_spellings_lead_nowhere(serve: Any, book: Path, offered: Any, path: str) -> None:
    (id,) = offered(book, "One.")
    server = serve()
    fields = {"in": "global", "id": id, "commit": queue.pending(book)[0]["commit"]}
    assert server.post(path, fields).status in (404, 405)
    got = server.get(path)
    assert got.status in (404, 405) and "location" not in got.headers and "import" not in got.text
    assert waiting(book) == [id]


def test_it_listens_on_this_machine_alone(serve: Any, book: Path, run: Any) -> None:
    server = serve()
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in {*others, "127.0.0.2"}:
        with pytest.raises(OSError), socket.create_connection((address, server.port), timeout=5):
            pass
    for words, said in [
        (["--host", "0.0.0.0"], "every address"),
        (["--host", "::"], "every address"),
        (["--host", "8.8.8.8"], "--allow-remote"),
        (["--port", "70000"], "0 to 65535"),
        (["--port", str(server.port)], "cannot be listened at"),
        (["--book", "nope"], "No book is called"),
        (["--json"], "opens a page for a person"),
    ]:
        done = run("review", "--no-browser", *words)
        assert done.returncode == 2 and said in done.stderr + done.stdout


def test_a_second_page_takes_another_port(serve: Any, book: Path) -> None:
    ports = [serve("--usual-port").port for _ in range(2)]
    assert ports[0] != ports[1]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_it_ends_at_once_also_while_it_is_asked(serve: Any, book: Path, number: int, code: int) -> None:
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port)) as hanging:
        hanging.sendall(f"POST /accept HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode())
        hanging.sendall(f"Cookie: {server.cookie}\r\nOrigin: {server.origin}\r\n".encode())
        hanging.sendall(b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\nin=global")
        time.sleep(0.3)
        started = time.monotonic()
        assert server.stop(number)[0] == code
    assert time.monotonic() - started < GRACE + MARGIN


NAMES = st.one_of(st.binary(max_size=40), st.sampled_from([b"127.0.0.1:8378", b"localhost:8378", b"[::1]:8378"]))


@settings(deadline=None)
@given(NAMES, st.lists(NAMES, max_size=2), st.binary(max_size=60), st.sampled_from(["GET", "POST", "PUT"]))
def test_nothing_but_our_own_page_passes(host: bytes, origins: list[bytes], cookie: bytes, method: str) -> None:
    keys = Keys()
    guard = Guard(None, keys, LOOPBACK, 8378)  # type: ignore[arg-type]
    own = [(b"host", b"localhost:8378"), (b"cookie", f"lessonbook-8378={keys.secret}".encode())]
    assert guard.refusal("GET", "/", own) is None
    assert guard.refusal("POST", "/", [*own, (b"origin", b"http://localhost:8378")]) is None
    assert guard.refusal("POST", "/", own)
    assert guard.refusal(method, "/", [*own, (b"host", host)])
    if keys.secret.encode() not in cookie:
        assert guard.refusal("GET", "/", [own[0], (b"cookie", cookie)])
    sent = [(b"origin", b"http://" + origin) for origin in origins]
    allowed = [b"http://localhost:8378"] if method != "GET" else None
    passed = guard.refusal(method, "/", [*own, *sent]) is None
    if passed:
        assert [value for _, value in sent] == (allowed or [value for _, value in sent])
        assert len(sent) <= 1 and all(value == b"http://localhost:8378" for _, value in sent)
